"""Checks every row of large tables against a policy, in bounded memory, and tells what a load would make of them."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from kg_store.errors import LoadError
from kg_store.formats.files import open_bytes
from kg_store.sources.cell_values import read_cell
from kg_store.sources.table_files import Sheet, is_text, sheets_with_tables
from kg_store.sources.table_policy import TablePolicy
from kg_store.terms import ValueKind

LARGE_BYTES: Final = 50 << 20
"""A text file from this size on is previewed by its first rows. Chosen by hand: smaller ones take a few seconds."""
ROWS_SHOWN: Final = 5_000
"""The rows at the beginning of a large table from which a policy is proposed. Chosen by hand."""
MAX_CELLS_KEPT: Final = 1 << 16
"""The greatest number of different cells of a column that are kept in memory, with their verdicts."""
_ROWS_A_STEP: Final = 50_000
_LINES_WEIGHED: Final = 1_000

Fraction = Callable[[float], None]


def large_tables(paths: Sequence[Path]) -> list[Path]:
    """Returns those of `paths` that are text files of at least LARGE_BYTES."""
    return [path for path in paths if is_text(path) and path.stat().st_size >= LARGE_BYTES]


def check_rows(paths: Sequence[Path], tables: Sequence[TablePolicy], progress: Fraction) -> tuple[str, ...]:
    """Returns a note for each thing about the rows of `paths` that their owner should know before a load.

    Notes name files, columns and lines, never a cell. `tables` that belong to other files are ignored. `progress` gets
    the share of the rows that is checked, by an estimate.
    """
    names = {path.name.removesuffix(".gz") for path in paths}
    own = [table for table in tables if any(table.has(name) for name in names)]
    notes: list[str] = []
    for at, (sheet, table) in enumerate(sheets_with_tables(paths, own)):
        check = _RowCheck(sheet, table)
        check.read(lambda share, at=at: progress((at + share) / len(paths)))  # type: ignore[misc]
        notes += check.notes()
    return tuple(notes)


class _ColumnCheck:
    """Counts the empty cells of one column, and those that are not of its kind."""

    def __init__(self, name: str, place: int, table: TablePolicy) -> None:
        self.name, self.place = name, place
        self.settings = table.columns[name]
        self.empty = self.unfit = self.first = 0
        marks = {"", *table.empty, *self.settings.empty}
        is_value = self.settings.table is None and self.settings.concept is None
        self._is_checked = is_value and self.settings.kind is not ValueKind.TEXT

        @lru_cache(maxsize=MAX_CELLS_KEPT)
        def verdict(cell: str) -> str:
            if cell in marks:
                return "empty"
            parts = cell.split(self.settings.separator) if self.settings.separator else [cell]
            is_fit = not self._is_checked or all(read_cell(part.strip(), self.settings) is not None for part in parts)
            return "" if is_fit else "unfit"

        self._verdict = verdict

    def see(self, cell: str, line: int) -> None:
        found = self._verdict(cell)
        if found == "empty":
            self.empty += 1
        elif found:
            self.unfit += 1
            self.first = self.first or line


class _RowCheck:
    """Reads one table once."""

    def __init__(self, sheet: Sheet, table: TablePolicy) -> None:
        self._sheet, self._table = sheet, table
        self._rows, self._odd = 0, Counter[str]()
        self._keys = array("q")
        self._columns: list[_ColumnCheck] = []
        self._stopped: LoadError | None = None
        self._without_key = 0

    def read(self, progress: Fraction) -> None:
        lines = self._sheet.lines(self._table, self._odd)
        _, header = next(lines)
        self._columns = [_ColumnCheck(name, header.index(name), self._table) for name in self._table.columns]
        has_key = self._table.key is not None
        expected = max(1, _lines_in(self._sheet.path))
        try:
            for line, cells in lines:
                self._rows += 1
                if has_key:
                    key = self._table.key_of(dict(zip(header, cells, strict=True)))
                    self._keys.append(hash(key))
                    self._without_key += not key
                for column in self._columns:
                    column.see(cells[column.place], line)
                if not self._rows % _ROWS_A_STEP:
                    progress(min(0.99, line / expected))
        except LoadError as error:
            self._stopped = error
        progress(1.0)

    def notes(self) -> list[str]:
        name, notes = self._sheet.name, [f"{self._rows:,} rows of {self._sheet.name} were checked"]
        notes += [f"A load would stop here: {self._stopped}"] if self._stopped else []
        notes += [f"{count:,} {sentence}" for sentence, count in self._odd.items()]
        if again := self._repeated_keys():
            notes.append(
                f"{again:,} rows of {name} have the key of an earlier row, so a load would stop: say another `key` "
                "or none"
            )
        if self._without_key:
            notes.append(f"{self._without_key:,} rows of {name} have no key, so a load would stop")
        for each in self._columns:
            if each.unfit:
                kind = each.settings.kind.value
                first = f"(the first in line {each.first:,})"
                notes.append(f"{each.unfit:,} cells of {each.name} are no {kind} and stay text {first}")
            if each.empty:
                notes.append(f"{each.empty:,} cells of {each.name} are empty, or say that nothing is known")
        return notes

    def _repeated_keys(self) -> int:
        """Returns the number of rows with the key of another row before them, by the hashes of the keys."""
        hashes: npt.NDArray[np.int64] = np.frombuffer(self._keys, dtype=np.int64) if self._keys else np.empty(0, int)
        return len(hashes) - len(np.unique(hashes))


def _lines_in(path: Path) -> int:
    """Returns about how many lines a file has, by the length of its first ones."""
    with open_bytes(path) as stream:
        first = [len(line) for line in islice(stream, _LINES_WEIGHED)]
    return int(path.stat().st_size * len(first) / max(1, sum(first)))
