"""TableFile: a CSV, TSV or bar-separated file as lines of cells. Errors tell file and line, never a cell."""

from __future__ import annotations

import contextlib
import csv
import io
from collections.abc import Iterator
from itertools import chain, islice
from typing import IO, Literal

from kg_store.errors import LoadError
from kg_store.formats.bounds import bounded_lines

DELIMITERS = (",", ";", "\t", "|")
_OF_TRIPLES = ("\t", "|", ",")
_SAMPLE_LINES = 20

_ENCODINGS = ": save it anew as UTF-8, or say `encoding` in its [[tables]] of the policy"

Cells = list[str]
Rows = Iterator[tuple[int, Cells]]
"""The number of each line, where it ends in the file, with its cells; an empty line has none."""


class TableFile:
    """Reads `stream` once, from the beginning. Whoever opened the stream closes it."""

    def __init__(self, stream: IO[bytes], file: str, encoding: str = "utf-8", newline: Literal["", "\n"] = "") -> None:
        """`newline`: the end of a line; any of the usual ones where it is empty."""
        self._file = file
        self._lines = _text_lines(stream, file, encoding, newline)
        self._head: list[str] = []

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
        filled = [line for line in self._peek(_SAMPLE_LINES) if line.strip()]
        if not filled:
            raise LoadError("the file holds no triple", self._file)
        order = (",", "\t", "|") if prefer_comma else _OF_TRIPLES
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
