"""Spans of a text that come near to a name, read again until nothing is left over."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from kg_store.names.fuzzy_index import Fits
from kg_store.names.index import NameIndex

MAX_PASSES: Final = 3
"""After so many the spans of all readings go, those that overlap too: more than need be, and never less."""

_MASK: Final = "|"
"""No name runs across it."""

Span = tuple[int, int]


def find_near_spans(
    names: NameIndex, text: str, taken: Iterable[Span], skip: Collection[str] = (), fits: Fits | None = None
) -> list[Span]:
    """Spans of `text` outside of `taken`, in order, none over another; words in `skip` stand for nothing. `fits` is
    what was found in the texts of the same request.

    Promise: every reading that `names.find_inexact` gives of `text` without `taken`, but for public ones, lies in what
    was found or overlaps it; what such a reading leaves over is read again. Limit: of a text that takes more than
    MAX_PASSES what is left after them is not read again.
    """
    found: list[Span] = []
    fresh: Sequence[Span] = ()
    fits = {} if fits is None else fits
    left = masked(text, taken)
    for number in range(1, MAX_PASSES + 1):
        read = left if number == 1 else _changed(left, fresh)
        spans = [(hit.start, hit.end) for hit in names.find_inexact(read, skip, fits=fits) if not hit.public]
        fresh = _longest_spans(spans, len(text)) if number < MAX_PASSES else _joined(spans)
        if not fresh:
            break
        found += fresh
        left = masked(left, fresh)
    return sorted(found)


def masked(text: str, spans: Iterable[Span]) -> str:
    """`text`, as long as before, with signs that no name runs across in the place of `spans`."""
    letters = list(text)
    for start, end in spans:
        letters[start:end] = _MASK * (end - start)
    return "".join(letters)


def _changed(text: str, fresh: Iterable[Span]) -> str:
    """`text` with nothing but the pieces that begin or end at a span of `fresh`: the others read as they did."""
    letters = [_MASK] * len(text)
    for start, end in fresh:
        first, last = text.rfind(_MASK, 0, start) + 1, text.find(_MASK, end)
        last = len(text) if last < 0 else last
        letters[first:start], letters[end:last] = text[first:start], text[end:last]
    return "".join(letters)


def _longest_spans(spans: Iterable[Span], length: int) -> list[Span]:
    """Of those that overlap the longest, then the leftmost."""
    covered, chosen = bytearray(length), list[Span]()
    for start, end in sorted(spans, key=lambda span: (span[0] - span[1], span[0])):
        if not any(covered[start:end]):
            chosen.append((start, end))
            covered[start:end] = b"\x01" * (end - start)
    return chosen


def _joined(spans: Iterable[Span]) -> list[Span]:
    """Those that overlap as one."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start < joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined
