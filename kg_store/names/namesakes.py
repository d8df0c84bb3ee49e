"""Well-known things that a mention may mean beside what is called just so: Kennedy, after whom a book is called."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt

from kg_store.lexicon.place_adjectives import is_short_name
from kg_store.names.index import NameIndex
from kg_store.names.name_hits import Mention
from kg_store.terms import Mids

FactCounts = Callable[[Mids], npt.NDArray[np.int64]]
"""Counts the facts that the graph holds about each of the things; 0 for what it does not hold."""

MIN_FACTS: Final = 20
"""About a thing that is known well; of fewer, none of its namesakes is known better."""

MIN_RATIO: Final = 10
"""So many times as much is known about the namesake as about what is called so."""

MIN_LEAD: Final = 2
"""So many times as much as about the next one: where several are known alike, no one of them is meant."""

_OF_LANGUAGES: Final = re.compile(r"\b(?:in|into|speaks?|spoke|speaking)\s\Z", re.IGNORECASE)
"""Behind these words an adjective is a language: in Norwegian."""

_ARTICLE: Final = re.compile(r"\A(?:the|an?)\s+")

Span = tuple[int, int]


def no_facts(mids: Mids) -> npt.NDArray[np.int64]:
    """Of names without a graph: nothing is known better than anything else."""
    return np.zeros(len(mids), dtype=np.int64)


def well_known(mids: Sequence[int], others: Sequence[int], counts: FactCounts) -> list[int]:
    """The one of `mids` that is known far better than the next, and than any of `others`."""
    return _best_known(np.array(mids, dtype=np.int64), counts, MIN_RATIO * _most(others, counts))


def with_namesakes(
    index: NameIndex, text: str, mentions: Sequence[Mention], fixed: Collection[Span], counts: FactCounts
) -> list[Mention]:
    """`mentions`, each with the one thing that is by far known best among those with a longer name that begins or
    ends so, and the same of the places that are called so in short or by an adjective. None is added in `fixed`, nor
    beside another name, which is a part of the same then.
    """
    names = [each for each in mentions if each.value_kind is None]
    return [
        _with_namesake(index, text, each, counts)
        if each in names and (each.start, each.end) not in fixed and not _is_beside_name(index, text, each, names)
        else each
        for each in mentions
    ]


def _with_namesake(index: NameIndex, text: str, mention: Mention, counts: FactCounts) -> Mention:
    typed = text[mention.start : mention.end]
    if not any(map(str.isalpha, typed)):
        return mention
    known = _most(mention.mids, counts)
    places = index.places_called(typed)
    if not len(places):
        others = (index.longer_names(typed), _without_article(index, typed))
        better = [_best_known(np.setdiff1d(each, mention.mids), counts, MIN_RATIO * known) for each in others]
        return _and(mention, [mid for each in better for mid in each])
    if is_short_name(typed):
        return _and(mention, _best_known(np.setdiff1d(places, mention.mids), counts, MIN_RATIO * known))
    is_language = _OF_LANGUAGES.search(text[: mention.start]) is not None
    more = [] if is_language else _best_known(np.setdiff1d(places, mention.mids), counts, MIN_RATIO * known)
    languages = np.array(index.named(f"{typed} language"), dtype=np.int64)
    return _and(mention, [*more, *(languages.tolist() if _most(languages.tolist(), counts) > known else ())])


def _without_article(index: NameIndex, typed: str) -> Mids:
    """Play the guitar, where a film is called so."""
    rest = _ARTICLE.sub("", typed) if typed.islower() else typed
    return np.array(index.named(rest) if rest != typed else (), dtype=np.int64)


def _and(mention: Mention, more: Sequence[int]) -> Mention:
    return replace(mention, mids=tuple(sorted({*mention.mids, *more}))) if more else mention


def _most(mids: Sequence[int], counts: FactCounts) -> int:
    return int(counts(np.array(mids, dtype=np.int64)).max(initial=0))


def _best_known(mids: Mids, counts: FactCounts, least: int) -> list[int]:
    """The one of `mids` that is known best, if there are `least` facts about it, and far more than about the next."""
    if not len(mids):
        return []
    facts = counts(mids)
    best = int(facts.argmax())
    least = max(MIN_FACTS, least, MIN_LEAD * int(np.delete(facts, best).max(initial=0)))
    return [int(mids[best])] if facts[best] >= least else []


def _is_beside_name(index: NameIndex, text: str, mention: Mention, names: Sequence[Mention]) -> bool:
    before, behind = text[: mention.start], text[mention.end :]
    if any(_is_gap(text[each.end : mention.start]) or _is_gap(text[mention.end : each.start]) for each in names):
        return True
    words = (*before.split(" ")[-2:-1], *behind.split(" ")[1:2])
    return any(word.isalpha() and index.looks_like_name(word) for word in words)


def _is_gap(between: str) -> bool:
    return bool(between) and not between.strip(" -")
