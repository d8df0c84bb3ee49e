"""Finds a last row of totals in the columns of a table, and takes it out of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isclose
from typing import Final, get_args

from kg_store.proposals.column_profiles import Column
from kg_store.sources.totals import Sums, number_in
from kg_store.terms import ValueKind
from kg_store.text.notation import DecimalMark

MIN_SUMMED: Final = 3
"""The fewest numbers above their sum; of fewer, a sum may be chance."""
MARKS: Final[tuple[DecimalMark, ...]] = get_args(DecimalMark)
MIN_SURE: Final = 5
"""Where nothing else shows that a row is one of totals, the fewest numbers above one sum. Chosen by hand."""


def find_totals(parts: Sequence[Mapping[str, list[str]]]) -> bool | None:
    """Returns True, and takes the last row out of each part, if that holds the sums of the rows above it.

    Returns None, and leaves the parts as they are, if it may be chance; and False if there are no sums.
    """
    found = [_verdict(part) for part in parts]
    if True not in found:
        return None if None in found else False
    for part, verdict in zip(parts, found, strict=True):
        for cells in part.values() if verdict is not False else ():
            del cells[-1]
    return True


def _verdict(columns: Mapping[str, list[str]]) -> bool | None:
    rows = list(zip(*columns.values(), strict=True))
    if len(rows) <= MIN_SUMMED:
        return False
    likely = {at: name for at, name in enumerate(columns) if any(map(str.isdigit, rows[-1][at]))}
    if not any(_may_be_sum(columns[name], mark) for name in likely.values() for mark in MARKS):
        return False
    profiles = {at: Column.of(name, columns[name]) for at, name in likely.items()}
    numbers = {at: each for at, each in profiles.items() if each.kind is ValueKind.NUMBER and not each.is_called_key}
    sums = Sums({at: each.decimal for at, each in numbers.items()})
    for row in rows[:-1] if numbers else ():
        sums.add(row)
    places = sums.places_in(rows[-1])
    if not places or min(sums.filled[at] for at in places) < MIN_SUMMED:
        return False
    is_bare = any(not rows[-1][at] and all(row[at] for row in rows[:-1]) for at in range(len(columns)))
    is_sure = len(places) > 1 or is_bare or sums.filled[places[0]] >= MIN_SURE
    return True if is_sure else None


def _may_be_sum(cells: Sequence[str], mark: DecimalMark) -> bool:
    """Returns True if the last cell is the sum of the others. Most columns of many rows show soon that it is not."""
    last, total = number_in(cells[-1], mark), 0.0
    only_grows = not any(cell.startswith("-") for cell in cells)
    for cell in cells[:-1] if last is not None else ():
        total += number_in(cell, mark) or 0.0
        if only_grows and total > (last or 0.0) * 1.01:
            return False
    return last is not None and isclose(total, last, rel_tol=1e-9)
