"""Everyday words for common relations and kinds, from the table everyday_words.toml."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from kg_store.text.plurals import singular

_TABLE: Final[dict[str, dict[str, Any]]] = tomllib.loads(
    (Path(__file__).parent / "everyday_words.toml").read_text("utf-8")
)
_BACKWARDS: Final = "backwards"
_KINDS: Final = "kinds"
_PLAINER: Final = "plainer"
_VERBAL: Final = 2
"""The number of words at the beginning of a relation that may say it: `admitted to` in `admitted to ward`."""


def _words(parts: Iterable[Mapping[str, str]]) -> dict[str, tuple[str, ...]]:
    said: defaultdict[str, tuple[str, ...]] = defaultdict(tuple)
    for part in parts:
        for names, words in part.items():
            for name in names.split(", "):
                said[name] = tuple(dict.fromkeys((*said[name], *words.split(", "))))
    return dict(said)


_SAID: Final = _words(part for field, part in _TABLE.items() if field not in (_BACKWARDS, _KINDS, _PLAINER))
_SAID_BACKWARDS: Final = _words([_TABLE[_BACKWARDS]])
_SAME: Final = tuple(frozenset(line.split(", ")) for line in _TABLE[_KINDS]["same"].strip().splitlines())

PLAINER: Final[Mapping[str, str]] = _TABLE[_PLAINER]
"""Everyday phrases, separated by commas, with the plainer words that replace them."""


@lru_cache(maxsize=50_000)
def kind_words(noun: str) -> frozenset[str]:
    """Returns `noun` (singular) and other words for the same kind of thing."""
    return frozenset({noun}).union(*(group for group in _SAME if noun in group))


def names_one_of(noun: str, kinds: Iterable[str]) -> bool:
    """True if `noun` names one of `kinds` or its last word: "practice" names "veterinary practice"."""
    names = {name for kind in kinds for name in (kind.lower(), kind.lower().split()[-1])}
    return not kind_words(singular(noun)).isdisjoint(names)


def synonyms_of(relation: str) -> tuple[str, ...]:
    """Returns everyday words for `relation`; empty if none are known."""
    words = relation.lower().removeprefix("has ").removeprefix("is ")
    whole = _SAID.get(words) or _SAID.get(words.removesuffix(" of"))
    if whole or not words:
        return whole or ()
    parts = words.removesuffix(" of").split()
    last = _SAID.get(" ".join(parts[-_VERBAL:])) or _SAID.get(singular(parts[-1]), ())
    front = _SAID.get(" ".join(parts[:_VERBAL]), ()) if len(parts) > _VERBAL else ()
    return tuple(dict.fromkeys((*front, *last)))


def synonyms_backwards(relation: str) -> tuple[str, ...]:
    """Returns everyday words for `relation` walked backwards."""
    return _SAID_BACKWARDS.get(relation.lower(), ())
