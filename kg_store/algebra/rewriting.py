"""Turns expressions back into text, and adds further relations to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kg_store.algebra.expressions import FUNCTIONS, Call, Expression, Name


def walked_along(start: str, steps: Sequence[str]) -> str:
    """Returns the expression for what `start` leads to along the labels `steps`."""
    for step in steps:
        start = f'reach({start}, "{step}")'
    return start


def written(expression: Expression) -> str:
    """Returns the expression as text that parses to the same tree; equal expressions give equal text."""
    if isinstance(expression, Name):
        return expression.pseudonym
    operands, words = [written(each) for each in expression.operands], list(expression.words)
    parts: list[str] = []
    for shape in FUNCTIONS[expression.function]:
        if shape in ("s", "s*") or (shape == "m" and not words):
            taken = operands[: None if shape == "s*" else 1]
            parts, operands = parts + taken, operands[len(taken) :]
        elif words:
            word = words.pop(0)
            parts.append(f'"{word}"' if shape.startswith("r") else word)
    return f"{expression.function}({', '.join(parts)})"


def with_relations(expression: Expression, further: Mapping[str, Sequence[str]]) -> Expression:
    """Returns `expression` with each "reach" extended by the `further` relations of its label."""
    if isinstance(expression, Name):
        return expression
    operands = tuple(with_relations(each, further) for each in expression.operands)
    whole = Call(expression.function, operands, expression.words)
    labels = further.get(expression.words[0], ()) if expression.function == "reach" else ()
    if not labels:
        return whole
    return Call("union", (whole, *(Call("reach", operands, (label,)) for label in labels)))
