"""Reads workbooks (.xlsx, .xls, .xlsb, .ods): each filled sheet is a table.

Notes say where formulas, errors and merged cells are.
"""

from __future__ import annotations

import json
import re
import subprocess  # nosec B404
import sys
import zipfile
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from kg_store.errors import LoadError
from kg_store.formats.delimited_text import Rows, TableOfFile
from kg_store.formats.files import MAX_LITERAL_BYTES, TOO_LONG_LITERAL
from kg_store.formats.workbook_process import text_of

if TYPE_CHECKING:
    from openpyxl.workbook.workbook import Workbook


MAX_WORKBOOK_BYTES = 1 << 30
MAX_SHARED_BYTES = 1 << 27
"""The greatest size of the part in which a workbook keeps its texts, because it is read whole."""
MAX_SHARED_TEXTS = 1_000_000
"""The most different texts in a workbook: they are read anew in each pass, a million in some ten seconds."""
MAX_TAGS = 400_000
"""The most XML tags in a part that is read whole, such as styles and named areas; Excel itself has 64,000 styles."""
MAX_ROW_BYTES = 1 << 23
"""The greatest size of a row of a sheet, and of all that stands beside the rows, because each is read whole."""
MAX_TIGHT_BYTES, MAX_RATIO = 1 << 26, 200
"""A part of more than 64 MB that is packed by more than 200 times: one cell of it may take gigabytes to read."""
MAX_COLUMNS = 2_000
MAX_SHEETS = 200
_MOST_IN_OTHERS: Final = (b"<", MAX_TAGS, "styles, named areas or other settings")
_MOST_IN_PARTS: Final = {
    "xl/sharedStrings.xml": [(b"<si>", MAX_SHARED_TEXTS, "texts")],
    "xl/workbook.xml": [(b"<sheet ", MAX_SHEETS, "sheets"), _MOST_IN_OTHERS],
}
_NO_TABLE = "no sheet of the workbook holds a table: a header line and rows below it"
_NOT_READABLE = "not a workbook that can be read: save it as .xlsx anew, without a password"
_COPY = "copy the cells that you need into a new workbook, or save the sheet as CSV"
_SHARED, _SHEETS = "xl/sharedStrings.xml", "xl/worksheets/"
_MERGED = re.compile(rb'<mergeCell\s+ref="([A-Z]{1,3}\d{1,7}):')
_CHUNK_BYTES = 1 << 20
# The length of the longest tag of a merged cell, which may lie across two chunks.
_OVERLAP_BYTES = 100


def sheets_of_workbook(path: Path) -> list[TableOfFile]:
    """Returns the sheets with at least two filled lines.

    Raises LoadError if the file is not a workbook or too large, or if all sheets are empty.
    """
    with _workbook_errors(path):
        macros = check_size(path)
        check_parts(path)
        with closing(_opened(path, stored_values=True)) as workbook:
            _require_few(workbook.worksheets, path)
            titles = [sheet.title for sheet in workbook.worksheets if _is_filled(sheet)]
        if not titles:
            raise LoadError(_NO_TABLE, path.name)
        notes = {title: _notes(path, title) for title in titles}
        if macros:
            told = (1, f"workbooks ({path.name}) hold macros, which are neither run nor read")
            notes[titles[0]] = (*notes[titles[0]], told)
        return [TableOfFile(title, _rows(path, title), notes[title]) for title in titles]


def _require_few(sheets: Sequence[object], path: Path) -> None:
    if len(sheets) > MAX_SHEETS:
        raise LoadError(f"the workbook has more than {MAX_SHEETS} sheets", path.name)


