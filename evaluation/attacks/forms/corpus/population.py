"""A made-up graph of 2,000 people with names of five languages, and what a clinic writes down about them.

Notes, emergency contacts, addresses, logins, dirty labels, and relations that are hidden, masked, or hold a name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from html import entities
from random import Random
from urllib.parse import quote

from evaluation.attacks.forms.corpus.people import given_names_of, surnames_of

GRAPH = "population"
PEOPLE = 2_000
LANGUAGES = ("en", "de", "tr", "vi", "it")
_BASE = "http://population.invalid/"
_PREFIXES = f"""
@prefix : <{_BASE}> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
HIDDEN, MASKED, NAMED = "hasGlimdossier", "ailsOfMurglewort", "approvedByDrBrackwede"
NAMED_CLASS = "WardOfTrevelyanHathersage"
POLICY = f"""
[relations."{_BASE}{HIDDEN}"]
hide = true

[relations."{_BASE}confidentialNote"]
hide = true

[relations."{_BASE}{MASKED}"]
mask = true
description = "what illness somebody has"
"""
_STREETS = "Gerbermühlgasse Old_Foundry_Lane Via_Tosinghi Karanfil_Sokağı Phố_Hàng_Buồm Schillerplatz Wexcombe_Rise"
_TOWNS = "Wennigsroda Upper_Thripley Castelfranchetto Güzelkent Vĩnh_Hảo Dunmoregate Oberlinxweiler"
_DEGREES = ("MD", "PhD", "RN")
_AGENCIES = "Tiefenbrunner Ostrowicka Villamediana Chateauvert Halversgate".split()


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
        language = LANGUAGES[len(found) % len(LANGUAGES)]
        person = _person(language, len(found), dice)
        found.setdefault(person.clean, person)
    return list(found.values())


def _person(language: str, position: int, dice: Random) -> Person:
    given = [_capital(dice.choice(given_names_of(language))) for _ in range(2)]
    last = [_capital(dice.choice(surnames_of(language))) for _ in range(2)]
    clean = f"{last[0]} {given[0]}" if language == "vi" else f"{given[0]} {last[0]}"
    if position % 6:
        return Person(clean, clean, language)
    write = _LABELS[position // 6 % len(_LABELS)]
    whole = f"{given[0]} {given[1]} {last[0]}"
    return Person(whole, write(whole, last[1], dice.randrange(100_000)), language)


def _capital(name: str) -> str:
    return " ".join(word[:1].upper() + word[1:] for word in name.split(" "))


def _born(dice: Random) -> int:
    return dice.randrange(1921, 2009)


_LABELS: Sequence[Callable[[str, str, int], str]] = (
    lambda name, _maiden, number: f"{name} ({1921 + number % 88})",
    lambda name, _maiden, _number: f"Dr. med. {name}",
    lambda name, maiden, _number: f"{name} geb. {maiden}",
    lambda name, maiden, _number: f"{name} {maiden}",
    lambda name, _maiden, number: f"{name}, {_DEGREES[number % 3]} [{number % 997}]",
    lambda name, _maiden, number: f"{name} #{10_000 + number % 90_000}",
    lambda name, _maiden, _number: _entities(name),
    lambda name, _maiden, _number: quote(name),
    lambda name, _maiden, _number: _entities(name).replace("&", "&amp;"),
    lambda name, _maiden, _number: f"<b>{name}</b>",
)


def _entities(text: str) -> str:
    """Accents and apostrophes as HTML writes them; the first letter too, or English names would be clean."""
    named = {chr(code): f"&{name};" for name, code in entities.name2codepoint.items() if code > 127}
    return f"&#{ord(text[0])};" + "".join(named.get(sign, "&#39;" if sign == "'" else sign) for sign in text[1:])


def turtle(count: int = PEOPLE) -> str:
    """The graph."""
    dice = Random(17)  # noqa: S311  # a sample, no secret  # nosec B311
    everybody = people(count)
    return "\n".join(
        (_PREFIXES, *_schema(), *(_facts(at, each, everybody, dice) for at, each in enumerate(everybody)))
    )


def _schema() -> Iterator[str]:
    yield f':{MASKED} rdfs:label "ails of murglewort ague" .'
    for number, town in enumerate(_TOWNS.split()):
        yield f':town{number} a :Town ; rdfs:label "{town.replace("_", " ")}" .'


def _facts(position: int, person: Person, everybody: Sequence[Person], dice: Random) -> str:
    lines = [f":p{position} a :Person ; rdfs:label {_quoted(person.label)}"]
    lines.append(f":livesIn :town{position % len(_TOWNS.split())}")
    lines.append(f":knows :p{(position * 7 + 3) % len(everybody)}")
    lines.append(f':dateOfBirth "{_born(dice)}-{dice.randrange(1, 13):02}-{dice.randrange(1, 29):02}"^^xsd:date')
    lines.append(f":balance {dice.randrange(1_000, 90_000)}")
    lines += [f"{relation} {_quoted(text)}" for relation, text in _texts(position, person, dice)]
    if position % 9 == 0:
        lines.append(f":{HIDDEN} :p{(position + 5) % len(everybody)}")
        lines.append(f":{MASKED} :p{(position + 11) % len(everybody)}")
        lines.append(f":{NAMED} :p{(position + 2) % len(everybody)} ; a :{NAMED_CLASS}")
    return " ;\n    ".join(lines) + " ."


def _texts(position: int, person: Person, dice: Random) -> Iterator[tuple[str, str]]:
    other = _capital(dice.choice((*surnames_of("es"), *surnames_of("pl"), *surnames_of("fr"), *surnames_of("cs"))))
    words = person.clean.lower().split(" ")
    street = dice.choice(_STREETS.split()).replace("_", " ")
    yield ":emergencyContact", f"{dice.choice(('brother', 'sister', 'neighbour'))} {other[0]}. {other}"
    yield ":address", f"{street} {dice.randrange(1, 99)}, {dice.choice(_TOWNS.split()).replace('_', ' ')}"
    if position % 3 == 0:
        yield (
            ":login",
            f"{''.join(filter(str.isalnum, words[0]))}.{''.join(filter(str.isalnum, words[-1]))}@clinic.example",
        )
    if position % 4 == 0:
        yield ":note", f"called {dice.choice(_AGENCIES)} about the bill, then spoke to {other} on the phone"
    if position % 5 == 0:
        yield ":confidentialNote", f"owes money to {other} of {dice.choice(_AGENCIES)} & sons"
    if position % 8 == 0:
        yield (
            ":patientName",
            f"{_capital(dice.choice(given_names_of('pl')))} {_capital(dice.choice(surnames_of('pl')))}",
        )


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
