"""Made up for forms: a graph of 2,000 people and what a clinic writes down of them, and files that are tables.

People have names of five languages, notes, emergency contacts, addresses, logins, dirty labels, and relations that are
hidden, masked, or hold a name. Twenty files are tables, or might be: with headers and without, of two to four columns,
in odd orders.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import entities
from random import Random
from urllib.parse import quote

from evaluation.attacks.forms.corpus.words import capital, given_names_of, surnames_of

GRAPH = "population"
PEOPLE, ROWS = 2_000, 60
LANGUAGES = ("en", "de", "tr", "vi", "it")
HIDDEN, MASKED, NAMED = "hasGlimdossier", "ailsOfMurglewort", "approvedByDrBrackwede"
NAMED_CLASS = "WardOfTrevelyanHathersage"
_BASE = "http://population.invalid/"
_PREFIXES = f"""
@prefix : <{_BASE}> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
POLICY = f"""
[relations."{_BASE}{HIDDEN}"]
hide = true

[relations."{_BASE}confidentialNote"]
hide = true

[relations."{_BASE}{MASKED}"]
mask = true
description = "what illness somebody has"
"""


def _listed(words: str) -> list[str]:
    return [word.replace("_", " ") for word in words.split()]


_STREETS = _listed(
    "Gerbermühlgasse Old_Foundry_Lane Via_Tosinghi Karanfil_Sokağı Phố_Hàng_Buồm Schillerplatz Wexcombe_Rise"
)
_TOWNS = _listed("Wennigsroda Upper_Thripley Castelfranchetto Güzelkent Vĩnh_Hảo Dunmoregate Oberlinxweiler")
_DEGREES = ("MD", "PhD", "RN")
_AGENCIES = "Tiefenbrunner Ostrowicka Villamediana Chateauvert Halversgate".split()
# What people put into labels.
_LABELS = (
    "{name} ({year})", "Dr. med. {name}", "{name} geb. {maiden}", "{name} {maiden}", "{name}, {degree} [{code}]",
    "{name} #{number}", "{entities}", "{percent}", "{escaped}", "<b>{name}</b>",
)  # fmt: skip
_ENTITIES = {chr(code): f"&{name};" for name, code in entities.name2codepoint.items() if code > 127} | {"'": "&#39;"}


@dataclass(frozen=True, slots=True)
class Person:
    """`label` as the graph has it, with what people put into labels; `clean` without that."""

    clean: str = field(repr=False)
    label: str = field(repr=False)
    language: str


def people(count: int = PEOPLE) -> list[Person]:
    """`count` people, as many of each language; every sixth has a label with more than a name in it."""
    dice = Random(13)  # noqa: S311  # a sample, no secret  # nosec B311
    found: dict[str, Person] = {}
    while len(found) < count:
        person = _person(LANGUAGES[len(found) % len(LANGUAGES)], len(found), dice)
        found.setdefault(person.clean, person)
    return list(found.values())


def _person(language: str, position: int, dice: Random) -> Person:
    given = [capital(dice.choice(given_names_of(language))) for _ in range(2)]
    last = [capital(dice.choice(surnames_of(language))) for _ in range(2)]
    clean = f"{last[0]} {given[0]}" if language == "vi" else f"{given[0]} {last[0]}"
    if position % 6:
        return Person(clean, clean, language)
    name, number = f"{given[0]} {given[1]} {last[0]}", dice.randrange(100_000)
    # The first letter is an entity too, or English names would be clean.
    written = f"&#{ord(name[0])};" + "".join(_ENTITIES.get(sign, sign) for sign in name[1:])
    label = _LABELS[position // 6 % len(_LABELS)].format(
        name=name, maiden=last[1], year=1921 + number % 88, degree=_DEGREES[number % 3], code=number % 997,
        number=10_000 + number % 90_000, entities=written, percent=quote(name), escaped=written.replace("&", "&amp;"),
    )  # fmt: skip
    return Person(name, label, language)


def turtle(count: int = PEOPLE) -> str:
    """The graph."""
    dice = Random(17)  # noqa: S311  # a sample, no secret  # nosec B311
    everybody = people(count)
    towns = [f':town{number} a :Town ; rdfs:label "{town}" .' for number, town in enumerate(_TOWNS)]
    facts = [_facts(position, person, count, dice) for position, person in enumerate(everybody)]
    return "\n".join((_PREFIXES, f':{MASKED} rdfs:label "ails of murglewort ague" .', *towns, *facts))


def _facts(position: int, person: Person, count: int, dice: Random) -> str:
    born = f"{dice.randrange(1921, 2009)}-{dice.randrange(1, 13):02}-{dice.randrange(1, 29):02}"
    lines = [
        f":p{position} a :Person ; rdfs:label {_quoted(person.label)}",
        f":livesIn :town{position % len(_TOWNS)}",
        f":knows :p{(position * 7 + 3) % count}",
        f':dateOfBirth "{born}"^^xsd:date',
        f":balance {dice.randrange(1_000, 90_000)}",
        *(f":{relation} {_quoted(text)}" for relation, text in _texts(position, person, dice)),
    ]
    if position % 9 == 0:
        lines.append(f":{HIDDEN} :p{(position + 5) % count}")
        lines.append(f":{MASKED} :p{(position + 11) % count}")
        lines.append(f":{NAMED} :p{(position + 2) % count} ; a :{NAMED_CLASS}")
    return " ;\n    ".join(lines) + " ."


