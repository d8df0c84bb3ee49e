"""Answers as trees of words out of a closed list: `["count", ["reach", "Eq7f2k", "lives in"]]` is what a model writes
for `count(reach(Eq7f2k, "lives in"))`, so that a JSON schema can name every word that it may use.

    tree = word | [ function, argument, ... ] | ["follow", way, ...] | ["both", tree, tree]
    word = stand-in | "way(2)" | "hint" | "none" | "more"

An argument is a tree, the words of a relation, an operator, a direction, a period, or a whole number, in the order of
`kg_store.algebra.expressions.FUNCTIONS`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from app.llm.tasks import StepReply
from kg_store.algebra.expressions import DIRECTIONS, FUNCTIONS, OPERATORS, PERIODS, Call, Expression, Name, parse
from kg_store.errors import ExpressionError

Tree = str | Sequence["Tree"]

NONE: Final = "none"
"""Nothing that is shown answers the question."""
MORE: Final = "more"
"""Nothing that is shown fits: the next ways are wanted."""
HINT: Final = "hint"
FOLLOW: Final = "follow"
BOTH: Final = "both"
MAX_NUMBER: Final = 10
WORDS: Final = (
    NONE,
    MORE,
    FOLLOW,
    BOTH,
    *(name for name in FUNCTIONS if name != NONE),
    *OPERATORS,
    *DIRECTIONS,
    *PERIODS,
    *map(str, range(1, MAX_NUMBER + 1)),
)
"""The words of a tree that are the same for all questions."""

_WAY = re.compile(r"way\((\d{1,4})\)")
# A name that no pseudonym has, in the place of what candidate 2 leads to.
_AS_NAME = re.compile(r"\bway\(\s*(\d{1,4})\s*\)")
_STAND_IN = re.compile(r"\bWAY(\d{1,4})\b")


class TreeError(ValueError):
    """A tree that means nothing; the text quotes nothing of it."""


def step_reply_of(tree: Tree, hint: str = "") -> StepReply:
    """The reply that `tree` gives; `hint` is the expression that the word stands for. Raises TreeError."""
    match tree:
        case "none":
            return StepReply(action="not_in_graph")
        case "more":
            return StepReply(action="follow")
        case ["follow", *ways] if ways:
            return StepReply(action="follow", choices=[_number(way) for way in ways])
        case ["both", *parts] if parts:
            return StepReply(action="answer", answer=[expression_of(each, hint) for each in parts])
        case _:
            return StepReply(action="answer", answer=[expression_of(tree, hint)])


def expression_of(tree: Tree, hint: str = "") -> str:
    """The expression that `tree` writes; `way(2)` stays as it is. Raises TreeError."""
    if isinstance(tree, str):
        if tree == HINT and hint:
            return hint
        if tree in WORDS or tree == HINT:
            raise TreeError("a stand-in or a list is expected")
        return tree
    function, *given = tree or ("",)
    if not isinstance(function, str) or function not in FUNCTIONS:
        raise TreeError("a list begins with a function")
    return f"{function}({', '.join(_arguments(FUNCTIONS[function], given, hint))})"


def tree_of(expression: str) -> Tree:
    """The tree of an expression, which may hold `way(2)`. Raises ExpressionError."""
    return _tree(parse(_AS_NAME.sub(r"WAY\1", expression)))


def tree_of_reply(reply: StepReply) -> Tree:
    """The tree that stands for `reply`. Raises ExpressionError."""
    if reply.action == "not_in_graph":
        return NONE
    if reply.action == "follow":
        return [FOLLOW, *(f"way({number})" for number in reply.choices)] if reply.choices else MORE
    trees = [tree_of(each) for each in reply.answer]
    return trees[0] if len(trees) == 1 else [BOTH, *trees]


def _arguments(shape: Sequence[str], given: Sequence[Tree], hint: str) -> Iterator[str]:
    """The arguments in the words of an expression; `parse` says what is wrong with their number."""
    shapes = [*shape, *([shape[-1]] * len(given) if shape[-1] == "s*" else ())]
    if len(given) > len(shapes):
        raise TreeError("a function has too many arguments")
    # Where one that may be left out is left out, the next of the shape takes what stands there.
    rest = list(shapes)
    for each in given:
        want = rest.pop(0)
        while want in ("r?", "b?") and rest and isinstance(each, str) and each in PERIODS:
            want = rest.pop(0)
        yield _argument(want, each, hint)


def _argument(want: str, given: Tree, hint: str) -> str:
    if not isinstance(given, str):
        return expression_of(given, hint)
    is_word = want in ("o", "d", "p?") or given.isdecimal()
    if want in ("r", "r?") or (want == "b?" and not _is_set(given)):
        return f'"{given}"'
    return given if is_word else expression_of(given, hint)


def _is_set(word: str) -> bool:
    """True of a stand-in or a way; else it is the words of a relation."""
    return word == HINT or bool(_WAY.fullmatch(word)) or bool(re.fullmatch(r"[A-Z][a-z0-9]{5}", word))


def _number(way: Tree) -> int:
    found = _WAY.fullmatch(way) if isinstance(way, str) else None
    if found is None:
        raise TreeError("only ways are followed")
    return int(found[1])


def _tree(expression: Expression) -> Tree:
    if isinstance(expression, Name):
        return _STAND_IN.sub(r"way(\1)", expression.pseudonym)
    return [expression.function, *_in_order(expression)]


def _in_order(call: Call) -> Iterator[Tree]:
    """Operands and words as the function's shape has them."""
    operands, words = list(call.operands), list(call.words)
    for want in FUNCTIONS[call.function]:
        if want == "s*":
            yield from (_tree(each) for each in operands)
            operands = []
        elif want == "s" or (want in ("m", "b?") and operands and not words):
            yield _tree(operands.pop(0))
        elif words:
            yield words.pop(0)


def is_known(expression: str) -> bool:
    """True where the grammar has such an expression; `way(2)` counts as a stand-in."""
    try:
        parse(_AS_NAME.sub(r"WAY\1", expression))
    except ExpressionError:
        return False
    return True
