"""Derives the relation paths of an answer from its expressions and evidence: labels only, no entity."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from app.memory.cases import LabelPath
from app.strategies.base import FoundFact
from kg_store.algebra.expressions import Call, Expression, Name, parse
from kg_store.errors import ExpressionError

MAX_PATHS: Final = 4
MAX_STEPS: Final = 4


def paths_of_answer(
    expressions: Sequence[str], evidence: Sequence[FoundFact], roots: Collection[str]
) -> tuple[LabelPath, ...]:
    """Returns every path from `roots` to the result of the first expression; empty if it follows none."""
    try:
        trees = [parse(each) for each in expressions[:1]]
    except ExpressionError:
        return ()
    # The first fact is the one that was walked for the best path.
    before: dict[str, FoundFact] = {}
    for fact in (fact for fact in evidence if fact.end not in roots):
        before.setdefault(fact.end, fact)
    found = [path for tree in trees for path in _paths(tree, before)]
    return tuple(dict.fromkeys(path for path in found if 0 < len(path) <= MAX_STEPS))[:MAX_PATHS]


def is_one_path(expressions: Sequence[str]) -> bool:
    """True if the answer is the end of a single path and nothing else is done with it."""
    try:
        trees = [parse(each) for each in expressions]
    except ExpressionError:
        return False
    return len(trees) == 1 and _is_walk(trees[0])


def _is_walk(tree: Expression) -> bool:
    return isinstance(tree, Name) or (tree.function == "reach" and all(map(_is_walk, tree.operands)))


def _paths(tree: Expression, before: dict[str, FoundFact]) -> Iterator[LabelPath]:
    if isinstance(tree, Name):
        yield _path_to(tree.pseudonym, before)
        return
    walked = _step_of(tree)
    for operand in tree.operands:
        for path in _paths(operand, before):
            yield (*path, *walked)


def _step_of(call: Call) -> LabelPath:
    return call.words[:1] if call.function == "reach" else ()


def _path_to(pseudonym: str, before: dict[str, FoundFact]) -> LabelPath:
    path: LabelPath = ()
    seen: set[str] = set()
    while pseudonym in before and pseudonym not in seen:
        seen.add(pseudonym)
        fact = before[pseudonym]
        path, pseudonym = (*fact.path, *path), fact.start
    return path
