"""Reads CSV, TSV and bar-separated files as lines of cells, and finds the header of a table in them."""

from __future__ import annotations

import contextlib
import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import IO, Final, Literal

from kg_store.errors import LoadError
from kg_store.formats.files import bounded_lines
from kg_store.terms import ValueKind
from kg_store.text.literals import fits

DELIMITERS = (",", ";", "\t", "|")
_SAMPLE_LINES = 20
MIN_EVEN: Final = 0.9
"""At least this share of the lines has the same number of delimiters, where another one varies: it is a list's."""

_ENCODINGS = ": save it anew as UTF-8, or say `encoding` in its [[tables]] of the policy"

Cells = list[str]
Rows = Iterator[tuple[int, Cells]]
"""Pairs of the number of the line where a row ends in the file, and its cells; an empty line has no cells."""


_MOST_ROWS: ContextVar[int | None] = ContextVar("most rows", default=None)


@contextlib.contextmanager
def first_rows_alone(count: int) -> Iterator[None]:
    """While it is open, every text file of rows seems to end after `count` rows, the header and titles included."""
    token = _MOST_ROWS.set(count)
    try:
        yield
    finally:
        _MOST_ROWS.reset(token)


@dataclass(frozen=True, slots=True)
class DeclaredKeys:
    """The keys that a database declares for a table.

    `references`: columns, with the table that they refer to and its columns; empty for the key of that table.
    """

    key: tuple[str, ...] = ()
    references: Mapping[tuple[str, ...], tuple[str, tuple[str, ...]]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TableOfFile:
    """One table of a file that may hold several.

    `title` is the name of its sheet, or the keys that lead to its list; empty for the records of the file itself.
    `open_rows` returns its rows, the header first. `notes`: (count, sentence) pairs on cells that were changed or left
    out in reading, such as formulas. `is_one_object`: the whole file is one JSON object. `declared`: the keys that the
    file itself declares.
    """

    title: str
    open_rows: Callable[[object], Rows]
    notes: tuple[tuple[int, str], ...] = ()
    is_one_object: bool = False
    declared: DeclaredKeys | None = None


class TableFile:
    """Reads `stream` once, from the beginning. The caller that opened the stream closes it."""

    def __init__(self, stream: IO[bytes], file: str, encoding: str = "utf-8", newline: Literal["", "\n"] = "") -> None:
        """Prepares reading. `newline`: what ends a line; empty for any of the usual line ends."""
        self._file = file
        self._lines = _text_lines(stream, file, encoding, newline)
        self._head: list[str] = []

    def _filled(self) -> list[str]:
        return [line for line in self._peek(_SAMPLE_LINES) if line.strip()]

    def header_delimiter(self) -> str:
        """Returns the most frequent delimiter of the header line.

        A title above the header has fewer delimiters. The header is therefore the first line that has at least half as
        many as the sampled line with most.
        """
        lines = self._peek(_SAMPLE_LINES)
        counts = [max(line.count(delimiter) for delimiter in DELIMITERS) for line in lines]
        least = max(1, max(counts, default=0) / 2)
        even = [delimiter for delimiter in DELIMITERS if self._is_even(delimiter)]
        if len(even) == 1:
            return even[0]  # Lists in cells may hold more commas than the line has semicolons.
        line = next((line for line, count in zip(lines, counts, strict=True) if count >= least), "")
        return max(DELIMITERS, key=lambda delimiter: (line.count(delimiter), -DELIMITERS.index(delimiter)))

    def _is_even(self, delimiter: str) -> bool:
        """Returns True if nearly all of the first lines, the first one included, have as many of `delimiter`."""
        counts = [line.count(delimiter) for line in self._filled()]
        return bool(counts) and counts[0] > 0 and counts.count(counts[0]) >= MIN_EVEN * len(counts)

    def triples_delimiter(self, prefer_comma: bool) -> str | None:
        """Returns the tab, bar or comma that splits each of the first lines into at least three cells.

        If none does, returns the one that so splits the first line: the reader then reports the line that differs.
        Returns None if there is none either. Raises LoadError for an empty file.
        """
        filled = self._filled()
        if not filled:
            raise LoadError("the file holds no triple", self._file)
        order = (",", "\t", "|") if prefer_comma else ("\t", "|", ",")
        for lines in (filled, filled[:1]):
            for delimiter in order:
                if all(line.count(delimiter) >= 2 for line in lines):
                    return delimiter
        return None

    def is_header_alone(self) -> bool:
        """Returns True if the file is a single line of several cells, but not of three, as a triple would be."""
        filled = [line for line in self._peek(_SAMPLE_LINES) if line.strip()]
        cells = filled[0].count(self.header_delimiter()) + 1 if filled else 0
        return len(filled) == 1 and cells > 1 and cells != 3

    def plain_rows(self, delimiter: str) -> Rows:
        """Yields every line as cells; quotes have no special meaning."""
        for number, line in enumerate(chain(self._head, self._lines), start=1):
            filled = line.rstrip("\r\n")
            yield number, [cell.strip() for cell in filled.split(delimiter)] if filled.strip() else []

    def quoted_rows(self, delimiter: str) -> Rows:
        """Yields every row as cells; quoted cells may hold the delimiter and line breaks. Raises LoadError."""
        reader = csv.reader(chain(self._head, self._lines), delimiter=delimiter, strict=True)
        try:
            for cells in islice(reader, _MOST_ROWS.get()):
                yield reader.line_num, [cell.strip() for cell in cells]
        except csv.Error:
            reason = "the quotes of this line do not match, or a cell is too long"
            raise LoadError(reason, self._file, reader.line_num) from None

    def _peek(self, count: int) -> list[str]:
        self._head += islice(self._lines, max(0, count - len(self._head)))
        return self._head[:count]


def _text_lines(stream: IO[bytes], file: str, encoding: str, newline: str) -> Iterator[str]:
    text = io.TextIOWrapper(stream, "utf-8-sig" if encoding == "utf-8" else encoding, newline=newline)
    number = 0
    try:
        for line in bounded_lines(text, file):
            number += 1
            yield line
    except UnicodeError:
        raise LoadError(f"the file is not {encoding.upper()} text{_ENCODINGS}", file, number + 1) from None
    finally:
        with contextlib.suppress(ValueError):  # The stream may be closed already.
            text.detach()


MAX_LINES_ABOVE: Final = 30
"""The most lines that may stand above a header."""
MAX_BANDS: Final = 3
"""The most lines of a header after its first one."""
MAX_TITLE_SHARE: Final = 0.5
"""The greatest share of the columns that a title fills.

A title begins in the table's first column. It may fill more if an empty line and then a line with more cells follow.
"""


def with_header(rows: Rows, header_row: int | None = None) -> tuple[int, Cells, Rows]:
    """Returns the header's line number, its cells, and the rows below it.

    `header_row`: the line of the header; 0 if there is none, and columns are then called `column 1` and so on. By
    default it is the first line; if that is a title, the first line below it that names every column.
    """
    if header_row == 0:
        first = list(islice(rows, MAX_LINES_ABOVE))
        width = max((len(cells) for _, cells in first), default=0)
        return 0, [f"column {at}" for at in range(1, width + 1)], chain(first, rows)
    if header_row is not None:
        rows = chain(((line, cells) for line, cells in rows if line >= header_row), ())
    head: list[tuple[int, Cells]] = []
    broken: list[LoadError] = []
    try:
        head.extend(islice(rows, MAX_LINES_ABOVE))
    except LoadError as error:
        if not head:
            raise
        broken.append(error)  # Raised when its line is reached.
    if not head:
        return 1, [], rows
    at = _place_in(head) if header_row is None else 0
    line, header = head[at]
    if (banded := _banded(head[at:])) is not None:
        header, bands = banded
        at += bands
    below = [cells for _, cells in head[at + 1 :] if cells]
    if (united := _with_units(header, below)) is not None:
        header, below, at = united, below[1:], next(i for i in range(at + 1, len(head)) if head[i][1])
    if below and all(len(cells) == len(header) + 1 and not cells[-1] for cells in below):
        header = [*header, ""]  # Each line but the header ends with a delimiter.
    return line, header, chain(head[at + 1 :], _after(broken, rows))


def filled_span(header: Sequence[str]) -> slice:
    """Returns the columns from the first to the last that has a name."""
    named = [at for at, cell in enumerate(header) if cell]
    return slice(named[0], named[-1] + 1) if named else slice(0, len(header))


def _after(broken: list[LoadError], rows: Rows) -> Rows:
    for error in broken:
        raise error
    yield from rows


def _place_in(head: Sequence[tuple[int, Cells]]) -> int:
    """Returns the index of the header line in `head`.

    It is the first filled line; if that looks like a title, the first line below it that names every column, if any.
    """
    filled = [(at, [place for place, cell in enumerate(cells) if cell]) for at, (_, cells) in enumerate(head)]
    lines = [(at, places) for at, places in filled if places]
    if not lines:
        return 0
    (first, titles), begins = lines[0], min(places[0] for _, places in lines)
    columns = max(places[-1] for _, places in lines) - begins + 1
    next_at, below = lines[1] if len(lines) > 1 else (first, titles)
    is_small = len(titles) <= MAX_TITLE_SHARE * columns
    is_apart = head[next_at][0] > head[first][0] + 1 and len(titles) < len(below)
    if titles[0] != begins or not (is_small or is_apart):
        return first
    complete = (at for at, places in lines[1:] if len(places) == columns and _may_be_header(head[at][1]))
    banded = (at for at, _ in lines[1:] if _banded(head[at:]) is not None)
    return next(complete, next(banded, first))


def _banded(head: Sequence[tuple[int, Cells]]) -> tuple[Cells, int] | None:
    """Returns (column names, number of further lines) of a header that takes several lines; None if there is none.

    A cell of an upper line also applies to the empty cells to its right: `Votes`, empty over `2021` and `2025`, gives
    `Votes 2021` and `Votes 2025`. The lines together must name each column. Either only the first line begins with a
    filled cell, or only the second does, which then names every column itself.
    """
    first = head[0][1] if head else []
    if not first or all(first):
        return None
    bands = [first]
    for _, cells in head[1 : MAX_BANDS + 1] if first[0] else head[1:2] if sum(map(bool, first)) > 1 else []:
        if not any(cells) or (cells[0] and (first[0] or not all(cells) or _holds_values(cells))):
            break
        bands.append(cells)
    longest = max(map(len, bands))
    bands = [[*cells, *[""] * (longest - len(cells))] for cells in bands]
    width = max((at + 1 for cells in bands for at, cell in enumerate(cells) if cell), default=0)
    names: list[list[str]] = [[] for _ in range(width)]
    begins = [False] * width
    for cells in bands:
        said = ""
        for at in range(width):
            begins[at] = begins[at] or bool(cells[at])
            said = cells[at] if begins[at] else said
            names[at] += [said] if said else []
    if len(bands) < 2 or not all(names):
        return None
    return [" ".join(words) for words in names] + [""] * (longest - width), len(bands) - 1


MIN_MEASURED: Final = 3
"""The fewest numbers below each unit of a line of units. Chosen by hand."""
MAX_UNIT: Final = 12
_AMOUNT: Final = re.compile(r"[-+]?[\d.,' ]*\d[\d.,' ]*")


def _with_units(header: Sequence[str], below: Sequence[Cells]) -> Cells | None:
    """Returns the header with the units that stand in a line below it, `Flow (l/s)`; None if there is no such line.

    Such a line begins with an empty cell, and has short words only where all lines below it have numbers.
    """
    units, rows = (below[0], below[1:]) if below else ([], [])
    places = [at for at, cell in enumerate(units) if cell]
    if not places or places[0] == 0 or places[-1] >= len(header) or not all(header):
        return None
    for at in places:
        amounts = [row[at] for row in rows if at < len(row) and row[at]]
        is_word = len(units[at]) <= MAX_UNIT and _AMOUNT.fullmatch(units[at]) is None
        if not is_word or len(amounts) < MIN_MEASURED or not all(map(_AMOUNT.fullmatch, amounts)):
            return None
    said = {at: units[at].strip("()[] ") for at in places}
    return [f"{name} ({said[at]})" if at in said else name for at, name in enumerate(header)]


def _may_be_header(cells: Cells) -> bool:
    names = [cell for cell in cells if cell]
    return len(set(names)) == len(names) and not _holds_values(names)


def _holds_values(cells: Cells) -> bool:
    return any(fits(cell, kind) for cell in cells for kind in (ValueKind.NUMBER, ValueKind.DATE))