def check_size(path: Path) -> bool:
    """Returns True if the workbook has macros.

    Raises LoadError if its directory says that it unpacks to too much; nothing is unpacked for that.
    """
    try:
        with zipfile.ZipFile(path) as packed:
            parts = packed.infolist()
    except (OSError, zipfile.BadZipFile):
        raise LoadError(_NOT_READABLE, path.name) from None
    if any(part.file_size > max(MAX_TIGHT_BYTES, MAX_RATIO * part.compress_size) for part in parts):
        raise LoadError("a part of the workbook is packed as no program packs one: save it as .xlsx anew", path.name)
    shared = sum(part.file_size for part in parts if part.filename == _SHARED)
    if sum(part.file_size for part in parts) > MAX_WORKBOOK_BYTES or shared > MAX_SHARED_BYTES:
        most = MAX_WORKBOOK_BYTES >> 20
        raise LoadError(f"the workbook unpacks to more than {most} MB: save its sheets as CSV", path.name)
    return any(part.filename.endswith("vbaProject.bin") for part in parts)


def check_parts(path: Path) -> None:
    """Reads through the parts of an .xlsx, a megabyte at a time.

    Raises LoadError if one would take too much memory: a row that is too long, or too many styles or named areas.
    """
    with zipfile.ZipFile(path) as packed:
        for part in packed.infolist():
            if part.filename.startswith(_SHEETS):
                with packed.open(part) as stream:
                    _require_short_rows(stream, path)
            elif part.filename.endswith((".xml", ".rels")):
                for mark, most, what in _MOST_IN_PARTS.get(part.filename, [_MOST_IN_OTHERS]):
                    with packed.open(part) as stream:
                        if sum(chunk.count(mark) for chunk in _chunks(stream)) > most:
                            raise LoadError(f"the workbook has more than {most:,} {what}: {_COPY}", path.name)


def _require_short_rows(stream: IO[bytes], path: Path) -> None:
    run, tail = 0, b""
    for chunk in _chunks(stream):
        seen = tail + chunk
        first, last = seen.find(b"<row"), seen.rfind(b"<row")
        if run + (len(chunk) if first < 0 else first) > MAX_ROW_BYTES:
            reason = f"a row, or what stands beside the rows, of more than {MAX_ROW_BYTES >> 20} MB"
            raise LoadError(f"{reason}: {_COPY}", path.name)
        run = run + len(chunk) if last < 0 else len(seen) - last
        tail = chunk[-3:]


def _chunks(stream: IO[bytes]) -> Iterator[bytes]:
    return iter(lambda: stream.read(_CHUNK_BYTES), b"")


def _opened(path: Path, stored_values: bool) -> Workbook:
    """Opens a workbook. With `stored_values`, a formula cell holds its value at the time of saving."""
    from openpyxl import load_workbook

    workbook = load_workbook(path, read_only=True, data_only=stored_values, keep_links=False)
    for sheet in workbook.worksheets:
        # A sheet may claim a billion cells; without its claim, rows end with their last cell.
        sheet.reset_dimensions()
    return workbook


@contextmanager
def _workbook_errors(path: Path) -> Iterator[None]:
    """Raises LoadError for any error of the parsers, because their texts may quote cells."""
    try:
        yield
    except LoadError:
        raise
    except Exception:
        raise LoadError(_NOT_READABLE, path.name) from None


def _is_filled(sheet: Any) -> bool:
    filled = (row for row in sheet.iter_rows(values_only=True) if any(cell not in (None, "") for cell in row))
    return len(list(islice(filled, 2))) == 2


def _rows(path: Path, title: str) -> Callable[[object], Rows]:
    def rows(_table: object) -> Iterator[tuple[int, list[str]]]:
        with _workbook_errors(path), closing(_opened(path, stored_values=True)) as workbook:
            for line, row in enumerate(workbook[title].iter_rows(), start=1):
                cells = ["" if cell.data_type == "e" else text_of(cell.value) for cell in row]
                if any(cells):
                    yield line, _within_bounds(cells, path, title, line)

    return rows


def _within_bounds(cells: list[str], path: Path, title: str, line: int) -> list[str]:
    """Returns the cells up to the last filled one. Raises LoadError if a cell is too long or there are too many."""
    if any(len(cell) > MAX_LITERAL_BYTES for cell in cells):
        raise LoadError(TOO_LONG_LITERAL, path.name)
    last = max(place for place, cell in enumerate(cells, start=1) if cell)
    if last > MAX_COLUMNS:
        raise LoadError(f"a sheet with more than {MAX_COLUMNS} columns", f"{path.name}/{title}", line)
    return cells[:last]


