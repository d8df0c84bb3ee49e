"""Finds spans of a text that are similar to a name, repeatedly until nothing is left."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from kg_store.names.fuzzy_index import Fits
from kg_store.names.index import NameIndex

MAX_PASSES: Final = 3
"""After this many passes the spans of all readings are taken, including overlapping ones: too many, but never too few.
"""

_MASK: Final = "|"
"""A sign that no name crosses."""

Span = tuple[int, int]


def find_near_spans(
    names: NameIndex, text: str, taken: Iterable[Span], skip: Collection[str] = (), fits: Fits | None = None
) -> list[Span]:
    """Returns spans of `text` outside of `taken`, in order, without overlaps.

    Words in `skip` stand for nothing; `fits` caches the findings of one request. Promise: every reading of
    `names.find_inexact` on `text` without `taken`, except public ones, lies in or overlaps a returned span; its
    remainder is read again. Limit: after MAX_PASSES what is left is not read again.
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
    """Returns `text` with each span replaced by signs that no name crosses; the length stays the same."""
    letters = list(text)
    for start, end in spans:
        letters[start:end] = _MASK * (end - start)
    return "".join(letters)


def _changed(text: str, fresh: Iterable[Span]) -> str:
    """`text` reduced to the pieces beside a span of `fresh`, because the others read as before."""
    letters = [_MASK] * len(text)
    for start, end in fresh:
        first, last = text.rfind(_MASK, 0, start) + 1, text.find(_MASK, end)
        last = len(text) if last < 0 else last
        letters[first:start], letters[end:last] = text[first:start], text[end:last]
    return "".join(letters)


def _longest_spans(spans: Iterable[Span], length: int) -> list[Span]:
    """The longest of overlapping spans, then the leftmost."""
    covered, chosen = bytearray(length), list[Span]()
    for start, end in sorted(spans, key=lambda span: (span[0] - span[1], span[0])):
        if not any(covered[start:end]):
            chosen.append((start, end))
            covered[start:end] = b"\x01" * (end - start)
    return chosen


def _joined(spans: Iterable[Span]) -> list[Span]:
    """Overlapping spans joined to one."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start < joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined
