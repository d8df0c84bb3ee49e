"""Finds well-known things that a mention may mean although something else has exactly that name: Kennedy, and a book
so called.
"""

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
"""Counts the facts that the graph holds about each thing; 0 for unknown things."""

MIN_FACTS: Final = 20
"""A thing needs this many facts to count as well known. Chosen by hand."""

MIN_RATIO: Final = 10
"""A namesake must have this many times as many facts as the thing with exactly that name. Chosen by hand."""

MIN_LEAD: Final = 2
"""A namesake must have this many times as many facts as the next one. Chosen by hand."""

_OF_LANGUAGES: Final = re.compile(r"\b(?:in|into|speaks?|spoke|speaking)\s\Z", re.IGNORECASE)
"""Words after which an adjective means a language: "in Norwegian"."""

_ARTICLE: Final = re.compile(r"\A(?:the|an?)\s+")

Span = tuple[int, int]


def no_facts(mids: Mids) -> npt.NDArray[np.int64]:
    """Returns 0 for each thing: for names without a graph."""
    return np.zeros(len(mids), dtype=np.int64)


def well_known(mids: Sequence[int], others: Sequence[int], counts: FactCounts) -> list[int]:
    """Returns the one of `mids` that is far better known than the next and than any of `others`; else empty."""
    return _best_known(np.array(mids, dtype=np.int64), counts, MIN_RATIO * _most(others, counts))


def with_namesakes(
    index: NameIndex, text: str, mentions: Sequence[Mention], fixed: Collection[Span], counts: FactCounts
) -> list[Mention]:
    """Returns `mentions` with well-known namesakes added.

    For each, this is the thing that is by far best known among those with a longer name that begins or ends so, and
    among places with such a short name or adjective. None is added in `fixed`, or beside another name, which then is
    part of it.
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
    """Things with the name without its article: "the guitar", if something is called Guitar."""
    rest = _ARTICLE.sub("", typed) if typed.islower() else typed
    return np.array(index.named(rest) if rest != typed else (), dtype=np.int64)


def _and(mention: Mention, more: Sequence[int]) -> Mention:
    return replace(mention, mids=tuple(sorted({*mention.mids, *more}))) if more else mention


def _most(mids: Sequence[int], counts: FactCounts) -> int:
    return int(counts(np.array(mids, dtype=np.int64)).max(initial=0))


def _best_known(mids: Mids, counts: FactCounts, least: int) -> list[int]:
    """The best known of `mids`, if it has `least` facts and far more than the next; else empty."""
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
