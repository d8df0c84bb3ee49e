"""Tables in Markdown, for reports and evaluation results."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_BREAK = re.compile(r"\s*[\r\n]+\s*")


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Returns a table that ends with a line break; bars and line breaks inside cells are escaped or removed."""
    from tabulate import DataRow, TableFormat, tabulate

    # Like tabulate's format `github`, except for the line below the head, which would be as wide as the longest cell.
    row = DataRow("|", "|", "|")
    narrow = TableFormat(None, lambda widths, _: "|" + "---|" * len(widths), None, None, row, row, 1, ["lineabove"])
    cells = [[_cell(str(cell)) for cell in row] for row in rows]
    # Cells are not aligned, because one long cell would make every line as long.
    return tabulate(cells, list(head), tablefmt=narrow, disable_numparse=True, stralign=None, numalign=None) + "\n"


def _cell(text: str) -> str:
    return _BREAK.sub(" ", text).replace("|", "\\|")
