"""Sums and averages by group, groups of dates by year or month, and the best of some values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Final

import numpy as np

from kg_store.algebra.expressions import ResultSet, ResultTable, Row
from kg_store.algebra.relation_values import Measures, RelationValues, Value
from kg_store.errors import ExpressionError
from kg_store.terms import NO_MIDS, Edges, ValueKind, as_mids
from kg_store.text.dates import PartialDate, Precision

_DECIMALS, _LEAST_DIGITS = 4, 6  # of an average
_NEEDED: Final = {"year": Precision.YEAR, "month": Precision.MONTH}


def average_of(numbers: list[Decimal]) -> Decimal:
    """Returns the mean, rounded to four decimals, or to more if a small number would have fewer than six digits."""
    average = sum(numbers, start=Decimal(0)) / len(numbers)
    return round(average, max(_DECIMALS, _LEAST_DIGITS - 1 - average.adjusted()))


def counts_per_group(relations: RelationValues, edges: Edges, period: str = "") -> ResultTable:
    """Counts the heads of each tail, largest first; with a `period` by year or month, in order of time."""
    if not period:
        things, counts = np.unique(edges.tails, return_counts=True)
        rows = zip(things.tolist(), counts.tolist(), strict=True)
        return ResultTable(tuple(sorted(rows, key=lambda row: (-row[1], row[0]))))
    heads: defaultdict[str, set[int]] = defaultdict(set)
    for head, label in _in_periods(relations, edges, period):
        heads[label].add(head)
    return ResultTable(tuple((label, len(heads[label])) for label in sorted(heads)))


def counts_by_head(edges: Edges) -> dict[int, Decimal]:
    """Returns the number of tails of each head."""
    heads, counts = np.unique(edges.heads, return_counts=True)
    return {head: Decimal(number) for head, number in zip(heads.tolist(), counts.tolist(), strict=True)}


def totals_per_group(
    relations: RelationValues, edges: Edges, measures: Measures, total: Callable[[list[Decimal]], Decimal], period: str
) -> ResultTable:
    """Returns for each tail (or period) what `total` gives for the measures of its heads."""
    numbers = numbers_of(measures)
    pairs: Iterable[tuple[int, int | str]] = (
        _in_periods(relations, edges, period)
        if period
        else zip(edges.heads.tolist(), edges.tails.tolist(), strict=True)
    )
    found: defaultdict[int | str, list[Decimal]] = defaultdict(list)
    for head, group in pairs:
        found[group] += numbers.get(head, [])
    rows: list[Row] = [(group, total(some)) for group, some in found.items() if some]
    in_order: Callable[[Row], object] = (lambda row: row[0]) if period else (lambda row: (-row[1], row[0]))
    return ResultTable(tuple(sorted(rows, key=in_order)))  # type: ignore[arg-type]


def numbers_of(measures: Measures) -> dict[int, list[Decimal]]:
    """Returns the numbers of each entity. Raises ExpressionError for dates, which cannot be added."""
    if measures.kind is ValueKind.DATE:
        raise ExpressionError("that adds up numbers; these values are dates")
    return measures.by_entity()


def totals_by_head(edges: Edges, measures: Measures) -> dict[int, Decimal]:
    """Returns for each head the sum of the numbers of its tails; heads without any number are left out."""
    numbers, totals = numbers_of(measures), dict[int, Decimal]()
    for head, tail in zip(edges.heads.tolist(), edges.tails.tolist(), strict=True):
        for number in numbers.get(tail, []):
            totals[head] = totals.get(head, Decimal(0)) + number
    return totals


def best_of(measured: dict[int, list[Decimal]], choose: Callable[[Iterable[Decimal]], Decimal]) -> ResultSet:
    """Returns every entity that has the best value."""
    if not measured:
        return ResultSet(NO_MIDS)
    own = {entity: choose(keys) for entity, keys in measured.items()}
    best = choose(own.values())
    return ResultSet(as_mids([entity for entity, key in own.items() if key == best]))


def in_order(mids: Iterable[int], measured: dict[int, list[Decimal]], *, is_ascending: bool) -> list[int]:
    """Returns `mids` sorted by their values; those without a value come last."""
    keys = {mid: min(values) if is_ascending else -max(values) for mid, values in measured.items()}
    known = sorted(mids)
    return [*sorted((mid for mid in known if mid in keys), key=keys.__getitem__), *(m for m in known if m not in keys)]


def joined(parts: list[Edges]) -> Edges:
    """Returns all pairs of `parts`, each once."""
    pairs = np.concatenate([np.stack([part.heads, part.tails], axis=1) for part in parts])
    pairs = np.unique(pairs, axis=0)
    return Edges(pairs[:, 0], pairs[:, 1])


def leading_to(edges: Edges, ends: ResultSet) -> Edges:
    """Returns the `edges` whose tail is one of `ends`."""
    kept = np.isin(edges.tails, ends.mids)
    return Edges(edges.heads[kept], edges.tails[kept])


def minus(first: Value, second: Value) -> Decimal:
    """Returns `first` minus `second`: numbers, or the whole years between two dates. Raises ExpressionError for
    others.
    """
    for kind in (ValueKind.NUMBER, ValueKind.DATE):
        if {first.kind, second.kind} != {kind}:
            continue
        one, other = first.read_as(kind), second.read_as(kind)
        if isinstance(one, Decimal) and isinstance(other, Decimal):
            return one - other
        if isinstance(one, PartialDate) and isinstance(other, PartialDate):
            return Decimal(-_years(one, other) if one.instant < other.instant else _years(other, one))
    raise ExpressionError("minus takes two numbers, or two dates")


def _years(early: PartialDate, late: PartialDate) -> int:
    """The whole years from `early` to `late`, at the precision that both share."""
    shared = min(early.precision, late.precision)
    if shared < Precision.YEAR:
        raise ExpressionError("no year is known")
    parts = [((each.month or 0), (each.day or 0))[: int(shared) - 1] for each in (early, late)]
    return late.year - early.year - (parts[1] < parts[0])


def _in_periods(relations: RelationValues, edges: Edges, period: str) -> Iterable[tuple[int, str]]:
    """Each head with the year or month of its tails (2024, 2024-05); dates that are less precise are left out."""
    labels = {mid: _period_of(value, period) for mid, value in relations.values(edges.tails).items()}
    if len(edges.tails) and not any(labels.values()):
        raise ExpressionError(f"that leads to no dates with a {period}")
    for head, tail in zip(edges.heads.tolist(), edges.tails.tolist(), strict=True):
        if label := labels.get(tail, ""):
            yield head, label


def _period_of(value: Value, period: str) -> str:
    found = value.read_as(ValueKind.DATE) if value.kind is ValueKind.DATE else None
    if not isinstance(found, PartialDate) or found.precision < _NEEDED[period]:
        return ""
    return f"{found.year:04d}" + (f"-{found.month:02d}" if period == "month" else "")
