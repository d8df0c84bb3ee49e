"""Operands and results of the set algebra, and the sets and tables between."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

import numpy as np
import numpy.typing as npt

from kg_store.errors import ExpressionError
from kg_store.terms import Edges, Mids
from kg_store.text.literals import plain_number

OutcomeKind = Literal["set", "number", "truth", "table"]


@dataclass(frozen=True, slots=True)
class Operand:
    """The meaning of a pseudonym.

    `edges`: (entity, value) pairs, where the operand is a set of values: sums are over the pairs. `literal`:
    the text of a value that the user typed and the graph may not hold.
    """

    mids: Mids = field(repr=False)
    edges: Edges | None = field(default=None, repr=False)
    literal: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class ExpressionResult:
    """The result of an expression. `mids` are in order where `ordered`; `rows` are (thing, count), largest first."""

    kind: OutcomeKind
    mids: tuple[int, ...] = field(default=(), repr=False)
    ordered: bool = False
    number: Decimal | None = field(default=None, repr=False)
    truth: bool | None = field(default=None, repr=False)
    rows: tuple[tuple[int, int], ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class ResultSet:
    """A set while it is worked on: `mids` each once, in order where `ordered`, else ascending."""

    mids: Mids = field(repr=False)
    ordered: bool = False
    edges: Edges | None = field(default=None, repr=False)
    literal: str | None = field(default=None, repr=False)

    def keep(self, mask: npt.NDArray[np.bool_]) -> ResultSet:
        """The members that `mask` keeps, in their order, with the edges that lead to them."""
        mids, edges = self.mids[mask], self.edges
        if edges is not None:
            kept = np.isin(edges.tails, mids)
            edges = Edges(edges.heads[kept], edges.tails[kept])
        return ResultSet(mids, self.ordered, edges)

    def pairs(self) -> Edges:
        """(entity, value) pairs to add up: the edges, or each member once."""
        return self.edges if self.edges is not None else Edges(self.mids, self.mids)


@dataclass(frozen=True, slots=True)
class ResultTable:
    """Counts per thing, the largest first."""

    rows: tuple[tuple[int, int], ...] = field(repr=False)

    @property
    def things(self) -> tuple[int, ...]:
        return tuple(thing for thing, _ in self.rows)


Result = ResultSet | ResultTable | Decimal | bool


def as_set(result: Result) -> ResultSet:
    """A table stands for its things, in order. ExpressionError for a number or a truth."""
    if isinstance(result, ResultSet):
        return result
    if isinstance(result, ResultTable):
        return ResultSet(np.array(result.things, dtype=np.int64), ordered=True)
    raise ExpressionError("a set is expected where a number, or yes or no, stands")


def outcome_of(result: Result) -> ExpressionResult:
    """The result as callers see it; numbers without zeros at the end."""
    if isinstance(result, ResultSet):
        return ExpressionResult("set", tuple(result.mids.tolist()), ordered=result.ordered)
    if isinstance(result, ResultTable):
        return ExpressionResult("table", result.things, ordered=True, rows=result.rows)
    if isinstance(result, bool):
        return ExpressionResult("truth", truth=result)
    return ExpressionResult("number", number=Decimal(plain_number(result)))
