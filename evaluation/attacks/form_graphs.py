"""Graphs and tables for the attack by typed forms of names (`forms.py`).

The names and values of a graph are read from its source file without the loader. A generated graph holds 2,000 people
with names of five languages, notes, contacts, addresses and logins. Some labels are dirty: they hold HTML entities,
escapes or more than the name. Some relations are hidden, masked or named after a person. Twenty generated files look
like tables, with or without a header, of two to four columns.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import entities
from random import Random
from urllib.parse import quote

import pyoxigraph

from evaluation.attacks.words import (
    TOLD,
    capital,
    given_names_of,
    is_in_dictionary,
    plain,
    surnames,
    surnames_of,
)

_NAME = re.compile(r"(label|name|title)$", re.IGNORECASE)
_PART = re.compile(r"(first|last|given|family|sur)_?name$", re.IGNORECASE)
_SCHEMA = re.compile(r"(Class|Property|Ontology)$")
_DATE = re.compile(r"(\d{4}-\d{2}-\d{2})(T.*)?")
_NUMBER = re.compile(r"-?\d{2,9}(\.\d{1,2})?")
_LISTED = frozenset(surnames())


@dataclass(frozen=True, slots=True)
class GraphNames:
    """The secret texts of a graph: names, labels, text values, dates and numbers.

    `names` have two words or more, at least one of which is in no dictionary or is a listed surname.
    """

    graph: str
    names: tuple[str, ...] = field(repr=False)
    labels: tuple[str, ...] = field(repr=False)
    texts: tuple[str, ...] = field(repr=False)
    dates: tuple[str, ...] = field(repr=False)
    numbers: tuple[str, ...] = field(repr=False)

    def some(self, dice: Random, count: int) -> list[str]:
        """Draws at most `count` names."""
        return dice.sample(self.names, min(count, len(self.names)))

    def first_names(self, dice: Random, count: int) -> list[str]:
        """Draws `count` names and returns their first words, without those that are mere dictionary words."""
        return [first for name in self.some(dice, count) if reads_as_name(first := name.split(" ")[0])]

    def last_names(self, dice: Random, count: int) -> list[str]:
        return [last for name in self.some(dice, count) if reads_as_name(last := name.split(" ")[-1])]


def names_in_turtle(graph: str, text: str) -> GraphNames:
    """Reads the secret texts of a graph in Turtle, leaving out the labels of properties and classes."""
    literals: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    schema: set[str] = set()
    for quad in pyoxigraph.parse(text, format=pyoxigraph.RdfFormat.TURTLE, base_iri="http://file.invalid/"):
        subject, predicate = str(quad.subject), quad.predicate.value
        schema.add(str(quad.predicate))
        if isinstance(quad.object, pyoxigraph.Literal):
            literals[subject][predicate].append(quad.object.value)
        elif predicate.endswith("type") and _SCHEMA.search(quad.object.value):
            schema.add(subject)
    nodes = [found for subject, found in literals.items() if subject not in schema]
    labels = [label for node in nodes for label in _labels(node)]
    others = [text for node in nodes for key, texts in node.items() if not _NAME.search(key) for text in texts]
    return _sorted_out(graph, labels, others)


def names_in_triples(graph: str, text: str) -> GraphNames:
    """Reads the secret texts of a tab-separated table of head, relation and tail, with underscores for spaces."""
    lines = [line.split("\t") for line in text.splitlines()]
    cells = [cell.replace("_", " ") for line in lines if len(line) == 3 for cell in (line[0], line[2])]
    return _sorted_out(graph, cells, ())


def _labels(node: dict[str, list[str]]) -> Iterator[str]:
    parts = {predicate: texts[0] for predicate, texts in node.items() if _PART.search(predicate)}
    if len(parts) > 1:
        yield " ".join(parts[key] for key in sorted(parts))
    for predicate, texts in node.items():
        if _NAME.search(predicate) and not _PART.search(predicate):
            yield from texts


def _sorted_out(graph: str, labels: Sequence[str], others: Sequence[str]) -> GraphNames:
    several = {label for label in labels if " " in label and all(sign.isalpha() or sign in " -'’." for sign in label)}
    names = {label for label in several if any(map(reads_as_name, label.split(" ")))}
    return GraphNames(
        graph,
        names=_ordered(names),
        labels=_ordered(label for label in labels if " " in label),
        texts=_ordered(text for text in others if any(map(str.isalpha, text)) and len(text) > 3),
        dates=_ordered(match[1] for text in others if (match := _DATE.fullmatch(text))),
        numbers=_ordered(text.lstrip("-") for text in others if _NUMBER.fullmatch(text)),
    )


def reads_as_name(word: str) -> bool:
    """Returns True if `word` is a listed surname or is in no dictionary."""
    return word.lower() in _LISTED or not is_in_dictionary(plain(word))


def _ordered(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(texts)))


GRAPH = "population"
PEOPLE, ROWS = 2_000, 60
LANGUAGES = ("en", "de", "tr", "vi", "it")
HIDDEN, MASKED, NAMED = "hasGlimdossier", "ailsOfMurglewort", "approvedByDrBrackwede"
NAMED_CLASS = "WardOfTrevelyanHathersage"
_MADE_UP = TOLD["made_up"]
POLICY: str = _MADE_UP["policy"]
_TOWNS, _STREETS, _AGENCIES = _MADE_UP["towns"], _MADE_UP["streets"], _MADE_UP["agencies"]
_ENTITIES = {chr(code): f"&{name};" for name, code in entities.name2codepoint.items() if code > 127} | {"'": "&#39;"}


def people(count: int = PEOPLE) -> dict[str, str]:
    """Returns the labels of `count` people by their clean names, equally many of each language.

    The label of every sixth person holds more than the name (a maiden name, a degree, a number), as real labels do.
    """
    dice = Random(13)  # noqa: S311  # a sample, no secret  # nosec B311
    found: dict[str, str] = {}
    while len(found) < count:
        found.setdefault(*_person(LANGUAGES[len(found) % len(LANGUAGES)], len(found), dice))
    return found


def _person(language: str, position: int, dice: Random) -> tuple[str, str]:
    given = [capital(dice.choice(given_names_of(language))) for _ in range(2)]
    last = [capital(dice.choice(surnames_of(language))) for _ in range(2)]
    clean = f"{last[0]} {given[0]}" if language == "vi" else f"{given[0]} {last[0]}"
    if position % 6:
        return clean, clean
    name, number = f"{given[0]} {given[1]} {last[0]}", dice.randrange(100_000)
    # The first letter becomes an HTML entity too, because names in plain ASCII would stay clean otherwise.
    written = f"&#{ord(name[0])};" + "".join(_ENTITIES.get(sign, sign) for sign in name[1:])
    texts = {"name": name, "maiden": last[1], "entities": written, "percent": quote(name)}
    texts |= {"escaped": written.replace("&", "&amp;"), "degree": ("MD", "PhD", "RN")[number % 3]}
    numbers = {"year": 1921 + number % 88, "code": number % 997, "number": 10_000 + number % 90_000}
    labels: list[str] = _MADE_UP["labels"]
    return name, labels[position // 6 % len(labels)].format(**texts, **numbers)


def turtle(count: int = PEOPLE) -> str:
    """Returns the generated graph of `count` people in Turtle."""
    dice = Random(17)  # noqa: S311  # a sample, no secret  # nosec B311
    towns = [f':town{number} a :Town ; rdfs:label "{town}" .' for number, town in enumerate(_TOWNS)]
    facts = [_facts(position, *person, count, dice) for position, person in enumerate(people(count).items())]
    return "\n".join((_MADE_UP["prefixes"], f':{MASKED} rdfs:label "ails of murglewort ague" .', *towns, *facts))


def _facts(position: int, clean: str, label: str, count: int, dice: Random) -> str:
    born = f"{dice.randrange(1921, 2009)}-{dice.randrange(1, 13):02}-{dice.randrange(1, 29):02}"
    lines = [
        f":p{position} a :Person ; rdfs:label {_quoted(label)}",
        f":livesIn :town{position % len(_TOWNS)}",
        f":knows :p{(position * 7 + 3) % count}",
        f':dateOfBirth "{born}"^^xsd:date',
        f":balance {dice.randrange(1_000, 90_000)}",
        *(f":{relation} {_quoted(text)}" for relation, text in _texts(position, clean, dice)),
    ]
    if position % 9 == 0:
        lines.append(f":{HIDDEN} :p{(position + 5) % count}")
        lines.append(f":{MASKED} :p{(position + 11) % count}")
        lines.append(f":{NAMED} :p{(position + 2) % count} ; a :{NAMED_CLASS}")
    return " ;\n    ".join(lines) + " ."


def _texts(position: int, clean: str, dice: Random) -> Iterator[tuple[str, str]]:
    other = capital(dice.choice([name for language in ("es", "pl", "fr", "cs") for name in surnames_of(language)]))
    street = dice.choice(_STREETS)
    yield "emergencyContact", f"{dice.choice(('brother', 'sister', 'neighbour'))} {other[0]}. {other}"
    yield "address", f"{street} {dice.randrange(1, 99)}, {dice.choice(_TOWNS)}"
    if position % 3 == 0:
        first, *_, last = ("".join(filter(str.isalnum, word)) for word in clean.lower().split(" "))
        yield "login", f"{first}.{last}@clinic.example"
    if position % 4 == 0:
        yield "note", f"called {dice.choice(_AGENCIES)} about the bill, then spoke to {other} on the phone"
    if position % 5 == 0:
        yield "confidentialNote", f"owes money to {other} of {dice.choice(_AGENCIES)} & sons"
    if position % 8 == 0:
        yield "patientName", f"{capital(dice.choice(given_names_of('pl')))} {capital(dice.choice(surnames_of('pl')))}"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


@dataclass(frozen=True, slots=True)
class TableFile:
    """A generated file with the cells that must not be shown.

    `policy` declares the file as a table with its first column as the key; None if no policy is given.
    """

    name: str
    content: str = field(repr=False)
    cells: frozenset[str] = field(repr=False)
    policy: str | None = None


def table_files() -> list[TableFile]:
    """Returns generated files with the same made-up columns, one for each way to write a table.

    Files with a header come a second time, with a policy that declares the table and its key.
    """
    columns = _columns(Random(29))  # noqa: S311  # a sample, no secret  # nosec B311
    ways: list[dict[str, str]] = _MADE_UP["tables"]
    files = [_file(number, columns, **way) for number, way in enumerate(ways)]
    with_header = [file for file, way in zip(files, ways, strict=True) if "header" in way and "before" not in way]
    return [*files, *map(_declared, with_header)]


def _columns(dice: Random) -> Mapping[str, Sequence[str]]:
    given, last, doctors = given_names_of("de"), surnames_of("de"), surnames_of("en")[20:25]
    rows = range(ROWS)
    return {
        "name": [f"{dice.choice(given)} {dice.choice(last)} {number + 100}".title() for number in rows],
        "ailment": [dice.choice(_MADE_UP["ailments"]) for _ in rows],
        "town": [dice.choice(_MADE_UP["villages"]).title() for _ in rows],
        "insurer": [dice.choice(_MADE_UP["insurers"]) for _ in rows],
        "doctor": [f"Dr {dice.choice(doctors).title()}" for _ in rows],
        "age": [str(dice.randrange(31, 98)) for _ in rows],
        "amount": [f"{dice.randrange(1_000, 9_999)}.{dice.randrange(10, 99)}" for _ in rows],
        "date": [f"{dice.randrange(1951, 2019)}-0{dice.randrange(1, 9)}-{dice.randrange(10, 28)}" for _ in rows],
        "phone": [f"+49 30 {dice.randrange(100_000, 999_999)}" for _ in rows],
    }


def _file(
    number: int,
    every: Mapping[str, Sequence[str]],
    columns: str,
    header: str = "",
    separator: str = ",",
    ending: str = "csv",
    before: str = "",
    quote: str = "",
) -> TableFile:
    rows = list(zip(*(every[name] for name in columns.split()), strict=True))
    lines = [separator.join(f"{quote}{cell}{quote}" for cell in row) for row in rows]
    content = before + "\n".join([*([header] if header else []), *lines, ""])
    return TableFile(f"table-{number}.{ending}", content, frozenset(cell for row in rows for cell in row))


def _declared(file: TableFile) -> TableFile:
    """Returns the file, which must have a header, with a policy that declares its first column as the key."""
    key = re.split(r"[,;|\t]", file.content.lstrip("\ufeff"))[0].strip(' "')
    policy = f'[[tables]]\nfile = "{file.name}"\nkey = "{key}"\nconcept = "case"\nnames = ["{key}"]\n'
    return replace(file, policy=policy)
