"""Made-up data of any size: names of people, and graphs as N-Triples.

Names are built from lists of syllables and everyday names. A graph has named things of eight kinds, numbers and dates,
and facts between them.
"""

from __future__ import annotations

import random
import tomllib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from kg_store.names.index import NameEntry

_TOLD: Final = tomllib.loads(Path(__file__).with_name("made_up.toml").read_text("utf-8"))
_GIVEN, _BEGIN, _END = (_TOLD[part].split() for part in ("given", "begin", "end"))
_BASE: Final = "http://made-up.example/"
_LABEL: Final = "<http://www.w3.org/2000/01/rdf-schema#label>"
_TYPE: Final = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_XSD: Final = "http://www.w3.org/2001/XMLSchema#"
_KINDS, _RELATIONS = _TOLD["kinds"], _TOLD["relations"]
_NAMED_SHARE: Final = 0.12
"""The share of the triples that are labels."""
TREATED: Final = "treated_by"
_RELATIONS_OF_A_KIND: Final = 6


def made_names(count: int, seed: int = 7) -> list[str]:
    """Returns `count` different names of two or three words, some with an initial or a hyphen, drawn by `seed`."""
    dice = random.Random(seed)  # nosec B311  # noqa: S311 - made-up names, no secret
    names: dict[str, None] = {}
    while len(names) < count:
        names[_persons_name(dice)] = None
    return list(names)


def entries_of(names: list[str]) -> Iterator[NameEntry]:
    """Returns an index entry for each name, as a person numbered from 1."""
    return (NameEntry(mid, name, "name", None, True, True) for mid, name in enumerate(names, start=1))


def _persons_name(dice: random.Random) -> str:
    given, family = dice.choice(_GIVEN), _family(dice)
    shape = dice.random()
    if shape < 0.15:
        return f"{given} {dice.choice(_GIVEN)} {family}"
    if shape < 0.25:
        return f"{given} {dice.choice(_BEGIN)[0]}. {family}"
    if shape < 0.30:
        return f"{given} {family}-{_family(dice)}"
    return f"{given} {family}"


def _family(dice: random.Random) -> str:
    return f"{dice.choice(_BEGIN)}{dice.choice(_TOLD['middle'])}{dice.choice(_END)}"


def write_graph(path: Path, triples: int, *, classes: bool, seed: int = 7) -> list[str]:
    """Writes `triples` triples to `path` and returns the names of things that have the relation `treated_by`.

    `classes` adds a type to every thing. The same seed gives the same file.
    """
    chance = random.Random(seed)  # noqa: S311  # a sample, no secret  # nosec B311
    names = [_things_name(chance, at) for at in range(int(triples * _NAMED_SHARE))]
    treated = dict[str, None]()
    with path.open("w", encoding="utf-8") as file:
        for subject, line in islice(_lines(chance, names, classes), triples):
            file.write(line)
            if TREATED in line:
                treated[names[subject]] = None
    return list(treated)


def _lines(chance: random.Random, names: list[str], classes: bool) -> Iterator[tuple[int, str]]:
    for at, name in enumerate(names):
        yield at, f'{_thing(at)} {_LABEL} "{name}" .\n'
        if classes:
            yield at, f"{_thing(at)} {_TYPE} <{_BASE}{_KINDS[at % len(_KINDS)]}> .\n"
    while True:
        subject = chance.randrange(len(names))
        of_kind = subject % len(_KINDS) * 3 + chance.randrange(_RELATIONS_OF_A_KIND)
        relation = _RELATIONS[of_kind % len(_RELATIONS)]
        relation_iri = f"<{_BASE}{relation.replace(' ', '_')}>"
        yield subject, f"{_thing(subject)} {relation_iri} {_object(chance, relation, len(names))} .\n"


def _object(chance: random.Random, relation: str, things: int) -> str:
    if relation in ("salary", "price"):
        return f'"{chance.randrange(1_000, 9_000)}"^^<{_XSD}integer>'
    if relation.endswith(" on"):
        return f'"{chance.randrange(1950, 2020)}-0{chance.randrange(1, 9)}-1{chance.randrange(10)}"^^<{_XSD}date>'
    kind = (_RELATIONS.index(relation) + 1) % len(_KINDS)
    return _thing(chance.randrange(things // len(_KINDS)) * len(_KINDS) + kind)


def _thing(at: int) -> str:
    return f"<{_BASE}{at}>"


def _things_name(chance: random.Random, at: int) -> str:
    words = ("".join(chance.choice(_TOLD["syllables"]) for _ in range(3)).title() for _ in range(2))
    return f"{' '.join(words)} {at}"