def _texts(position: int, person: Person, dice: Random) -> Iterator[tuple[str, str]]:
    other = capital(dice.choice([name for language in ("es", "pl", "fr", "cs") for name in surnames_of(language)]))
    street = dice.choice(_STREETS)
    yield "emergencyContact", f"{dice.choice(('brother', 'sister', 'neighbour'))} {other[0]}. {other}"
    yield "address", f"{street} {dice.randrange(1, 99)}, {dice.choice(_TOWNS)}"
    if position % 3 == 0:
        first, *_, last = ("".join(filter(str.isalnum, word)) for word in person.clean.lower().split(" "))
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
    """One file, and what of it may not be shown; `policy` where its owner says that it is a table, with its first
    column as the key."""

    name: str
    content: str = field(repr=False)
    cells: frozenset[str] = field(repr=False)
    policy: str | None = None


_AILMENTS = _listed("""porphyria sarcoidosis narcolepsy brucellosis psoriasis_guttata leptospirosis achalasia
cystinuria amyloidosis vitiligo syringomyelia pemphigus""")
_VILLAGES = "wennigsroda thripley castelfranchetto guzelkent dunmoregate oberlinxweiler halversgate".split()
_INSURERS = _listed("tiefenbrunner_kasse ostrowicka_mutual villamediana_salud")


@dataclass(frozen=True, slots=True)
class _Way:
    """One way to write columns."""

    columns: str
    header: str = ""
    separator: str = ","
    ending: str = "csv"
    before: str = ""
    quote: str = ""


_WAYS: Sequence[_Way] = (
    _Way("name ailment town", "patient,diagnosis,city"),
    _Way("name age town", "name,age,city"),
    _Way("name ailment town", "patient\tdiagnosis\tcity", "\t", "tsv"),
    _Way("name age town", "name;age;city", ";"),
    _Way("name ailment town", '"patient","diagnosis","city"', quote='"'),
    _Way("name ailment town"),
    _Way("ailment name town"),
    _Way("name ailment town", "patient|diagnosis|city", "|", "txt"),
    _Way("name ailment town", "patient,diagnosis,city", before="\ufeff"),
    _Way("date amount name", "date,amount,account holder"),
    _Way("name ailment town age", "patient,diagnosis,city,age"),
    _Way("name ailment", "patient,diagnosis"),
    _Way("name age town"),
    _Way("name town ailment"),
    _Way("name doctor ailment", "patient,treated by,diagnosis"),
    _Way("name doctor ailment"),
    _Way("name insurer town"),
    _Way("name phone town", "", "\t", "tsv"),
    _Way("name ailment town", "PATIENT , DIAGNOSIS , CITY"),
    _Way("ailment name doctor", "", "\t", "txt"),
    _Way("name date ailment", "patient,admitted on,diagnosis", before="# export\n"),
)


def table_files() -> list[TableFile]:
    """Every way to write the columns in `_WAYS`; those with a header once more as their owner says that they are."""
    columns = _columns(Random(29))  # noqa: S311  # a sample, no secret  # nosec B311
    files = [_file(number, way, columns) for number, way in enumerate(_WAYS)]
    return [
        *files,
        *(_declared(file) for file, way in zip(files, _WAYS, strict=True) if way.header and not way.before),
    ]


def _columns(dice: Random) -> Mapping[str, Sequence[str]]:
    given, last, doctors = given_names_of("de"), surnames_of("de"), surnames_of("en")[20:25]
    rows = range(ROWS)
    return {
        "name": [f"{dice.choice(given)} {dice.choice(last)} {number + 100}".title() for number in rows],
        "ailment": [dice.choice(_AILMENTS) for _ in rows],
        "town": [dice.choice(_VILLAGES).title() for _ in rows],
        "insurer": [dice.choice(_INSURERS) for _ in rows],
        "doctor": [f"Dr {dice.choice(doctors).title()}" for _ in rows],
        "age": [str(dice.randrange(31, 98)) for _ in rows],
        "amount": [f"{dice.randrange(1_000, 9_999)}.{dice.randrange(10, 99)}" for _ in rows],
        "date": [f"{dice.randrange(1951, 2019)}-0{dice.randrange(1, 9)}-{dice.randrange(10, 28)}" for _ in rows],
        "phone": [f"+49 30 {dice.randrange(100_000, 999_999)}" for _ in rows],
    }


def _file(number: int, way: _Way, columns: Mapping[str, Sequence[str]]) -> TableFile:
    rows = list(zip(*(columns[name] for name in way.columns.split()), strict=True))
    lines = [way.separator.join(f"{way.quote}{cell}{way.quote}" for cell in row) for row in rows]
    content = way.before + "\n".join([*([way.header] if way.header else []), *lines, ""])
    return TableFile(f"table-{number}.{way.ending}", content, frozenset(cell for row in rows for cell in row))


def _declared(file: TableFile) -> TableFile:
    """The same file with a policy that says what its first column is. For files with a header."""
    key = re.split(r"[,;|\t]", file.content.lstrip("\ufeff"))[0].strip(' "')
    policy = f'[[tables]]\nfile = "{file.name}"\nkey = "{key}"\nconcept = "case"\nnames = ["{key}"]\n'
    return replace(file, policy=policy)