def _notes(path: Path, title: str) -> tuple[tuple[int, str], ...]:
    """Returns notes on formulas, errors and merged cells: the number of each, and where the first is."""
    formulas: dict[str, None] = {}
    errors: list[str] = []
    with closing(_opened(path, stored_values=False)) as workbook:
        sheet = workbook[title]
        part = getattr(sheet, "_worksheet_path", "")
        for row in sheet.iter_rows():
            formulas.update((cell.coordinate, None) for cell in row if cell.data_type == "f")
            errors += [cell.coordinate for cell in row if cell.data_type == "e"]
    lost = _without_result(path, title, formulas)
    merged = _merged(path, part)
    place = f"of {path.name}/{title}"
    told: tuple[tuple[Collection[str], str], ...] = (
        (lost, f"formulas {place} have no stored result and were left out: open it, save it, and load it again"),
        ([at for at in formulas if at not in lost], f"formulas {place} were read as the results that it stores"),
        (errors, f"cells {place} hold an error and were left out"),
        (merged, f"merged cells {place}: their text counts for the first of them alone"),
    )
    return tuple((len(cells), f"{sentence} (the first at {next(iter(cells))})") for cells, sentence in told if cells)


def _without_result(path: Path, title: str, formulas: Iterable[str]) -> dict[str, None]:
    """Returns the places of those formulas for which the workbook stores no result, or an error."""
    left = dict.fromkeys(formulas)
    if left:
        with closing(_opened(path, stored_values=True)) as workbook:
            for row in workbook[title].iter_rows():
                for cell in row:
                    if cell.value is not None and cell.data_type != "e":
                        left.pop(cell.coordinate, None)
    return left


def _merged(path: Path, part: str) -> list[str]:
    found: dict[str, None] = {}
    with zipfile.ZipFile(path) as packed:
        if part not in packed.namelist():
            return []
        with packed.open(part) as stream:
            tail = b""
            for chunk in _chunks(stream):
                found |= dict.fromkeys(at.decode() for at in _MERGED.findall(tail + chunk))
                tail = chunk[-_OVERLAP_BYTES:]
    return [*found]


MAX_BYTES: Final = 1 << 27
_NOT_READABLE_OTHER: Final = "not a workbook that can be read, or too large: save it as .xlsx"
_READER: Final = ("-m", "kg_store.formats.workbook_process")


def sheets_of_other_workbook(path: Path) -> list[TableOfFile]:
    """Returns the sheets of a workbook that is not .xlsx; sheets with fewer than two filled lines are left out.

    Raises LoadError if the file is not a workbook or too large, or if all sheets are empty.
    """
    if path.stat().st_size > MAX_BYTES:
        raise LoadError(f"a workbook of more than {MAX_BYTES >> 20} MB: save its sheets as CSV", path.name)
    if path.suffix.lower() != ".xls":
        check_size(path)
    printed = _printed(path)
    sheets = next(printed, [])
    _require_few(sheets, path)
    filled = Counter(name for name, *_ in printed)
    chosen = [(name, is_hidden) for name, is_hidden in sheets if filled[name] > 1]
    if not chosen:
        raise LoadError(_NO_TABLE, path.name)
    hidden = ((1, f"hidden sheets of {path.name} were read as well"),)
    return [TableOfFile(name, _rows_of_other(path, name), hidden if is_hidden else ()) for name, is_hidden in chosen]


def _rows_of_other(path: Path, title: str) -> Callable[[object], Rows]:
    def rows(_table: object) -> Iterator[tuple[int, list[str]]]:
        printed = _printed(path)
        next(printed, None)
        for name, line, cells in printed:
            if name == title:
                yield line, _within_bounds(cells, path, title, line)

    return rows


def _printed(path: Path) -> Iterator[list[Any]]:
    """Yields the lines that `workbook_process` prints. Raises LoadError if it ends with an error."""
    command = [sys.executable, *_READER, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as running:  # noqa: S603  # nosec B603
        assert running.stdout is not None
        for line in running.stdout:
            yield json.loads(line)
    if running.returncode:
        raise LoadError(_NOT_READABLE_OTHER, path.name)
