"""Finds dates that omit what a later date says: "between March and June 2023"; and decades such as "the 50s"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from kg_store.terms import ValueKind
from kg_store.text.literals import LiteralSpan, find_literals, read_literal
from kg_store.text.numbers.number_words import find_number_expressions

_DECADE: Final = re.compile(r"(?<=\bthe\s)['’]?([3-9]0)['’]?s\b", re.IGNORECASE)
_JOINING: Final = re.compile(r"\s+(?:and|or|to|until|till|through)\s+", re.IGNORECASE)
_OPENING: Final = re.compile(r"\b(?:between|from|in|during|of)\s+(?:the\s+)?\Z", re.IGNORECASE)
_DATED: Final = re.compile(r"(\d{4})-(\d\d)(?:-\d\d)?")
MAX_BEFORE: Final = 16


def find_shortened_dates(text: str) -> Iterator[LiteralSpan]:
    """Yields each such date in digits. A decade without a century belongs to the 20th; "the 20s" is left alone."""
    for decade in _DECADE.finditer(text):
        begin = decade.start(1)
        yield LiteralSpan(begin, decade.end(), ValueKind.DATE, f"19{decade[1]}s")
    if not _JOINING.search(text):
        return
    spans = {span.start: span for span in (*find_number_expressions(text), *find_literals(text))}
    for span in spans.values():
        joining = _JOINING.match(text, span.end)
        behind = spans.get(joining.end()) if joining else None
        is_opened = _OPENING.search(text, max(0, span.start - MAX_BEFORE), span.start) is not None
        if is_opened and behind is not None and behind.kind is ValueKind.DATE:
            lexical = _completed(text[span.start : span.end], span.kind, behind.lexical)
            yield from [LiteralSpan(span.start, span.end, ValueKind.DATE, lexical)] if lexical else []


def _completed(said: str, kind: ValueKind, behind: str) -> str:
    """The date `said`, completed with the year and month of the date `behind` it; empty if that gives no date."""
    dated = _DATED.fullmatch(behind)
    if dated is None:
        return ""
    if kind is ValueKind.NUMBER:
        return f"{dated[1]}-{dated[2]}-{int(said):02d}" if said.isdecimal() and 0 < int(said) <= 31 else ""
    for year in (int(dated[1]), int(dated[1]) - 1):
        read = read_literal(f"{said} {year}") if kind is ValueKind.TEXT else None
        if read is not None and read[0] is ValueKind.DATE and read[1] <= behind:
            return read[1]
    return ""
