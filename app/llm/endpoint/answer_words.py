"""Reads and writes an answer as a list of words, so that a schema can list every word that a model may use.

A model writes `["count", "reach", "Eq7f2k", "lives in"]` for `count(reach(Eq7f2k, "lives in"))`. The words (here
called a tree) are in Polish notation: a function, then its arguments in the order of FUNCTIONS in
`kg_store.algebra.expressions`, without brackets. Nested lists are accepted too.

    tree     = word | function tree ... | "follow" way ... | "both" tree tree
    word     = pseudonym | "way(2)" | "hint" | "none" | "more"
    relation = label | label "then" relation | relation "minus" relation | relation "times" relation
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
    MINUS,
    OPERATORS,
    PERIODS,
    THEN,
    TIMES,
    Call,
    Expression,
    Name,
    parse,
    walked_along,
)
from kg_store.errors import ExpressionError
from kg_store.terms import ALMOST_PSEUDONYM

Tree = list[str]

NONE: Final = "none"
"""As the whole reply: nothing shown answers the question. It is also the name of a function."""
MORE: Final = "more"
"""As the whole reply: no candidate fits, so the next ones should be shown."""
HINT: Final = "hint"
FOLLOW: Final = "follow"
BOTH: Final = "both"
MAX_WORDS: Final = 30
MAX_NUMBER: Final = 5
WORDS: Final = (
    NONE,
    MORE,
    FOLLOW,
    BOTH,
    THEN,
    TIMES,
    *(name for name in FUNCTIONS if name != NONE),
    *OPERATORS,
    *DIRECTIONS,
    *PERIODS,
    *map(str, range(MAX_NUMBER + 1)),
)
"""The words that an answer may use for every question."""

_WAY = re.compile(r"way\((\d{1,4})\)")
# While an expression is parsed, `way(2)` is written `WAY2`, a name that no pseudonym has.
_AS_NAME = re.compile(r"\bway\(\s*(\d{1,4})\s*\)")
_STAND_IN = re.compile(r"\bWAY(\d{1,4})\b")

Want = str
"""A kind of argument, by its first letter in FUNCTIONS; empty for the end of an answer."""


class TreeError(ValueError):
    """The words of a reply do not form an answer; the error's text quotes none of them.

    `at`: the position of the first word that does not fit, or -1 if unknown; `wants`: the kinds of arguments of which
    one has to stand there.
    """

    def __init__(self, text: str, at: int = -1, wants: frozenset[Want] = frozenset()) -> None:
        self.at, self.wants = at, wants
        super().__init__(text)


def flat(value: Any) -> Tree:
    """Returns the words of nested lists in order.

    Raises TreeError if `value` holds anything but text and lists, or more than MAX_WORDS words.
    """
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list):
        raise TreeError("a list of words is expected")
    words = [word for each in value for word in flat(each)]
    if len(words) > MAX_WORDS:
        raise TreeError("an answer has fewer words")
    return words


def step_reply_of(tree: Sequence[str], hint: str = "") -> StepReply:
    """Returns the reply that the words `tree` mean; `hint`: the expression that the word "hint" stands for.

    Raises TreeError.
    """
    match list(tree):
        case ["none"]:
            return StepReply(action="not_in_graph")
        case ["more"]:
            return StepReply(action="follow")
        case ["follow", *ways] if ways:
            return StepReply(action="follow", choices=[_number(way) for way in ways])
        case ["both", *_]:
            return StepReply(action="answer", answer=_Parser(tree, hint).several(1, least=2))
        case words:
            return StepReply(action="answer", answer=[expression_of(words, hint)])


def expression_of(tree: Sequence[str], hint: str = "") -> str:
    """Returns the expression that the words `tree` mean; `way(2)` in it stays as it is. Raises TreeError."""
    (found,) = _Parser(tree, hint).several(0, least=1, most=1)
    return found


def tree_of(expression: str) -> Tree:
    """Returns the words that a model would write for an expression, which may use `way(2)`.

    Raises ExpressionError.
    """
    return list(_words_of(parse(_AS_NAME.sub(r"WAY\1", expression))))


def tree_of_reply(reply: StepReply) -> Tree:
    """Returns the words that a model would write for `reply`. Raises ExpressionError."""
    if reply.action == "not_in_graph":
        return [NONE]
    if reply.action == "follow":
        return [FOLLOW, *(f"way({number})" for number in reply.choices)] if reply.choices else [MORE]
    trees = [tree_of(each) for each in reply.answer]
    return trees[0] if len(trees) == 1 else [BOTH, *(word for tree in trees for word in tree)]


class _Parser:
    """Reads the words of one answer in every way in which they can be read.

    It notes the furthest position at which a word did not fit, and what would have fitted there.
    """

    def __init__(self, words: Sequence[str], hint: str) -> None:
        self._words, self._hint = words, hint
        self._furthest, self._wants = 0, set[Want]()

    def several(self, at: int, least: int, most: int = MAX_WORDS) -> list[str]:
        """Returns the first reading of all words from `at` on, as a number of expressions from `least` to `most`.

        Raises TreeError if there is none that is valid in the grammar.
        """
        for found in self._all(at, least, most):
            if all(map(_is_known, found)):
                return found
        raise TreeError("the words are no expression", self._furthest, frozenset(self._wants))

    def _all(self, at: int, least: int, most: int) -> Iterator[list[str]]:
        if at == len(self._words) and least <= 0:
            yield []
        elif most == 0:
            self._misses(at, "")
        else:
            for found, end in self._expressions(at, 0):
                for more in self._all(end, least - 1, most - 1):
                    yield [found, *more]

    def _misses(self, at: int, want: Want) -> None:
        if at > self._furthest:
            self._furthest, self._wants = at, set()
        if at == self._furthest:
            self._wants.add(want[:1])

    def _word(self, at: int) -> str:
        return self._words[at] if at < len(self._words) else ""

    def _expressions(self, at: int, depth: int) -> Iterator[tuple[str, int]]:
        """Yields every expression that the words from `at` on may begin with, each with the position behind it."""
        word = self._word(at)
        if not word or depth > MAX_NODES:
            self._misses(at, "s")
        elif word == HINT and self._hint:
            yield self._hint, at + 1
        elif _is_set(word):
            yield word, at + 1
        elif word not in FUNCTIONS:
            self._misses(at, "s")
        if word in FUNCTIONS:
            shape = tuple(want.removesuffix("*") for want in FUNCTIONS[word])
            calls = self._walks(at + 1, depth) if word == "reach" else self._calls(word, shape, at + 1, depth)
            yield from calls

    def _calls(self, function: str, shape: Sequence[Want], at: int, depth: int) -> Iterator[tuple[str, int]]:
        for given, end in self._arguments(shape, at, depth):
            yield f"{function}({', '.join(given)})", end

    def _walks(self, at: int, depth: int) -> Iterator[tuple[str, int]]:
        """Yields `reach` with one relation, or one around the other for several steps."""
        for start, end in self._expressions(at, depth + 1):
            yield from ((walked_along(start, labels), last) for labels, last in self._steps(end))

    def _arguments(self, shape: Sequence[Want], at: int, depth: int) -> Iterator[tuple[tuple[str, ...], int]]:
        """Yields every way to read a function's arguments from `at` on, each with the position behind them.

        `shape`: the kinds of arguments as in FUNCTIONS. Readings with optional arguments come before those without.
        """
        if not shape:
            yield (), at
            return
        want, *later = shape
        for given, end in self._argument(want, at, depth):
            for more, last in self._arguments(later, end, depth):
                yield (given, *more), last
        if want.endswith("?"):
            yield from self._arguments(later, at, depth)

    def _argument(self, want: Want, at: int, depth: int) -> Iterator[tuple[str, int]]:
        word = self._word(at)
        if want[0] in "rb":
            yield from ((f'"{label}"', end) for label, end in self._relations(at))
        closed = {"o": OPERATORS, "d": DIRECTIONS, "p?": PERIODS}
        if word in closed.get(want, ()) or (want == "m" and word.isdecimal()):
            yield word, at + 1
        elif want in ("o", "d", "p?", "m"):
            self._misses(at, want)
        if want[0] in "smb":
            yield from self._expressions(at, depth + 1)

    def _relations(self, at: int) -> Iterator[tuple[str, int]]:
        """Yields every relation that may begin at `at`, the longest first: a label, several steps, or a difference."""
        for first, end in self._steps(at):
            if (word := self._word(end)) in (MINUS, TIMES):
                rest = self._steps(end + 1)
                yield from ((f" {word} ".join((_in_a_row(first), _in_a_row(second))), last) for second, last in rest)
            yield _in_a_row(first), end

    def _steps(self, at: int) -> Iterator[tuple[tuple[str, ...], int]]:
        """Yields the label at `at`, before that with those that follow after "then"; each with the position behind."""
        word = self._word(at)
        if not word or _is_set(word) or word in OPERATORS or '"' in word:
            self._misses(at, "r")
            return
        if self._word(at + 1) == THEN:
            yield from (((word, *later), end) for later, end in self._steps(at + 2))
        yield (word,), at + 1


def _in_a_row(labels: Sequence[str]) -> str:
    return f" {THEN} ".join(labels)


def _is_set(word: str) -> bool:
    return bool(_WAY.fullmatch(word) or ALMOST_PSEUDONYM.fullmatch(word))


def _is_known(expression: str) -> bool:
    """Returns True if the expression is valid in the grammar; `way(2)` counts as a pseudonym."""
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


def _words_of(expression: Expression) -> Iterator[str]:
    """Yields the words of an expression, a function before its arguments; more than two sets are nested in pairs."""
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
        if want in ("s", "s*") or (want in ("m", "b", "b?") and operands and not words):
            yield from _words_of(operands.pop(0))
        elif words:
            yield words.pop(0)
