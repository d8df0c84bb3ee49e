"""Answers as a list of words: a model writes `["count", "reach", "Eq7f2k", "lives in"]` for `count(reach(Eq7f2k,
"lives in"))`, so that a JSON schema can list every word that it may use.

A tree is in Polish notation: a function, then its arguments in the order of `kg_store.algebra.expressions.FUNCTIONS`,
without brackets. Nested lists are accepted as well.

    tree  = word | function tree ... | "follow" way ... | "both" tree tree
    word  = pseudonym | "way(2)" | "hint" | "none" | "more"
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from app.llm.tasks import StepReply
from kg_store.algebra.expressions import (
    DIRECTIONS,
    FUNCTIONS,
    MAX_NODES,
    OPERATORS,
    PERIODS,
    Call,
    Expression,
    Name,
    parse,
)
from kg_store.errors import ExpressionError

Tree = list[str]

NONE: Final = "none"
"""Alone as a reply: nothing shown answers the question."""
MORE: Final = "more"
"""As a reply: no candidate fits, so the next ones should be shown."""
HINT: Final = "hint"
FOLLOW: Final = "follow"
BOTH: Final = "both"
MAX_WORDS: Final = 24
MAX_NUMBER: Final = 5
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
"""The words of a tree that are allowed for every question."""

_WAY = re.compile(r"way\((\d{1,4})\)")
# Names that no pseudonym has stand for `way(2)` while an expression is parsed.
_AS_NAME = re.compile(r"\bway\(\s*(\d{1,4})\s*\)")
_STAND_IN = re.compile(r"\bWAY(\d{1,4})\b")
_PSEUDONYM = re.compile(r"[A-Z][a-z0-9]{5}")


class TreeError(ValueError):
    """The words form no answer; the error text quotes none of them."""


def flat(value: Any) -> Tree:
    """Returns the words of nested lists in order. Raises TreeError if `value` holds anything but text and lists."""
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list):
        raise TreeError("a list of words is expected")
    words = [word for each in value for word in flat(each)]
    if len(words) > MAX_WORDS:
        raise TreeError("an answer has fewer words")
    return words


def step_reply_of(tree: Sequence[str], hint: str = "") -> StepReply:
    """Returns the reply that `tree` means; `hint` is the expression behind the word "hint". Raises TreeError."""
    match list(tree):
        case ["none"]:
            return StepReply(action="not_in_graph")
        case ["more"]:
            return StepReply(action="follow")
        case ["follow", *ways] if ways:
            return StepReply(action="follow", choices=[_number(way) for way in ways])
        case ["both", *rest]:
            return StepReply(action="answer", answer=list(_whole(_several(rest, 2, hint))))
        case words:
            return StepReply(action="answer", answer=[expression_of(words, hint)])


def expression_of(tree: Sequence[str], hint: str = "") -> str:
    """Returns the expression that `tree` means; `way(2)` stays as it is. Raises TreeError."""
    found: str = _whole(_expressions(tree, hint))
    return found


def tree_of(expression: str) -> Tree:
    """Returns the words of an expression, which may hold `way(2)`. Raises ExpressionError."""
    return list(_words(parse(_AS_NAME.sub(r"WAY\1", expression))))


def tree_of_reply(reply: StepReply) -> Tree:
    """Returns the words for `reply`. Raises ExpressionError."""
    if reply.action == "not_in_graph":
        return [NONE]
    if reply.action == "follow":
        return [FOLLOW, *(f"way({number})" for number in reply.choices)] if reply.choices else [MORE]
    trees = [tree_of(each) for each in reply.answer]
    return trees[0] if len(trees) == 1 else [BOTH, *(word for tree in trees for word in tree)]


def _whole(parses: Iterator[tuple[Any, Sequence[str]]]) -> Any:
    """The first parse that uses all words and that the grammar accepts."""
    for found, rest in parses:
        if not rest and all(map(_is_known, [found] if isinstance(found, str) else found)):
            return found
    raise TreeError("the words are no expression")


def _expressions(words: Sequence[str], hint: str, depth: int = 0) -> Iterator[tuple[str, Sequence[str]]]:
    """Yields every expression that `words` may begin with, and the words after it."""
    if not words or depth > MAX_NODES:
        return
    word, rest = words[0], words[1:]
    if word == HINT and hint:
        yield hint, rest
    elif _is_set(word):
        yield word, rest
    if word in FUNCTIONS:
        shape = tuple(want.removesuffix("*") for want in FUNCTIONS[word])
        for given, left in _arguments(shape, rest, hint, depth):
            yield f"{word}({', '.join(given)})", left


def _arguments(
    shape: Sequence[str], words: Sequence[str], hint: str, depth: int
) -> Iterator[tuple[tuple[str, ...], Sequence[str]]]:
    """Yields every way to read a function's arguments, the longest first if some are optional."""
    if not shape:
        yield (), words
        return
    want, *later = shape
    for given, left in _argument(want, words, hint, depth):
        for more, end in _arguments(later, left, hint, depth):
            yield (given, *more), end
    if want.endswith("?"):
        yield from _arguments(later, words, hint, depth)


def _argument(want: str, words: Sequence[str], hint: str, depth: int) -> Iterator[tuple[str, Sequence[str]]]:
    word, rest = (words[0], words[1:]) if words else ("", ())
    if want in ("r", "r?", "b?") and word and not _is_set(word) and word not in OPERATORS and '"' not in word:
        yield f'"{word}"', rest
    closed = {"o": OPERATORS, "d": DIRECTIONS, "p?": PERIODS}
    if word in closed.get(want, ()) or (want == "m" and word.isdecimal()):
        yield word, rest
    if want in ("s", "m", "b?"):
        yield from _expressions(words, hint, depth + 1)


def _several(words: Sequence[str], least: int, hint: str) -> Iterator[tuple[list[str], Sequence[str]]]:
    """Yields lists of at least `least` expressions that use up all of `words`."""
    if not words and least <= 0:
        yield [], words
        return
    for found, rest in _expressions(words, hint):
        for more, end in _several(rest, least - 1, hint):
            yield [found, *more], end


def _is_set(word: str) -> bool:
    return bool(_WAY.fullmatch(word) or _PSEUDONYM.fullmatch(word))


def _is_known(expression: str) -> bool:
    """True if the grammar accepts the expression; `way(2)` counts as a pseudonym."""
    try:
        parse(_AS_NAME.sub(r"WAY\1", expression))
    except ExpressionError:
        return False
    return True


def _number(way: str) -> int:
    found = _WAY.fullmatch(way)
    if found is None:
        raise TreeError("only ways are followed")
    return int(found[1])


def _words(expression: Expression) -> Iterator[str]:
    """The words of an expression in the order of the function's arguments; more than two sets are nested in pairs."""
    if isinstance(expression, Name):
        yield _STAND_IN.sub(r"way(\1)", expression.pseudonym)
        return
    if len(expression.operands) > 2 and "s*" in FUNCTIONS[expression.function]:
        first, *others = expression.operands
        rest = Call(expression.function, tuple(others))
        expression = Call(expression.function, (first, rest))
    yield expression.function
    operands, words = list(expression.operands), list(expression.words)
    for want in FUNCTIONS[expression.function]:
        if want in ("s", "s*") or (want in ("m", "b?") and operands and not words):
            yield from _words(operands.pop(0))
        elif words:
            yield words.pop(0)
