"""Words answers about rows: which goes with which, and a few nameless nodes by all that each of them has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Final

from app.llm.tasks import StepInput
from app.strategies.base import Draft, StrategyInput
from kg_store.algebra.expressions import MINUS, Call, Expression, Name, parse, written
from kg_store.errors import ExpressionError
from kg_store.graph.kinds import nameless_kinds
from kg_store.graph.traversal import concept_of, kind_of, reached
from kg_store.terms import Mid, NodeKind, as_mids

MAX_CELLS: Final = 60
"""The greatest number of results of one answer; a draft with more is refused (`app.chat.grounding`)."""
_EXTREMES: Final = {"argmax": "max", "argmin": "min"}
MORE: Final = "There are more of them."


def draft_of_rows(inquiry: StrategyInput, expressions: Sequence[str], shown: StepInput) -> Draft | None:
    """Returns a draft for pairs, or for a few nameless nodes; None if `expressions` are anything else."""
    try:
        (expression,) = map(parse, expressions)
    except (ExpressionError, ValueError):
        return None
    if isinstance(expression, Call) and expression.function == "pairs":
        return _of_pairs(inquiry, expression)
    return _of_nameless(inquiry, expression, shown)


def _of_pairs(inquiry: StrategyInput, pairs: Call) -> Draft | None:
    """Returns a draft such as "{1}: {2}; {3}: {4}.": each thing, and what goes with it.

    For `pairs(A, r)` the things are the members of A, for `pairs(A, r, r2)` what r leads to from them.
    """
    (rows,), (first, *second) = pairs.operands, pairs.words
    found = inquiry.result_of(written(Call("reach", (rows,), (first,)) if second else rows))
    if found is None:
        return None
    told: list[str] = []
    for mid in found.mids:
        if len(told) == MAX_CELLS:
            return _worded(told, MORE)
        name = Name(_pseudonym_of(inquiry, mid))
        start = Call("filter", (rows, name), (first, "=")) if second else name
        beside = written(Call("reach", (start,), (second[0] if second else first,)))
        if inquiry.result_of(beside) is not None:
            told += [name.pseudonym, beside]
    return _worded(told) if told else None


def _worded(told: Sequence[str], *more: str) -> Draft:
    pairs = "; ".join(f"{{{at}}}: {{{at + 1}}}" for at in range(1, len(told), 2))
    return Draft(tuple(told), " ".join([f"{pairs}.", *more]), tuple(told[::2]))


def _of_nameless(inquiry: StrategyInput, expression: Expression, shown: StepInput) -> Draft | None:
    """Returns a draft that tells each of a few nameless nodes by all that it has: "date: {1}; miles: {2}.".

    Several stand on lines of their own. None if the expression gives anything else, or too many of them.
    """
    found = inquiry.result_of(written(expression)) if nameless_kinds(inquiry.graph.schema) else None
    mids = found.mids if found is not None else ()
    if not 0 < len(mids) <= MAX_CELLS or kind_of(inquiry.graph, as_mids(mids)) is not NodeKind.MEDIATOR:
        return None
    names = [inquiry.pseudonyms.of_entity(Mid(mid)) for mid in mids] if len(mids) > 1 else []
    rows = map(Name, names) if names else [expression]
    cells = [list(_cells(inquiry, mid, row)) for mid, row in zip(mids, rows, strict=True)]
    parts = [each for own in cells for _, each in own]
    if len(parts) >= MAX_CELLS:
        return None
    number = count(1)
    lines = ["; ".join(f"{label}: {{{next(number)}}}" for label, _ in own) + "." for own in cells]
    if isinstance(expression, Call) and expression.function in _EXTREMES and f" {MINUS} " in expression.words[0]:
        # A difference is no cell of a row, so it is told beside them.
        of_it = Call(_EXTREMES[expression.function], (expression,), expression.words)
        (decides,), text = inquiry.language.word_answer([written(of_it)], shown)
        parts.append(decides)
        lines.append(text.replace("{1}", f"{{{len(parts)}}}"))
    return Draft(tuple(parts), "\n".join(lines), tuple(names))


def _cells(inquiry: StrategyInput, mid: int, row: Expression) -> Iterator[tuple[str, str]]:
    """Yields all that a node has: the words for it, and the expression that gives it."""
    graph, schema = inquiry.graph, inquiry.graph.schema
    (signature,) = graph.signatures_of(as_mids([mid])).tolist()
    for hop in sorted(schema.signatures[signature].hops):
        tails = reached(graph, as_mids([mid]), ((hop,),))
        said = concept_of(graph, tails) if hop.inverse else schema.label(hop)
        yield said, written(Call("reach", (row,), (schema.label(hop),)))


def _pseudonym_of(inquiry: StrategyInput, mid: int) -> str:
    is_value = kind_of(inquiry.graph, as_mids([mid])) is NodeKind.VALUE
    return inquiry.pseudonyms.of_value(Mid(mid)) if is_value else inquiry.pseudonyms.of_entity(Mid(mid))
