"""Finds the members of an expression's sets that lack the value by which the expression compares or counts them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from kg_store.algebra.expressions import Call, Expression, written
from kg_store.algebra.relation_values import ORDERED, RelationValues
from kg_store.terms import Mids, ValueKind

_MEASURED: Final = frozenset({"argmax", "argmin", "sum", "average", "min", "max", "sort", "group", "sums", "averages"})
"""Functions that leave out every member without a value of their relations."""


@dataclass(frozen=True, slots=True)
class MissingValues:
    """Members of the set `of` (an expression) that lack a value of `relation`.

    `total`: the size of the set. `empty`: members without any value; `unfit`: members whose values are text where
    others have a number or a date (`kind`; None if the relation has neither), or a thing. `counts_as_not`: the
    expression takes them for members that do not fulfil a condition; otherwise they are left out.
    """

    of: str
    relation: str
    kind: ValueKind | None
    total: int
    empty: int
    unfit: int
    counts_as_not: bool

    @property
    def lacking(self) -> int:
        return self.empty + self.unfit

    @property
    def texts(self) -> int:
        """The number of members that have a text where others have a thing; they are not left out."""
        return self.unfit if self.kind is None else 0


class MissingValuesFinder:
    """Finds missing values in one expression; `members_of` evaluates a set expression."""

    def __init__(self, relations: RelationValues, members_of: Callable[[Expression], Mids]) -> None:
        self._relations, self._members_of = relations, members_of

    def find(self, expression: Expression) -> tuple[MissingValues, ...]:
        """Returns one entry for each relation of `expression` that some members lack, the largest set first."""
        found: dict[str, MissingValues] = {}
        for each in self._of(expression, None, denied=False):
            known = found.get(each.relation)
            if each.lacking and (known is None or known.total < each.total):
                found[each.relation] = each
        return tuple(sorted(found.values(), key=lambda each: -each.total))

    def _of(self, expression: Expression, within: Mids | None, *, denied: bool) -> Iterator[MissingValues]:
        """Yields entries for `expression`.

        `within`: another set that the members must also be in. `denied`: members of the result are taken away.
        """
        if not isinstance(expression, Call):
            return
        for at, operand in enumerate(expression.operands):
            inner = within
            if expression.function == "intersect":
                others = [self._members_of(each) for place, each in enumerate(expression.operands) if place != at]
                inner = _all_in(others if within is None else [*others, within])
            yield from self._of(operand, inner, denied=denied != (expression.function == "difference" and at > 0))
        yield from self._of_call(expression, within, denied=denied)

    def _of_call(self, call: Call, within: Mids | None, *, denied: bool) -> Iterator[MissingValues]:
        is_having, is_filter = call.function == "having", call.function == "filter"
        if not (is_having or is_filter or (call.function in _MEASURED and call.words)):
            return
        members = self._members_of(call.operands[0])
        members = members if within is None else members[np.isin(members, within)]
        said = call.words[: 2 if call.function in ("sums", "averages") else 1]
        sides = (self._relations.sides_of(each) or ("", each) for each in said)
        for label in (part for _, *parts in sides for part in parts):
            if "^" in label:
                continue  # Walked backwards, most things lead nowhere, and nothing is missing.
            found = self._lacking(call, members, label, denied=denied)
            if is_filter and found.kind is None and not denied and call.words[1] != "!=":
                continue  # Things of another city; those without a city are no members either.
            if is_having:
                is_told = denied and found.kind is not None
                found = found if is_told else replace(found, empty=0)
            yield found

    def _lacking(self, call: Call, members: Mids, label: str, *, denied: bool) -> MissingValues:
        edges = self._relations.edges(members, label)
        kind = self._relations.ordered_kind(label)
        with_any = np.unique(edges.heads)
        fitting = with_any
        if kind is not None:
            values = self._relations.values_or_dates(edges.tails).items()
            kept = [mid for mid, value in values if value.kind in ORDERED and value.read_as(value.kind) is not None]
            fitting = np.unique(edges.heads[np.isin(edges.tails, kept)])
        elif len(texts := self._relations.texts_among_things(edges.tails)):
            fitting = np.unique(edges.heads[~np.isin(edges.tails, texts)])
        empty, unfit = len(members) - len(with_any), len(with_any) - len(fitting)
        return MissingValues(written(call.operands[0]), label, kind, len(members), empty, unfit, denied)


def _all_in(sets: list[Mids]) -> Mids | None:
    """Returns the members that all of `sets` share; None if there are no sets."""
    shared: Mids | None = None
    for each in sets:
        shared = each if shared is None else shared[np.isin(shared, each)]
    return shared
