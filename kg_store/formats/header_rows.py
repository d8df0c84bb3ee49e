"""Finds the header of a table that has titles, dates or empty columns around it, as people's exports do."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, islice, zip_longest
from typing import Final

from kg_store.errors import LoadError
from kg_store.formats.delimited_text import Cells, Rows
from kg_store.terms import ValueKind
from kg_store.text.literals import fits

MAX_LINES_ABOVE: Final = 30
"""Lines that may stand above a header."""
MAX_TITLE_SHARE: Final = 0.5
"""A title begins where the table begins, and fills at most so large a part of its columns, or an empty line and a line
that fills more stand below it."""


def with_header(rows: Rows, header_row: int | None = None) -> tuple[int, Cells, Rows]:
    """Returns the header's line, its cells, and the lines below it.

    `header_row`: the line that it stands in. Without it, that is the first line that is no title; a line with values
    below titles is no header, so then it is the first line of all.
    """
    if header_row is not None:
        line, header = next((row for row in rows if row[0] >= header_row), (header_row, []))
        return line, header, rows
    head: list[tuple[int, Cells]] = []
    broken: LoadError | None = None
    try:
        head.extend(islice(rows, MAX_LINES_ABOVE))
    except LoadError as error:
        broken = error  # It is told when its line is reached.
    if broken is not None and not head:
        raise broken
    if not head:
        return 1, [], rows
    at = _place_in(head)
    line, header = head[at]
    return line, header, chain(head[at + 1 :], _after(broken, rows))


def filled_span(header: Sequence[str]) -> slice:
    """Returns the columns from the first to the last that has a name."""
    named = [at for at, cell in enumerate(header) if cell]
    return slice(named[0], named[-1] + 1) if named else slice(0, len(header))


def _after(broken: LoadError | None, rows: Rows) -> Rows:
    if broken is not None:
        raise broken
    yield from rows


def _place_in(head: Sequence[tuple[int, Cells]]) -> int:
    """Returns the place of the header in `head`; that of the first filled line where titles would leave none."""
    filled = [(at, [place for place, cell in enumerate(cells) if cell]) for at, (_, cells) in enumerate(head)]
    lines = [(at, places) for at, places in filled if places]
    if not lines:
        return 0
    begins = min(places[0] for _, places in lines)
    widest = max(len(places) for _, places in lines)
    first = lines[0][0]
    for (at, places), following in zip_longest(lines, lines[1:]):
        is_small = len(places) <= MAX_TITLE_SHARE * widest
        stands_apart = following is not None and head[following[0]][0] > head[at][0] + 1
        is_apart = stands_apart and len(places) < len(following[1])
        if places[0] != begins or not (is_small or is_apart):
            return at if at == first or not any(map(_is_value, head[at][1])) else first
    return first


def _is_value(cell: str) -> bool:
    return fits(cell, ValueKind.NUMBER) or fits(cell, ValueKind.DATE)
