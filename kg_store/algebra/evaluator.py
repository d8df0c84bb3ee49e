"""Evaluates expressions of the set algebra on the real data: to sets, counts, numbers and tables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from decimal import Context, Decimal, localcontext
from typing import Final

import numpy as np

from kg_store.algebra.expressions import (
    Call,
    Expression,
    ExpressionResult,
    Operand,
    Result,
    ResultKinds,
    ResultSet,
    ResultTable,
    Row,
    as_set,
    outcome_of,
)
from kg_store.algebra.missing_values import MissingValues, MissingValuesFinder
from kg_store.algebra.relation_values import (
    Measures,
    Records,
    RelationValues,
    Value,
    compared,
    of_their_year,
    union_of,
)
from kg_store.errors import ExpressionError
from kg_store.graph.blind_graph import BlindGraph
from kg_store.terms import NO_MIDS, Edges, ValueKind, as_mids
from kg_store.text.dates import PartialDate, Precision
from kg_store.text.literals import plain_number

_DECIMALS, _LEAST_DIGITS = 4, 6  # The decimals of an average, and its fewest significant digits.
_NEEDED: Final = {"year": Precision.YEAR, "month": Precision.MONTH}


def average_of(numbers: list[Decimal]) -> Decimal:
    """Returns the mean, rounded to four decimals; a small mean keeps six significant digits instead (0.00123456)."""
    average = sum(numbers, start=Decimal(0)) / len(numbers)
    return round(average, max(_DECIMALS, _LEAST_DIGITS - 1 - average.adjusted()))


def counts_per_group(relations: RelationValues, edges: Edges, period: str = "") -> ResultTable:
    """Returns the number of heads for each tail of `edges`, the largest first: the patients of each doctor.

    With a `period` (year or month), tails are dates, and heads are counted for each year or month, in order of time.
    """
    if not period:
        things, counts = np.unique(edges.tails, return_counts=True)
        rows = zip(things.tolist(), counts.tolist(), strict=True)
        return ResultTable(tuple(sorted(rows, key=lambda row: (-row[1], row[0]))))
    heads: defaultdict[str, set[int]] = defaultdict(set)
    for head, label in _in_periods(relations, edges, period):
        heads[label].add(head)
    return ResultTable(tuple((label, len(heads[label])) for label in sorted(heads)))


def counts_by_head(edges: Edges) -> dict[int, Decimal]:
    """Returns the number of tails that `edges` give each head."""
    heads, counts = np.unique(edges.heads, return_counts=True)
    return {head: Decimal(number) for head, number in zip(heads.tolist(), counts.tolist(), strict=True)}


def totals_per_group(
    relations: RelationValues, edges: Edges, measures: Measures, total: Callable[[list[Decimal]], Decimal], period: str
) -> ResultTable:
    """Returns one number for each tail of `edges`: the `total` (sum or mean) of the measures of its heads.

    Example: the average salary (measure) of the employees (heads) of each ward (tail). With a `period`, tails are
    dates, and there is one number for each year or month.
    """
    numbers = _numbers_of(measures)
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


def _numbers_of(measures: Measures) -> dict[int, list[Decimal]]:
    if measures.kind is ValueKind.DATE:
        raise ExpressionError("that adds up numbers; these values are dates")
    return measures.by_entity()


def totals_by_head(edges: Edges, measures: Measures) -> dict[int, Decimal]:
    """Returns for each head of `edges` the sum of `measures` over its tails.

    Heads whose tails have no number are left out.
    """
    numbers, totals = _numbers_of(measures), dict[int, Decimal]()
    for head, tail in zip(edges.heads.tolist(), edges.tails.tolist(), strict=True):
        for number in numbers.get(tail, []):
            totals[head] = totals.get(head, Decimal(0)) + number
    return totals


def best_of(measured: dict[int, list[Decimal]], choose: Callable[[Iterable[Decimal]], Decimal]) -> ResultSet:
    """Returns every entity that has the best value; `choose` is `min` or `max`."""
    if not measured:
        return ResultSet(NO_MIDS)
    own = {entity: choose(keys) for entity, keys in measured.items()}
    best = choose(own.values())
    return ResultSet(as_mids([entity for entity, key in own.items() if key == best]))


def in_order(mids: Iterable[int], measured: dict[int, list[Decimal]], *, is_ascending: bool) -> list[int]:
    """Returns `mids` sorted by their values in `measured`, by the least if ascending, by the greatest if descending.

    Those without a value come last.
    """
    keys = {mid: min(values) if is_ascending else -max(values) for mid, values in measured.items()}
    known = sorted(mids)
    return [*sorted((mid for mid in known if mid in keys), key=keys.__getitem__), *(m for m in known if m not in keys)]


def minus(first: Value, second: Value) -> Decimal:
    """Returns the difference of two numbers, or of two dates in whole years. Raises ExpressionError."""
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
    """Returns the whole years from `early` to `late`, at the precision that both share."""
    shared = min(early.precision, late.precision)
    if shared < Precision.YEAR:
        raise ExpressionError("no year is known")
    parts = [((each.month or 0), (each.day or 0))[: int(shared) - 1] for each in (early, late)]
    return late.year - early.year - (parts[1] < parts[0])


def _in_periods(relations: RelationValues, edges: Edges, period: str) -> Iterable[tuple[int, str]]:
    """Yields each head with the year or month of its tails (2024, 2024-05); less precise dates are left out."""
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


_DIGITS = 28
MAX_FIRST = 1_000_000_000


class SetAlgebra:
    """Evaluates expressions on a blind graph, with the values of the vault of the same version. Thread-safe.

    `count` counts distinct members. `!=` keeps entities that have a value outside of V; the other operators keep
    entities with a value for which the comparison with any member of V is true. In a relation of numbers or dates,
    `having` takes no text for a value. If an entity has several values,
    argmax, compare and descending order use the greatest, argmin and ascending order the least. `compare` returns the
    empty set if A or B has no value. Over no values, sum, average, min and max give the empty set, not 0. Sums and
    averages count a value twice if a relation reaches it through two mediators.
    """

    def __init__(self, graph: BlindGraph, vault: Records) -> None:
        self._relations = RelationValues(graph, vault)

    def evaluate(self, expression: Expression, operand: Callable[[str], Operand]) -> ExpressionResult:
        """Returns the result of an expression; `operand` gives the meaning of each pseudonym.

        Raises ExpressionError if operands do not fit, and any error that `operand` raises.
        """
        with localcontext(Context(prec=_DIGITS)):
            return outcome_of(_Evaluation(self._relations, operand).result_of(expression))

    def missing_values(self, expression: Expression, operand: Callable[[str], Operand]) -> tuple[MissingValues, ...]:
        """Returns which members lack the values that `expression` compares or counts. Raises as `evaluate` does."""
        run = _Evaluation(self._relations, operand)
        with localcontext(Context(prec=_DIGITS)):
            return MissingValuesFinder(self._relations, lambda each: as_mids(as_set(run.result_of(each)).mids)).find(
                expression
            )

    def years_met(self, expression: Expression, operand: Callable[[str], Operand]) -> set[int]:
        """Returns the years of the dates that equal a date without a year. Raises as `evaluate` does."""
        run = _Evaluation(self._relations, operand)
        run.result_of(expression)
        return run.years


class _Evaluation:
    """The evaluation of one expression over one caller's pseudonyms.

    `years`: those of the dates that were found equal to a date without a year.
    """

    def __init__(self, relations: RelationValues, operand: Callable[[str], Operand]) -> None:
        self._relations, self._operand = relations, operand
        self.years: set[int] = set()
        self._functions: dict[str, Callable[[Call], Result]] = {
            "intersect": self._intersect,
            "union": self._union,
            "difference": self._difference,
            "exists": lambda call: len(self._set(call, 0).mids) > 0,
            "none": lambda call: len(self._set(call, 0).mids) == 0,
            "outnumbers": lambda call: len(self._set(call, 0).mids) > len(self._set(call, 1).mids),
            "holds": self._holds,
            "having": self._having,
            "kind": lambda call: ResultKinds(self._relations.kinds(self._set(call, 0).mids)),
            "count": lambda call: Decimal(len(self._set(call, 0).mids)),
            "sum": self._sum,
            "average": self._average,
            "min": lambda call: self._extreme(call, min),
            "max": lambda call: self._extreme(call, max),
            "filter": self._filter,
            "matching": self._matching,
            "argmax": lambda call: best_of(self._measured(self._set(call, 0), call.words[0]), max),
            "argmin": lambda call: best_of(self._measured(self._set(call, 0), call.words[0]), min),
            "most": lambda call: self._by_count(call, max),
            "fewest": lambda call: self._by_count(call, min),
            "counted": self._counted,
            "group": self._group,
            "sums": lambda call: self._totals(call, lambda numbers: sum(numbers, start=Decimal(0))),
            "averages": lambda call: self._totals(call, average_of),
            "minus": self._minus,
            "reach": self._reach,
            "compare": self._compare,
            "sort": self._sort,
            "limit": self._limit,
            "pairs": self._pairs,
        }

    def result_of(self, expression: Expression) -> Result:
        if isinstance(expression, Call):
            return self._functions[expression.function](expression)
        operand = self._operand(expression.pseudonym)
        return ResultSet(as_mids(operand.mids), edges=operand.edges, literal=operand.literal)

    def _set(self, call: Call, position: int) -> ResultSet:
        return as_set(self.result_of(call.operands[position]))

    def _holds(self, call: Call) -> Result:
        values = self._relations.values(self._set(call, 0).mids).values()
        truths = [value.read_as(ValueKind.TRUTH) for value in values]
        if not truths:
            return ResultSet(NO_MIDS)
        if any(not isinstance(truth, bool) for truth in truths):
            raise ExpressionError("holds takes truth values")
        return all(truths)

    def _having(self, call: Call) -> Result:
        if not call.words:
            raise ExpressionError("the relation that ties them has to be named first")
        entities = self._set(call, 0)
        edges = self._relations.edges(as_mids(entities.mids), call.words[0])
        values = self._relations.values(edges.tails).items()
        false = [mid for mid, value in values if value.kind == ValueKind.TRUTH and not value.read_as(ValueKind.TRUTH)]
        if self._relations.ordered_kind(call.words[0]) is not None:
            false += [mid for mid, value in values if value.kind is ValueKind.TEXT]  # `pending` is no date.
        return entities.keep(np.isin(entities.mids, edges.heads[~np.isin(edges.tails, false)]))

    def _intersect(self, call: Call) -> Result:
        first = self._set(call, 0)
        for position in range(1, len(call.operands)):
            first = first.keep(np.isin(first.mids, self._set(call, position).mids))
        return first

    def _difference(self, call: Call) -> Result:
        first = self._set(call, 0)
        return first.keep(~np.isin(first.mids, self._set(call, 1).mids))

    def _union(self, call: Call) -> Result:
        sets = [self._set(call, position) for position in range(len(call.operands))]
        # Sums over the union run over (entity, value) pairs.
        edges = union_of([each.pairs() for each in sets]) if any(each.edges for each in sets) else None
        return ResultSet(as_mids(np.concatenate([each.mids for each in sets])), edges=edges)

    def _sum(self, call: Call) -> Result:
        numbers = self._numbers(call)
        return sum(numbers, start=Decimal(0)) if numbers else ResultSet(NO_MIDS)

    def _average(self, call: Call) -> Result:
        numbers = self._numbers(call)
        return average_of(numbers) if numbers else ResultSet(NO_MIDS)

    def _numbers(self, call: Call) -> list[Decimal]:
        """Returns the numbers to add up, one for each (entity, value) pair; a pair joined by two mediators gives two.

        Raises ExpressionError if the values are dates.
        """
        measures = self._measures(call)
        if measures.kind is ValueKind.DATE:
            raise ExpressionError(f"{call.function} takes numbers; these values are dates")
        return [measures.keys[value] for _, value in measures.pairs]

    def _extreme(self, call: Call, choose: Callable[[Iterable[Decimal]], Decimal]) -> Result:
        measures = self._measures(call)
        if not measures.pairs:
            return ResultSet(NO_MIDS)
        best = choose(measures.keys[value] for _, value in measures.pairs)
        if measures.kind is ValueKind.NUMBER:
            return best
        return ResultSet(as_mids([value for _, value in measures.pairs if measures.keys[value] == best]))

    def _measures(self, call: Call) -> Measures:
        operand = self._set(call, 0)
        if call.words:
            return self._relations.measures_of(as_mids(operand.mids), call.words[0])
        return self._relations.measures(operand.pairs())

    def _filter(self, call: Call) -> Result:
        entities, (label, operator, *number) = self._set(call, 0), call.words
        other = Decimal(number[0]) if number else self.result_of(call.operands[1])
        if self._relations.sides_of(label) is not None:
            return self._of_worked_out(entities, label, operator, other)
        edges = self._relations.edges(as_mids(entities.mids), label)
        tails = self._passing(edges, operator, other)
        return entities.keep(np.isin(entities.mids, edges.heads[np.isin(edges.tails, tails)]))

    def _matching(self, call: Call) -> Result:
        entities, (first, operator, second) = self._set(call, 0), call.words
        found = self._relations.matching(as_mids(entities.mids), first, operator, second)
        return entities.keep(np.isin(entities.mids, found))

    def _of_worked_out(self, entities: ResultSet, label: str, operator: str, other: Result) -> ResultSet:
        measured, limits = self._measured(entities, label), self._comparands(other)[1]
        passing = [
            entity
            for entity, numbers in measured.items()
            if compared(operator, Value(plain_number(numbers[0]), ValueKind.NUMBER), limits)
        ]
        return entities.keep(np.isin(entities.mids, passing))

    def _passing(self, edges: Edges, operator: str, other: Result) -> list[int]:
        """Returns the tails of `edges` that compare with `other` as the operator says, such as `tail >= other`.

        Raises ExpressionError if no tail has an order in common with `other`.
        """
        same, others = self._comparands(other)
        values = self._relations.values_or_dates(edges.tails) if others else self._relations.values(edges.tails)
        if operator not in ("=", "!="):
            others = of_their_year(others, list(values.values()))
        verdicts: dict[int, bool | None] = {}
        for tail in np.unique(edges.tails).tolist():
            if operator in ("=", "!="):
                equal = tail in same or (tail in values and bool(compared("=", values[tail], others)))
                verdicts[tail] = equal == (operator == "=")
            else:
                verdicts[tail] = compared(operator, values[tail], others) if tail in values else None
        if (others or same) and verdicts and all(verdict is None for verdict in verdicts.values()):
            raise ExpressionError("the values of that relation have no order in common with the last argument")
        if operator == "=" and any(map(Value.is_yearly, others)):
            self.years |= {year for tail, verdict in verdicts.items() if verdict and (year := values[tail].year)}
        return [tail for tail, verdict in verdicts.items() if verdict]

    def _comparands(self, other: Result) -> tuple[set[int], list[Value]]:
        """Returns what a filter compares with: the MIDs of `other`, and its values, which may be dates in names."""
        if isinstance(other, Decimal):
            return set(), [Value(plain_number(other), None)]
        operand = as_set(other)
        values = list(self._relations.values_or_dates(operand.mids).values())
        typed = [] if operand.literal is None else [Value(operand.literal, None)]
        return set(operand.mids.tolist()), values + typed

    def _compare(self, call: Call) -> Result:
        sides = [self._set(call, 0), self._set(call, 1)]
        both = ResultSet(as_mids(np.concatenate([side.mids for side in sides])))
        measured = self._measured(both, call.words[0])
        if not all(any(mid in measured for mid in side.mids.tolist()) for side in sides):
            return ResultSet(NO_MIDS)
        return best_of(measured, max)

    def _measured(self, entities: ResultSet, label: str) -> dict[int, list[Decimal]]:
        return self._relations.measures_of(as_mids(entities.mids), label).by_entity()

    def _edges(self, entities: ResultSet, call: Call, towards: int) -> Edges:
        """Returns the (head, tail) pairs that the call's relation joins, with heads in `entities`.

        If the call has an operand at position `towards`, only pairs whose tail is in that operand's set are returned.
        """
        edges = self._relations.edges(as_mids(entities.mids), call.words[0])
        if len(call.operands) <= towards:
            return edges
        kept = np.isin(edges.tails, self._set(call, towards).mids)
        return Edges(edges.heads[kept], edges.tails[kept])

    def _by_count(self, call: Call, choose: Callable[[Iterable[Decimal]], Decimal]) -> Result:
        """Returns the entities with the most or fewest tails of the relation, as `choose` (max or min) says.

        With a second relation in the call, the sum of the tails' values decides instead of their number. An entity
        without tails counts 0.
        """
        entities = self._set(call, 0)
        edges = self._edges(entities, call, towards=1)
        if len(call.words) > 1:
            found = totals_by_head(edges, self._relations.measures_of(as_mids(edges.tails), call.words[1]))
        else:
            found = counts_by_head(edges)
        if not found:
            return ResultSet(NO_MIDS)
        own = np.array([found.get(mid, Decimal(0)) for mid in entities.mids.tolist()])
        return entities.keep(own == choose(own))

    def _counted(self, call: Call) -> Result:
        """Returns the entities whose number of tails fits the operator and the number of the call: `>= 3`.

        No tail counts as 0.
        """
        entities, (_, operator, *number) = self._set(call, 0), call.words
        found = counts_by_head(self._edges(entities, call, towards=1 if number else 2))
        limits = [Value(number[0], None)] if number else self._comparands(self.result_of(call.operands[1]))[1]
        numbers = (Value(str(found.get(mid, 0)), ValueKind.NUMBER) for mid in entities.mids.tolist())
        return entities.keep(np.array([bool(compared(operator, each, limits)) for each in numbers], dtype=np.bool_))

    def _group(self, call: Call) -> Result:
        edges = self._relations.edges(as_mids(self._set(call, 0).mids), call.words[0])
        return counts_per_group(self._relations, edges, *call.words[1:])

    def _totals(self, call: Call, total: Callable[[list[Decimal]], Decimal]) -> Result:
        entities, (label, measure, *period) = as_mids(self._set(call, 0).mids), call.words
        measures = self._relations.measures_of(entities, measure)
        edges = self._relations.edges(entities, label)
        return totals_per_group(self._relations, edges, measures, total, *period or [""])

    def _minus(self, call: Call) -> Result:
        """Returns the difference of two values; the empty set if one side has no value."""
        first, second = (self._single(self.result_of(operand)) for operand in call.operands)
        return minus(first, second) if first and second else ResultSet(NO_MIDS)

    def _single(self, result: Result) -> Value | None:
        """Returns the single number or value of `result`; None if it is empty. Raises ExpressionError for several."""
        if isinstance(result, Decimal):
            return Value(plain_number(result), ValueKind.NUMBER)
        operand = as_set(result)
        values = set(self._relations.values(operand.mids).values())
        if len(operand.mids) > 1 or len(values) < len(operand.mids):
            raise ExpressionError("one value is expected on each side")
        return values.pop() if values else Value(operand.literal, None) if operand.literal is not None else None

    def _reach(self, call: Call) -> Result:
        edges = self._relations.edges(as_mids(self._set(call, 0).mids), call.words[0])
        return ResultSet(as_mids(edges.tails), edges=edges)

    def _sort(self, call: Call) -> Result:
        """Returns the set in order; equal values are ordered by MID, members without a value come last."""
        entities, (label, direction) = self._set(call, 0), call.words
        measured = self._measured(entities, label)
        ordered = in_order(entities.mids.tolist(), measured, is_ascending=direction == "ascending")
        return ResultSet(np.array(ordered, dtype=np.int64), ordered=True, edges=entities.edges)

    def _limit(self, call: Call) -> Result:
        result, size = self.result_of(call.operands[0]), self._size(call)
        if isinstance(result, ResultTable):
            return ResultTable(result.rows[:size])
        entities = as_set(result)
        return entities.keep(np.arange(len(entities.mids)) < size)

    def _pairs(self, _call: Call) -> Result:
        """Raises ExpressionError: whoever words an answer of pairs asks for what goes with each thing (`reach`)."""
        raise ExpressionError("pairs are an answer of their own")

    def _size(self, call: Call) -> int:
        if call.words:
            return int(call.words[0])
        size = self._single(self.result_of(call.operands[1]))
        number = size.read_as(ValueKind.NUMBER) if size else None
        if not isinstance(number, Decimal) or number != int(number) or not 0 < number < MAX_FIRST:
            raise ExpressionError("limit takes a whole number")
        return int(number)
