"""Tells the cells that only say that nothing is known (`NULL`, `-`) from values that look like them (`NA`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Final

EMPTY_MARKS: Final = frozenset(
    "NULL null N/A n/a N.A. n.a. NA #N/A #NULL! NaN nan None none nil - -- --- – — ? ?? .. ... … :".split()
)
"""Cells by which databases, spreadsheets, statistical offices (`..`, `:`) and people say that nothing is known."""
MIN_ALIKE_MARKS: Final = 0.8
"""A mark such as `NA` is a value if at least this share of the column's cells look alike (country codes)."""


def empty_marks(cells: Collection[str]) -> frozenset[str]:
    """Returns those of a column's cells that only say that nothing is known (`NULL`, `NA`).

    A mark that has the same shape as most other cells does not count: `NA` in a column of country codes is Namibia.
    """
    marks = frozenset(cells) & EMPTY_MARKS
    others = Counter(shape_of(cell) for cell in cells if cell not in marks) if marks else Counter()
    most = MIN_ALIKE_MARKS * others.total()
    return frozenset(mark for mark in marks if not others or others[shape_of(mark)] < most)


def shape_of(cell: str) -> str:
    """Returns a cell with each character replaced by its class: `NA` -> `AA`, `a-7` -> `a#0`."""
    kinds = ((str.isupper, "A"), (str.isalpha, "a"), (str.isdigit, "0"))
    return "".join(next((mark for is_kind, mark in kinds if is_kind(char)), "#") for char in cell)
