"""Chooses among the inexact readings of a text: exact names first, then the longest, and no part of a
stranger's name.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from kg_store.names.fuzzy_index import InexactHit, IsName
from kg_store.names.name_table import SMALL_WORDS
from kg_store.text.english import may_be_proper
from kg_store.text.normalise import is_letters, normalise
from kg_store.text.word_matcher import words_of

MIN_SCORE = 0.5
"""The least score of a mention; below it are single words of a long title, which are protected but not linked. By
hand.
"""

NOTHING_MISSING = 0.98
"""From this score on all necessary words of the name are there, in order and without slips. Chosen by hand."""

_A_FEW = 3

Span = tuple[int, int]

IsKnownBetter = Callable[[InexactHit], bool]


def choose_inexact(
    text: str,
    exact: Sequence[Span],
    fixed: Collection[Span],
    hits: Iterable[InexactHit],
    is_name: IsName,
    is_known_better: IsKnownBetter = lambda _hit: False,
) -> list[InexactHit]:
    """Returns the hits that are mentions, in order, without overlaps.

    A hit that covers a whole exact name and more (Los Angeles Dogers over Los Angeles) replaces it, unless that is in
    `fixed`. If it is better known (`is_known_better`) than all exact names that it covers, it may replace several.
    Part of a name counts only if no unknown name stands beside it: Jennifer Smith is not John Smith.
    """
    able = [hit for hit in hits if hit.score >= MIN_SCORE]
    if not able:
        return []
    words = _WordSpans(_word_spans(text))
    able = [hit for hit in able if not hit.public or _is_marked(hit, words, is_name)]
    chosen: list[InexactHit] = []
    taken = bytearray(len(text))
    for hit in sorted(able, key=lambda hit: (hit.start - hit.end, -hit.score, hit.start)):
        if not any(taken[hit.start : hit.end]) and _may_cover(
            text, hit, exact, fixed, words, is_name, is_known_better
        ):
            chosen.append(hit)
            _cover(taken, [(hit.start, hit.end)])
    known = bytearray(len(text))
    _cover(known, [*exact, *((hit.start, hit.end) for hit in chosen if hit.whole)])
    unknown = [span for span in words.spans if span[1] - span[0] > 1 and not any(known[slice(*span)])]
    strangers = _WordSpans([span for span in unknown if is_name(*span)])
    kept = [hit for hit in chosen if not _is_doubtful(text, hit) or not _stands_beside(text, hit, strangers)]
    return sorted(kept, key=lambda hit: hit.start)


class _WordSpans:
    """Words of a text by position, in order and without overlaps."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self.spans = spans
        self._starts, self._ends = [start for start, _ in spans], [end for _, end in spans]

    def inside(self, start: int, end: int) -> Sequence[Span]:
        return self.spans[bisect_left(self._starts, start) : bisect_right(self._ends, end)]

    def beside(self, start: int, end: int) -> Iterator[Span]:
        """Yields the gaps to the next word on either side."""
        before, after = bisect_right(self._ends, start), bisect_left(self._starts, end)
        if before:
            yield self._ends[before - 1], start
        if after < len(self.spans):
            yield end, self._starts[after]


def _cover(taken: bytearray, spans: Iterable[Span]) -> None:
    for start, end in spans:
        taken[start:end] = b"\x01" * (end - start)


def _word_spans(text: str) -> list[Span]:
    normalised = normalise(text)
    return [
        normalised.span(word.start, word.end) for word in words_of(normalised.text) if word.text not in SMALL_WORDS
    ]


def _is_marked(hit: InexactHit, words: _WordSpans, is_name: IsName) -> bool:
    """True if the hit, or one word of a whole name, is marked as a name: "a Sparrow hawk"."""
    inside = words.inside(hit.start, hit.end)
    return is_name(hit.start, hit.end) or (hit.whole and any(is_name(*span) for span in inside))


def _is_doubtful(text: str, hit: InexactHit) -> bool:
    """True of part of a name, or of a single misspelt word."""
    return not hit.whole or (hit.score < 1 and is_letters(text[hit.start : hit.end]))


def _may_cover(
    text: str,
    hit: InexactHit,
    exact: Sequence[Span],
    fixed: Collection[Span],
    words: _WordSpans,
    is_name: IsName,
    is_known_better: IsKnownBetter,
) -> bool:
    """True if the hit may replace the exact names that it covers: it covers none; or it covers whole ones and has
    further words that are names, or is the whole name that they are parts of (John Nash over John and Nash).
    """
    over = [(start, end) for start, end in exact if start < hit.end and hit.start < end]
    if not over:
        return True
    if any(span in fixed or span[0] < hit.start or hit.end < span[1] for span in over):
        return False
    inside = words.inside(hit.start, hit.end)
    named = [span for span in inside if span[1] - span[0] == 1 or is_name(*span)]
    more = [span for span in inside if _is_outside(span, over)]
    if hit.whole and len(over) > 1 and not more and is_known_better(hit):
        return True
    if hit.score >= NOTHING_MISSING:
        return bool(more)
    if hit.whole and not more:
        return len(over) > 1 and all(may_be_proper(text[start:end]) for start, end in inside)
    is_long = hit.whole or len(inside) > _A_FEW
    return any(span in named for span in more) and (is_long or all(span in named for span in more))


def _is_outside(span: Span, taken: Sequence[Span]) -> bool:
    return all(span[1] <= start or end <= span[0] for start, end in taken)


def _stands_beside(text: str, hit: InexactHit, strangers: _WordSpans) -> bool:
    gaps = strangers.beside(hit.start, hit.end)
    return any(text[first:last].strip(" \t-") == "" and first < last for first, last in gaps)
