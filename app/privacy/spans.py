"""Spans of a text that must not leave as they are, and the choice among overlapping ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final

from kg_store.terms import ValueKind


class SpanSource(IntEnum):
    """The finder of a span; of two that find the same span, the smaller is taken."""

    PSEUDONYM = 0
    MENTION = 1
    PROTECTED = 2
    PATTERN = 3
    LITERAL = 4
    FORGED = 5
    UNKNOWN = 6
    WORD = 7
    """An unknown word in lower case: it may be what is asked, or a name."""

    RELATION = 8


NAMES: Final = (SpanSource.MENTION, SpanSource.PROTECTED, SpanSource.UNKNOWN, SpanSource.WORD)
"""The sources of spans that may be somebody's name."""


@dataclass(frozen=True, slots=True)
class Span:
    """text[start:end] of a turn.

    `mids` are set for a mention, `value_kind` if it names a value; `inexact`: the name is spelt differently in the
    graph.
    """

    start: int
    end: int
    source: SpanSource
    mids: tuple[int, ...] = field(default=(), repr=False)
    value_kind: ValueKind | None = None
    inexact: bool = False
    lexical: str = field(default="", repr=False)
    """The meaning of a number or date in words or other digits, in ASCII digits."""


def places(spans: Iterable[Span]) -> list[tuple[int, int]]:
    """Returns the start and end of each span."""
    return [(span.start, span.end) for span in spans]


def choose(text: str, spans: Iterable[Span]) -> list[Span]:
    """Returns spans without overlaps: the longest is taken, then the smaller source; the remains of others stay hidden
    too.
    """
    covered = bytearray(len(text))
    chosen: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start - span.end, span.source, span.start)):
        chosen += uncovered(text, span, covered)
        covered[span.start : span.end] = b"\x01" * (span.end - span.start)
    return chosen


def uncovered(text: str, span: Span, covered: bytearray) -> Iterator[Span]:
    """Yields the parts of `span` that nothing covers, as literals without the punctuation around them."""
    if not any(covered[span.start : span.end]):
        yield span
        return
    start = span.start
    for end in range(span.start, span.end + 1):
        if end == span.end or covered[end]:
            piece = text[start:end]
            inner = piece.strip("".join(letter for letter in piece if not letter.isalnum()))
            if inner:
                begin = start + piece.index(inner)
                yield Span(begin, begin + len(inner), SpanSource.LITERAL)
            start = end + 1


def cover(text: str, spans: Iterable[Span]) -> bytearray:
    """Returns one byte for each character of `text`: 1 if a span covers it."""
    covered = bytearray(len(text))
    for span in spans:
        covered[span.start : span.end] = b"\x01" * (span.end - span.start)
    return covered
