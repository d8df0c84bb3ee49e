"""Leaves out a last row of totals: one whose numbers are the sums of the rows above it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import isclose
from typing import Final

from kg_store.formats.delimited_text import Rows
from kg_store.sources.table_policy import TablePolicy
from kg_store.terms import ValueKind
from kg_store.text.notation import DecimalMark, plain_number_in

MIN_ROWS: Final = 2
"""Of fewer rows above it, a row that repeats a number would be their sum."""
_LEFT_OUT: Final = "last rows of {} hold the sums of the rows above them, and were left out (`totals` in the policy)"


class Sums:
    """The sums of some columns over the rows that were added.

    `marks`: the decimal mark of each column, by its place. `filled`: how many numbers other than 0 each column has.
    """

    def __init__(self, marks: Mapping[int, DecimalMark | None]) -> None:
        self._marks = marks
        self._sums, self.filled = dict.fromkeys(marks, 0.0), Counter[int]()

    def add(self, cells: Sequence[str]) -> None:
        for place, mark in self._marks.items():
            number = number_in(cells[place], mark)
            if number:
                self._sums[place] += number
                self.filled[place] += 1

    def places_in(self, cells: Sequence[str]) -> list[int]:
        """Returns the places of the numbers in a row that are the sums; none if one of its numbers is not."""
        found = {place: number_in(cells[place], mark) for place, mark in self._marks.items()}
        numbers = {place: number for place, number in found.items() if number is not None}
        are_sums = (
            self.filled[place] >= MIN_ROWS and isclose(self._sums[place], number, rel_tol=1e-9)
            for place, number in numbers.items()
        )
        return [*numbers] if all(are_sums) else []


def without_totals(lines: Rows, table: TablePolicy, name: str, odd: Counter[str] | None) -> Rows:
    """Yields the lines of a table from its header on, without a last one that holds the sums of those above.

    It is counted in `odd`.
    """
    first = next(lines)
    yield first
    values = {
        column: settings.decimal
        for column, settings in table.columns.items()
        if settings.kind is ValueKind.NUMBER and settings.table is None and settings.concept is None
    }
    sums = Sums({place: values[column] for place, column in enumerate(first[1]) if column in values})
    last: tuple[int, list[str]] | None = None
    for line in lines:
        if last is not None:
            sums.add(last[1])
            yield last
        last = line
    if last is not None and not sums.places_in(last[1]):
        yield last
    elif last is not None and odd is not None:
        odd[_LEFT_OUT.format(name)] += 1


def number_in(cell: str, mark: DecimalMark | None) -> float | None:
    """Returns the number that a cell holds; None if it holds none."""
    try:
        return float(plain_number_in(cell, mark or "."))
    except ValueError:
        return None
