"""Reads an older workbook in a separate process: `python -m kg_store.formats.workbook_process PATH`.

A few bytes of such a file can claim that a sheet has a billion rows, and the library that reads it allocates memory
for them at once; then only this process ends. Prints one line of JSON for the sheets, as a list of [name, is hidden],
and one for every filled row, as [sheet, line, cells].
"""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from typing import Final


def text_of(value: object) -> str:
    """Returns a cell's value as text.

    Days without a time become ISO dates, whole numbers lose their point, time spans are in seconds.
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat(timespec="seconds")
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, timedelta):
        return f"{value.total_seconds():g} seconds"
    return str(value).strip()


MAX_MEMORY_BYTES: Final = 1 << 30
MAX_SECONDS: Final = 300


def main(path: str) -> None:
    """Prints a workbook. The exit code is not 0 if it cannot be read, or takes too much memory or time."""
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (MAX_SECONDS, MAX_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for row in _printed(path):
        print(json.dumps(row, ensure_ascii=True))


def _printed(path: str) -> Iterator[object]:
    from python_calamine import CalamineWorkbook, SheetTypeEnum, SheetVisibleEnum

    workbook = CalamineWorkbook.from_path(path)
    sheets = [each for each in workbook.sheets_metadata if each.typ is SheetTypeEnum.WorkSheet]
    yield [[each.name, each.visible is not SheetVisibleEnum.Visible] for each in sheets]
    for sheet in sheets:
        for line, row in enumerate(workbook.get_sheet_by_name(sheet.name).to_python(skip_empty_area=False), start=1):
            cells = [text_of(cell) for cell in row]
            if any(cells):
                yield [sheet.name, line, cells]


if __name__ == "__main__":
    main(sys.argv[1])
