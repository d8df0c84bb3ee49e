"""Executes the set algebra on the real data: from expressions over pseudonyms to sets, counts, numbers and tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Context, Decimal, localcontext
from typing import Protocol

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
    as_set,
    outcome_of,
)
from kg_store.algebra.groups import (
    average_of,
    best_of,
    counts_by_head,
    counts_per_group,
    in_order,
    joined,
    leading_to,
    minus,
    totals_by_head,
    totals_per_group,
)
from kg_store.algebra.relation_values import Measures, Records, RelationValues, Value, compared
from kg_store.errors import ExpressionError
from kg_store.graph.blind_graph import BlindGraph
from kg_store.terms import NO_MIDS, Edges, ValueKind, as_mids
from kg_store.text.literals import plain_number

__all__ = ["ExpressionResult", "Operand", "SetAlgebra", "ValueAlgebra"]

_DIGITS = 28
MAX_FIRST = 1_000_000_000


class SetAlgebra(Protocol):
    """Executes expressions on one version of one graph. Thread-safe."""

    def evaluate(self, expression: Expression, operand: Callable[[str], Operand]) -> ExpressionResult:
        """Returns the result. Raises ExpressionError if operands do not fit, and whatever `operand` raises."""
        ...


class ValueAlgebra:
    """The set algebra over a blind graph, with the values of the vault of the same version.

    `count` counts distinct members. `!=` keeps things with a value outside of V; other operators keep things with a
    value that compares so with any member of V. If a thing has several values, argmax, compare and descending order
    use the greatest, argmin and ascending order the least. `compare` gives nothing if one side has no value. Over no
    values, sum, average, min and max give the empty set, not 0. Measures count a value once for each mediator by which
    a relation reaches it.
    """

    def __init__(self, graph: BlindGraph, vault: Records) -> None:
        self._relations = RelationValues(graph, vault)

    def evaluate(self, expression: Expression, operand: Callable[[str], Operand]) -> ExpressionResult:
        """Does what SetAlgebra says."""
        with localcontext(Context(prec=_DIGITS)):
            return outcome_of(_Evaluation(self._relations, operand).result_of(expression))


class _Evaluation:
    """The evaluation of one expression over one caller's pseudonyms."""

    def __init__(self, relations: RelationValues, operand: Callable[[str], Operand]) -> None:
        self._relations, self._operand = relations, operand
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
        entities = self._set(call, 0)
        edges = self._relations.edges(as_mids(entities.mids), call.words[0])
        values = self._relations.values(edges.tails).items()
        false = [mid for mid, value in values if value.kind == ValueKind.TRUTH and not value.read_as(ValueKind.TRUTH)]
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
        edges = joined([each.pairs() for each in sets]) if any(each.edges for each in sets) else None  # For sums.
        return ResultSet(as_mids(np.concatenate([each.mids for each in sets])), edges=edges)

    def _sum(self, call: Call) -> Result:
        numbers = self._numbers(call)
        return sum(numbers, start=Decimal(0)) if numbers else ResultSet(NO_MIDS)

    def _average(self, call: Call) -> Result:
        numbers = self._numbers(call)
        return average_of(numbers) if numbers else ResultSet(NO_MIDS)

    def _numbers(self, call: Call) -> list[Decimal]:
        """One number for each (entity, value) pair and each mediator between them."""
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
        edges = self._relations.edges(as_mids(entities.mids), label)
        other = Decimal(number[0]) if number else self.result_of(call.operands[1])
        tails = self._passing(edges, operator, other)
        return entities.keep(np.isin(entities.mids, edges.heads[np.isin(edges.tails, tails)]))

    def _passing(self, edges: Edges, operator: str, other: Result) -> list[int]:
        """The tails of `edges` that compare so with `other`."""
        same, others = self._comparands(other)
        values = self._relations.values_or_dates(edges.tails) if others else self._relations.values(edges.tails)
        verdicts: dict[int, bool | None] = {}
        for tail in np.unique(edges.tails).tolist():
            if operator in ("=", "!="):
                equal = tail in same or (tail in values and bool(compared("=", values[tail], others)))
                verdicts[tail] = equal == (operator == "=")
            else:
                verdicts[tail] = compared(operator, values[tail], others) if tail in values else None
        if (others or same) and verdicts and all(verdict is None for verdict in verdicts.values()):
            raise ExpressionError("the values of that relation have no order in common with the last argument")
        return [tail for tail, verdict in verdicts.items() if verdict]

    def _comparands(self, other: Result) -> tuple[set[int], list[Value]]:
        """The operands of a filter: nodes that count as equal, and values to compare with."""
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

    def _by_count(self, call: Call, choose: Callable[[Iterable[Decimal]], Decimal]) -> Result:
        """The entities with the most or fewest; an entity from which the relation leads nowhere counts 0."""
        entities = self._set(call, 0)
        edges = self._relations.edges(as_mids(entities.mids), call.words[0])
        edges = leading_to(edges, self._set(call, 1)) if len(call.operands) > 1 else edges
        if len(call.words) > 1:
            found = totals_by_head(edges, self._relations.measures_of(as_mids(edges.tails), call.words[1]))
        else:
            found = counts_by_head(edges)
        if not found:
            return ResultSet(NO_MIDS)
        own = np.array([found.get(mid, Decimal(0)) for mid in entities.mids.tolist()])
        return entities.keep(own == choose(own))

    def _counted(self, call: Call) -> Result:
        """The entities whose number fits; an entity from which the relation leads nowhere counts 0."""
        entities, (label, operator, *number) = self._set(call, 0), call.words
        edges, some = self._relations.edges(as_mids(entities.mids), label), 1 if number else 2
        edges = leading_to(edges, self._set(call, some)) if len(call.operands) > some else edges
        found = counts_by_head(edges)
        limits = [Value(number[0], None)] if number else self._comparands(self.result_of(call.operands[1]))[1]
        kept = [
            bool(compared(operator, Value(str(found.get(mid, 0)), ValueKind.NUMBER), limits))
            for mid in entities.mids.tolist()
        ]
        return entities.keep(np.array(kept, dtype=np.bool_))

    def _group(self, call: Call) -> Result:
        edges = self._relations.edges(as_mids(self._set(call, 0).mids), call.words[0])
        return counts_per_group(self._relations, edges, *call.words[1:])

    def _totals(self, call: Call, total: Callable[[list[Decimal]], Decimal]) -> Result:
        entities, (label, measure, *period) = as_mids(self._set(call, 0).mids), call.words
        measures = self._relations.measures_of(entities, measure)
        edges = self._relations.edges(entities, label)
        return totals_per_group(self._relations, edges, measures, total, *period or [""])

    def _minus(self, call: Call) -> Result:
        """The difference of two values; the empty set if one side has no value."""
        first, second = (self._single(self.result_of(operand)) for operand in call.operands)
        return minus(first, second) if first and second else ResultSet(NO_MIDS)

    def _single(self, result: Result) -> Value | None:
        """The single number or value of `result`; None if it is empty. Raises ExpressionError if there are several."""
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
        """The set in order; equal values are ordered by MID, things without a value come last."""
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

    def _size(self, call: Call) -> int:
        if call.words:
            return int(call.words[0])
        size = self._single(self.result_of(call.operands[1]))
        number = size.read_as(ValueKind.NUMBER) if size else None
        if not isinstance(number, Decimal) or number != int(number) or not 0 < number < MAX_FIRST:
            raise ExpressionError("limit takes a whole number")
        return int(number)
