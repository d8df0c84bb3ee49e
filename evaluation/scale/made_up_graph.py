"""A made-up graph of any size as N-Triples: named things of eight kinds, numbers and dates, and facts between them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

_BASE: Final = "http://made-up.example/"
_LABEL: Final = "<http://www.w3.org/2000/01/rdf-schema#label>"
_TYPE: Final = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_XSD: Final = "http://www.w3.org/2001/XMLSchema#"
_KINDS: Final = ("Patient", "Doctor", "Ward", "City", "Company", "Drug", "Course", "Film")
_RELATIONS: Final = (
    "treated by", "lives in", "works for", "born on", "admitted to", "member of", "supplied by", "located in",
    "has diagnosis", "owner of", "married to", "parent of", "reports to", "salary", "opened on", "attends", "teaches",
    "wrote", "directed by", "capital of", "part of", "price", "founded by", "sold to", "manages",
)  # fmt: skip
_SYLLABLES: Final = ("ka", "lo", "mir", "ven", "tas", "qui", "dor", "bel", "zan", "pho", "rux", "ime")
NAMED_SHARE: Final = 0.12
"""Of the triples, how many are labels."""
TREATED: Final = "treated_by"
RELATIONS_OF_A_KIND: Final = 6


def write_graph(path: Path, triples: int, *, classes: bool, seed: int = 7) -> list[str]:
    """Writes `triples` triples to `path`; gives the names of the things that are treated by one. The same seed gives
    the same file."""
    chance = random.Random(seed)  # noqa: S311  # a sample, no secret  # nosec B311
    names = [_name(chance, at) for at in range(int(triples * NAMED_SHARE))]
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
        of_kind = subject % len(_KINDS) * 3 + chance.randrange(RELATIONS_OF_A_KIND)
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


def _name(chance: random.Random, at: int) -> str:
    words = ("".join(chance.choice(_SYLLABLES) for _ in range(3)).title() for _ in range(2))
    return f"{' '.join(words)} {at}"
