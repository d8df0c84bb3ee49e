"""Identifiers in place of names: typed and numbered as LLM-KAT has them (Person1), or pseudonyms with a concept."""

from __future__ import annotations

import random
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Final, Literal

from app.privacy.pseudonym_format import is_shaped
from evaluation.dialogue.opendialkg import Triple
from kg_store.terms import ALPHABET, TAIL_LENGTH

IdentifierKind = Literal["typed", "pseudonym"]
UNKNOWN_TYPE: Final = "Thing"
_VAGUE: Final = frozenset({"", "Work"})


def types_of(triples: Iterable[Triple]) -> dict[str, str]:
    """The kind of each end, as most of the relations around it tell it; UNKNOWN_TYPE where none does."""
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for head, relation, tail in triples:
        of_head, of_tail = _ends().get(relation, ("", ""))
        votes[head][of_head] += 1
        votes[tail][of_tail] += 1
    return {name: _winner(count) for name, count in votes.items()}


def typed_identifiers(names: Sequence[str], types: dict[str, str]) -> dict[str, str]:
    """Person1, Person2, Film1, in the order of the names."""
    counts: Counter[str] = Counter()
    found = {}
    for name in names:
        kind = types.get(name, UNKNOWN_TYPE)
        counts[kind] += 1
        found[name] = f"{kind}{counts[kind]}"
    return found


def pseudonyms(names: Sequence[str], seed: str) -> dict[str, str]:
    """Words in the form of the service's pseudonyms, drawn by `seed`: for public data, which hides nothing."""
    draw = random.Random(seed)  # noqa: S311  # a measure that can be repeated, no secret  # nosec B311
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        word = ""
        while not is_shaped(word) or word in taken:
            word = "E" + "".join(draw.choices(ALPHABET, k=TAIL_LENGTH))
        taken.add(word)
        found[name] = word
    return found


def _winner(votes: Counter[str]) -> str:
    """The commonest kind; a narrower one goes before "Work"."""
    narrow = [kind for kind, _ in sorted(votes.items(), key=lambda each: (-each[1], each[0])) if kind not in _VAGUE]
    return narrow[0] if narrow else "Work" if votes["Work"] else UNKNOWN_TYPE


@cache
def _ends() -> dict[str, tuple[str, str]]:
    table = tomllib.loads(Path(__file__).with_name("entity_types.toml").read_text("utf-8"))["ends"]
    return {relation: (head, tail) for relation, (head, tail) in table.items()}
