"""CSV, TSV and bar-separated files as lines of cells, and where the header of a table stands among them."""

from __future__ import annotations

import contextlib
import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import IO, Final, Literal

from kg_store.errors import LoadError
from kg_store.formats.files import bounded_lines
from kg_store.terms import ValueKind
from kg_store.text.literals import fits

DELIMITERS = (",", ";", "\t", "|")
_SAMPLE_LINES = 20

_ENCODINGS = ": save it anew as UTF-8, or say `encoding` in its [[tables]] of the policy"

Cells = list[str]
Rows = Iterator[tuple[int, Cells]]
"""The number of each line, where it ends in the file, with its cells; an empty line has none."""


@dataclass(frozen=True, slots=True)
class TableOfFile:
    """One table of a file that may hold several. `title`: of its sheet, or the keys that lead to its list; empty for
    the records themselves. `notes` tell, with counts, what was not read as it stands; `is_one_object`: the whole file
    is one JSON object.
    """

    title: str
    open_rows: Callable[[object], Rows]
    notes: tuple[tuple[int, str], ...] = ()
    is_one_object: bool = False


class TableFile:
    """Reads `stream` once, from the beginning. Whoever opened the stream closes it."""

    def __init__(self, stream: IO[bytes], file: str, encoding: str = "utf-8", newline: Literal["", "\n"] = "") -> None:
        """`newline`: the end of a line; any of the usual ones where it is empty."""
        self._file = file
        self._lines = _text_lines(stream, file, encoding, newline)
        self._head: list[str] = []

    def _filled(self) -> list[str]:
        return [line for line in self._peek(_SAMPLE_LINES) if line.strip()]

    def header_delimiter(self) -> str:
        """The delimiter that stands most often in the first line that has some: a title has none, or few beside those
        of the lines below."""
        lines = self._peek(_SAMPLE_LINES)
        counts = [max(line.count(delimiter) for delimiter in DELIMITERS) for line in lines]
        least = max(1, max(counts, default=0) / 2)
        line = next((line for line, count in zip(lines, counts, strict=True) if count >= least), "")
        return max(DELIMITERS, key=lambda delimiter: (line.count(delimiter), -DELIMITERS.index(delimiter)))

    def triples_delimiter(self, prefer_comma: bool) -> str | None:
        """A tab, a bar or a comma, whichever splits every one of the first lines in three; else the one that splits
        the first line so, so that an error names the line that differs. None where nothing does. Raises LoadError for
        an empty file."""
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
        """True where one line stands in the file, and it is none of three cells, as a triple would be."""
        filled = [line for line in self._peek(_SAMPLE_LINES) if line.strip()]
        cells = filled[0].count(self.header_delimiter()) + 1 if filled else 0
        return len(filled) == 1 and cells > 1 and cells != 3

    def plain_rows(self, delimiter: str) -> Rows:
        """Every line, in which quotes are letters like others."""
        for number, line in enumerate(chain(self._head, self._lines), start=1):
            filled = line.rstrip("\r\n")
            yield number, [cell.strip() for cell in filled.split(delimiter)] if filled.strip() else []

    def quoted_rows(self, delimiter: str) -> Rows:
        """Every row, in which quoted cells may hold the delimiter and line breaks. Raises LoadError."""
        reader = csv.reader(chain(self._head, self._lines), delimiter=delimiter, strict=True)
        try:
            for cells in reader:
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
        with contextlib.suppress(ValueError):  # It may be closed already.
            text.detach()


MAX_LINES_ABOVE: Final = 30
"""Lines that may stand above a header."""
MAX_BANDS: Final = 3
"""Lines that a header may go on in."""
MAX_TITLE_SHARE: Final = 0.5
"""A title begins where the table begins, and fills at most so large a part of its columns, or an empty line and a line
that fills more stand below it."""


def with_header(rows: Rows, header_row: int | None = None) -> tuple[int, Cells, Rows]:
    """Returns the header's line, its cells, and the lines below it.

    `header_row`: the line that it stands in; 0 where there is none, and columns are called `column 1` and so on. By
    default that is the first line; where that is a title, the first line below it that names every column.
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
        broken.append(error)  # It is told when its line is reached.
    if not head:
        return 1, [], rows
    at = _place_in(head) if header_row is None else 0
    line, header = head[at]
    if (banded := _banded(head[at:])) is not None:
        header, bands = banded
        at += bands
    below = [cells for _, cells in head[at + 1 :] if cells]
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
    """Returns the place of the header in `head`; that of the first filled line where titles would leave none."""
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
    banded = (at for at, places in lines[1:] if places[0] == begins and _banded(head[at:]) is not None)
    return next(complete, next(banded, first))


def _banded(head: Sequence[tuple[int, Cells]]) -> tuple[Cells, int] | None:
    """The names of columns that a header of several lines gives, and how many lines stand below its first one.

    A cell of a line above stands for those to its right up to the next one: `Votes`, empty over `2021`, `2025` are
    `Votes 2021` and `Votes 2025`. None unless the lines together name each column: below the first, the first column
    is empty.
    """
    first = head[0][1] if head else []
    if not first or not first[0] or all(first):
        return None
    bands = [first]
    for _, cells in head[1 : MAX_BANDS + 1]:
        if not any(cells) or cells[0]:
            break
        bands.append([*cells, *[""] * len(first)][: len(first)])
    width = max(at + 1 for cells in bands for at, cell in enumerate(cells) if cell)
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
    return [" ".join(words) for words in names] + [""] * (len(first) - width), len(bands) - 1


def _may_be_header(cells: Cells) -> bool:
    names = [cell for cell in cells if cell]
    has_values = any(fits(cell, kind) for cell in names for kind in (ValueKind.NUMBER, ValueKind.DATE))
    return len(set(names)) == len(names) and not has_values
