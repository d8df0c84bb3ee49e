"""The spans of one turn that must not leave as they are: collected on the original text, none over another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from app.privacy.patterns import find_patterns
from app.privacy.pseudonym_words import shaped_in
from app.privacy.pseudonyms import PseudonymTable
from app.privacy.unknown_words import unknown_spans
from kg_store.linking import Mention
from kg_store.public_words import PublicWords
from kg_store.terms import ValueKind
from kg_store.values import find_literals


class Source(IntEnum):
    """Who found a span; of two that find the same, the smaller wins."""

    PSEUDONYM = 0
    MENTION = 1
    PATTERN = 2
    LITERAL = 3
    FORGED = 4
    UNKNOWN = 5


@dataclass(frozen=True, slots=True)
class Span:
    """text[start:end] of a turn. `mids` are set for a mention, `value_kind` when it names a value."""

    start: int
    end: int
    source: Source
    mids: tuple[int, ...] = field(default=(), repr=False)
    value_kind: ValueKind | None = None


def find_spans(
    text: str, table: PseudonymTable, linked: Iterable[Mention], public: PublicWords, regions: Sequence[str]
) -> list[Span]:
    """In order. Pseudonyms of this conversation are among them; a word that only looks like one is FORGED."""
    kept = [Span(word.start, word.end, Source.PSEUDONYM) for word in shaped_in(text) if word.word in table.issued]
    forged = [
        Span(word.start, word.end, Source.FORGED) for word in shaped_in(text) if word.word not in table.issued
    ]
    mentions = [
        Span(mention.start, mention.end, Source.MENTION, mention.mids, mention.value_kind) for mention in linked
    ]
    patterns = [Span(span.start, span.end, Source.PATTERN) for span in find_patterns(text, regions)]
    literals = [Span(span.start, span.end, Source.LITERAL) for span in find_literals(text)]
    # A code may seem to run on over a pseudonym: `Eq7f2k/Ex81zp`.
    literals = [piece for literal in literals for piece in _uncovered(text, literal, _cover(text, kept))]
    chosen = choose(text, [*kept, *mentions, *patterns, *literals, *forged])
    unknown = unknown_spans(text, [(span.start, span.end) for span in chosen], public)
    return sorted([*chosen, *(Span(*span, Source.UNKNOWN) for span in unknown)], key=lambda span: span.start)


def choose(text: str, spans: Iterable[Span]) -> list[Span]:
    """The longest wins, then the smaller source. What a loser has outside of the winners stays hidden too."""
    covered = bytearray(len(text))
    chosen: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start - span.end, span.source, span.start)):
        chosen += _uncovered(text, span, covered)
        covered[span.start : span.end] = b"\x01" * (span.end - span.start)
    return chosen


def _uncovered(text: str, span: Span, covered: bytearray) -> Iterator[Span]:
    """The pieces of `span` that nothing covers, as literals; without the punctuation around them."""
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
                yield Span(begin, begin + len(inner), Source.LITERAL)
            start = end + 1


def _cover(text: str, spans: Iterable[Span]) -> bytearray:
    covered = bytearray(len(text))
    for span in spans:
        covered[span.start : span.end] = b"\x01" * (span.end - span.start)
    return covered
