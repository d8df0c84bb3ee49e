"""Executes the expressions that the check of statements asks, on the facts of a reply alone and their real values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from app.chat.statements.evidence import inverse
from app.strategies.base import FoundFact
from kg_store.algebra.expressions import Call, Expression, Name, parse
from kg_store.text.literals import read_literal

_ORDER: Final[Mapping[str, Callable[[object, object], bool]]] = {
    "<": lambda one, other: one < other,  # type: ignore[operator]
    "<=": lambda one, other: one <= other,  # type: ignore[operator]
    ">": lambda one, other: one > other,  # type: ignore[operator]
    ">=": lambda one, other: one >= other,  # type: ignore[operator]
    "=": lambda one, other: one == other,
    "!=": lambda one, other: one != other,
}


class FactHouse:
    """A house with no more than these facts; `values` gives the real text of each pseudonym."""

    def __init__(self, facts: Sequence[FoundFact], values: Mapping[str, str]) -> None:
        self._values = values
        self._ends: dict[tuple[str, str], set[str]] = {}
        for fact in facts:
            self._ends.setdefault((fact.start, fact.path[0]), set()).add(fact.end)
            self._ends.setdefault((fact.end, inverse(fact.path[0])), set()).add(fact.start)

    def truth_of(self, expression: str) -> bool | None:
        """None for what is not executed here."""
        call = parse(expression)
        if not isinstance(call, Call):
            return None
        if call.function == "holds":
            values = {self._values[name] for name in self._members(call.operands[0])}
            return values == {"true"} if values <= {"true", "false"} and values else None
        members = self._members(call.operands[0])
        return bool(members) if call.function == "exists" else not members

    def _members(self, expression: Expression) -> set[str]:
        if isinstance(expression, Name):
            return {expression.pseudonym}
        inner = [self._members(operand) for operand in expression.operands]
        if expression.function == "intersect":
            return set.intersection(*inner)
        if expression.function == "reach":
            return self._reached(inner[0], expression.words[0])
        if expression.function == "counted":
            label, sign, number = expression.words[0], expression.words[1], int(expression.words[2])
            return {name for name in inner[0] if _ORDER[sign](len(self._reached({name}, label)), number)}
        if expression.function == "filter":
            label, sign = expression.words[0], expression.words[1]
            return {name for name in inner[0] if self._is_ordered(self._reached({name}, label), sign, inner[1])}
        return set()

    def _reached(self, names: set[str], label: str) -> set[str]:
        return {end for name in names for end in self._ends.get((name, label), ())}

    def _is_ordered(self, values: set[str], sign: str, others: set[str]) -> bool:
        return any(
            _ORDER[sign](one, other)
            for one in map(self._value, values)
            for other in map(self._value, others)
            if one is not None and other is not None and type(one) is type(other)
        )

    def _value(self, name: str) -> object:
        text = self._values[name]
        try:
            return float(text)
        except ValueError:
            known = read_literal(text)
            return known[1] if known else None
