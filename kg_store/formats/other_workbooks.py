"""Workbooks of other programs than today's Excel: .xls, .xlsb and .ods."""

from __future__ import annotations

import json
import subprocess  # nosec B404
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from kg_store.errors import LoadError
from kg_store.formats.bounds import MAX_LITERAL_BYTES, TOO_LONG_LITERAL
from kg_store.formats.delimited_text import Rows
from kg_store.formats.excel_sheets import MAX_COLUMNS, MAX_SHEETS, WorkbookSheet, check_size

MAX_BYTES: Final = 1 << 27
_NOT_READABLE: Final = "not a workbook that can be read, or too large: save it as .xlsx"
_READER: Final = ("-m", "kg_store.formats.workbook_process")


def sheets_of_other_workbook(path: Path) -> list[WorkbookSheet]:
    """The sheets that hold two lines or more. Raises LoadError: no workbook, too large, or all sheets are empty."""
    if path.stat().st_size > MAX_BYTES:
        raise LoadError(f"a workbook of more than {MAX_BYTES >> 20} MB: save its sheets as CSV", path.name)
    if path.suffix.lower() != ".xls":
        check_size(path)
    printed = _printed(path)
    sheets = next(printed, [])
    if len(sheets) > MAX_SHEETS:
        raise LoadError(f"the workbook has more than {MAX_SHEETS} sheets", path.name)
    filled: dict[str, int] = {}
    for name, *_ in printed:
        filled[name] = filled.get(name, 0) + 1
    chosen = [(name, is_hidden) for name, is_hidden in sheets if filled.get(name, 0) > 1]
    if not chosen:
        raise LoadError("no sheet of the workbook holds a table: a header line and rows below it", path.name)
    hidden = ((1, f"hidden sheets of {path.name} were read as well"),)
    return [WorkbookSheet(name, _rows(path, name), hidden if is_hidden else ()) for name, is_hidden in chosen]


def _rows(path: Path, title: str) -> Callable[[object], Rows]:
    def rows(_table: object) -> Iterator[tuple[int, list[str]]]:
        printed = _printed(path)
        next(printed, None)
        for name, line, cells in printed:
            last = max(place for place, cell in enumerate(cells, start=1) if cell)
            if name == title and last > MAX_COLUMNS:
                raise LoadError(f"a sheet with more than {MAX_COLUMNS} columns", f"{path.name}/{title}", line)
            if any(len(cell) > MAX_LITERAL_BYTES for cell in cells):
                raise LoadError(TOO_LONG_LITERAL, path.name)
            if name == title:
                yield line, cells[:last]

    return rows


def _printed(path: Path) -> Iterator[list[Any]]:
    """The lines of `workbook_process`. Raises LoadError where it ended with an error."""
    command = [sys.executable, *_READER, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as running:  # noqa: S603  # nosec B603
        assert running.stdout is not None
        for line in running.stdout:
            yield json.loads(line)
    if running.returncode:
        raise LoadError(_NOT_READABLE, path.name)
