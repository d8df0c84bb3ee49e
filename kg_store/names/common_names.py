"""Common nouns that are names of well-known things in a graph: Guitarist, Basketball, Constitutional monarchy."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from typing import Final

import numpy as np

from kg_store.lexicon.place_adjectives import is_short_name, places_called
from kg_store.names.index import NameIndex
from kg_store.names.name_hits import Mention, NameHit, longest_mentions
from kg_store.names.name_markup import COMMON_WORDS
from kg_store.names.namesakes import MIN_RATIO, FactCounts
from kg_store.names.other_forms import find_inflected, is_adjective
from kg_store.text.english import PublicWords, is_ordinary, is_plural
from kg_store.text.inflection import may_be_verb

MIN_BEARERS: Final = 10
"""The least number of facts about a thing that classifies others (a trade, a sport); fewer have, say, films. By hand.
"""

_BEFORE: Final = re.compile(r"(\w+)\s+\Z")
_OF: Final = re.compile(r"\s+of\b")
_BEFORE_PLURALS: Final = frozenset("which what many of by".split())
_BEFORE_SINGULARS: Final = frozenset("a an play plays played playing".split())

Span = tuple[int, int]


def find_common_names(
    index: NameIndex,
    text: str,
    public: PublicWords,
    counts: FactCounts,
    taken: Collection[Span],
    is_concept: Callable[[str], bool],
) -> list[Mention]:
    """Returns everyday nouns in lower case, singular or plural, that are complete names of well-known things and no
    concept of the schema, outside of `taken`. Of several things with one name the best known are taken.
    """
    hits = [hit for hit in (*index.find(text), *find_inflected(index, text)) if hit.linkable and hit.kind == "name"]
    free = (hit for hit in hits if not any(start < hit.end and hit.start < end for start, end in taken))
    found: list[Mention] = []
    for hit in free:
        if _is_noun(text, hit, public, is_concept):
            found += _well_known(hit, hit.mids, counts)
        elif _says_place(index, text, hit):
            found += _well_known(hit, (*hit.mids, *index.places_called(hit.text)), counts)
    return longest_mentions(found, ())


def _is_noun(text: str, hit: NameHit, public: PublicWords, is_concept: Callable[[str], bool]) -> bool:
    typed = text[hit.start : hit.end]
    words = typed.split()
    if not typed.islower() or not all(map(str.isalpha, words)) or _OF.match(text, hit.end):
        return False  # Senators of a state are no senators at large.
    is_own = public.is_own(hit.text) or words[0] in COMMON_WORDS if len(words) > 1 else is_concept(typed)
    if is_own or not _is_kind(text, hit.start, hit.end):
        return False
    return all(word in COMMON_WORDS or is_ordinary(word) for word in words) and typed not in COMMON_WORDS


def _is_kind(text: str, start: int, end: int) -> bool:
    """True of "models" in "which models", of "a play", of "those who play basketball"; false in "who models" and "the
    author".
    """
    typed = text[start:end]
    before = _BEFORE.search(text, 0, start)
    word = before[1].lower() if before else ""
    if is_plural(typed):
        return not word or word in _BEFORE_PLURALS or not may_be_verb(typed)
    return word in _BEFORE_SINGULARS


def _says_place(index: NameIndex, text: str, hit: NameHit) -> bool:
    """True of "were french", "french people", if the graph has a language or a people of that name."""
    is_called_so = bool(places_called(hit.text)) and not is_short_name(hit.text)
    return is_called_so and is_adjective(index, text, hit.start, hit.end)


def _well_known(hit: NameHit, mids: Collection[int], counts: FactCounts) -> Iterator[Mention]:
    named = np.unique(np.array([*mids], dtype=np.int64))
    facts = counts(named)
    most = int(facts.max(initial=0))
    if most >= MIN_BEARERS:
        yield Mention(hit.start, hit.end, tuple(named[facts * MIN_RATIO >= most].tolist()), None)
