"""Turns expressions back into text, and adds further relations to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kg_store.algebra.expressions import FUNCTIONS, Call, Expression, Name, parse
from kg_store.text.labels import reversed_label


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


def of_one_row(text: str) -> str:
    """Returns `text` with all that is said of one row asked of one and the same row.

    Who has rank 1 *in a committee* is not who is in it and has rank 1 in any: values behind one record (`member|rank`,
    `member|since`), and a thing to which the same record leads, narrow the records before these lead back.
    """
    return written(_by_rows(parse(text))) if "|" in text else text


def _by_rows(expression: Expression) -> Expression:
    if isinstance(expression, Name):
        return expression
    if expression.function == "intersect" and len(expression.operands) == 2:
        for of_values, other in (expression.operands, expression.operands[::-1]):
            tests, _ = _tests_of(of_values)
            led = _ends_of(other)
            if tests and led and reversed_label(led[2]) == _record_of(tests[0]):
                return _narrowed(_by_rows(led[0]), led[1], tests, led[2])
    tests, base = _tests_of(expression)
    led = _ends_of(base)
    if tests and led and reversed_label(led[2]) == _record_of(tests[0]):
        return _narrowed(_by_rows(led[0]), led[1], tests, led[2])
    if len(set(tests)) > 1:
        record = _record_of(tests[0])
        return _narrowed(_by_rows(base), record, tests, reversed_label(record))
    return Call(expression.function, tuple(map(_by_rows, expression.operands)), expression.words)


def _tests_of(expression: Expression) -> tuple[list[Call], Expression]:
    """The filters by values of one record around an expression, the outermost first, and what they narrow."""
    tests: list[Call] = []
    while isinstance(expression, Call) and expression.function in ("filter", "having"):
        if _record_of(expression).count("|") or (tests and _record_of(expression) != _record_of(tests[0])):
            break
        tests.append(expression)
        expression = expression.operands[0]
    return (tests, expression) if tests and all("|" in each.words[0] for each in tests) else ([], expression)


def _record_of(test: Call) -> str:
    """The hop to the record whose value a filter compares; empty where it compares the thing's own."""
    return test.words[0].rpartition("|")[0]


def _ends_of(expression: Expression) -> tuple[Expression, str, str] | None:
    """Of `reach(A, "record|end")` the three parts."""
    if not (isinstance(expression, Call) and expression.function == "reach" and expression.words[0].count("|") == 1):
        return None
    record, _, end = expression.words[0].partition("|")
    return expression.operands[0], record, end


def _narrowed(base: Expression, record: str, tests: Sequence[Call], back: str) -> Expression:
    rows: Expression = Call("reach", (base,), (record,))
    for test in dict.fromkeys(reversed(tests)):
        label, *rest = test.words
        rows = Call(test.function, (rows, *test.operands[1:]), (label.rpartition("|")[2], *rest))
    return Call("reach", (rows,), (back,))
