"""Combines two sets: their intersection, or one without the other."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial

from app.reader.meaning.question.question_tokens import AskedQuestion, follows_directly
from app.reader.meaning.question.token_roles import mask
from app.reader.meaning.reading import (
    BEHIND_COUNTED,
    EXTREME_INSIDE,
    EXTREMES,
    OF_WHOLE,
    Reading,
    lacks,
    narrowed,
    operands_of,
)
from app.reader.meaning.schema_graph import SchemaGraph
from kg_store.text.labels import reversed_label

_BEFORE_COUNTED = 4
"""The number of operands of `counted` before the set that is counted."""

_COUNTING = ("counted(", "most(", "fewest(")

SPLIT = 0.5
"""Cost of using two different relations where the question asks one thing about two topics. Chosen by hand; not
fitted.
"""
_LABEL = re.compile(r'"([^"]*)"')
_HAVING = re.compile(r'having\(\w+, "([^"]*)"\)')


class Joins:
    """Makes the readings that combine two other ones."""

    def __init__(self, asked: AskedQuestion, graph: SchemaGraph) -> None:
        self._asked, self._graph = asked, graph
        self._narrows_first = asked.narrows_first
        self._may_deny = "negation" in asked.roles and (asked.form != "truth" or asked.asks_if_any)

    def of(self, level: Sequence[Reading], known: Sequence[Reading]) -> Iterator[Reading]:
        """Combines each of `level` with each of `known` that uses other words and may share members with it."""
        sets = [each for each in known if _is_set(each)]
        for first in filter(_is_set, level):
            for second in sets:
                if first.counted or second.counted:
                    yield from self._with_most_of(first, second)
                    yield from self._with_most_of(second, first)
                if first.used & second.used or first.kinds.isdisjoint(second.kinds):
                    continue
                yield from self._both(first, second)
                yield from self._without(first, second)
                yield from self._without(second, first)

    def _both(self, first: Reading, second: Reading) -> Iterator[Reading]:
        if first.is_whole or second.is_whole or _contradict(first.expression, second.expression):
            return
        if self._asked.form != "truth" and _names_its_answer(first, second):
            return
        if self._graph.order_of(first.expression) > self._graph.order_of(second.expression):
            first, second = second, first
        extremes = [each for each in (first, second) if each.expression.startswith(EXTREMES)]
        if len(extremes) == 1 and self._narrows_first:
            other = second if extremes[0] is first else first
            narrow = partial(self._graph.shared, other=other.expression, kinds=other.kinds)
            chosen = narrowed(extremes[0].expression, narrow, is_inside=True)
            both = first.merged(second, chosen)
            cost = OF_WHOLE * (first.is_of_whole + second.is_of_whole)
            cost += BEHIND_COUNTED * (0 < extremes[0].counted < 1 << other.near)
            yield both._replace(score=both.score - cost)
            return
        both, inside = first.merged(second, f"intersect({first.expression}, {second.expression})"), len(extremes)
        cost = OF_WHOLE * (first.is_of_whole + second.is_of_whole) + EXTREME_INSIDE * inside
        cost += SPLIT * self._splits(first, second)
        yield both._replace(score=both.score - cost)

    def _splits(self, first: Reading, second: Reading) -> bool:
        """True if one thing is asked of "X and Y" but the two readings use different relations."""
        near, far = sorted((first.anchor, second.anchor))
        is_listed = near >= 0 and far == near + 2 and self._asked.words[near + 1] == "and"
        return is_listed and _LABEL.findall(first.expression) != _LABEL.findall(second.expression)

    def _with_most_of(self, first: Reading, second: Reading) -> Iterator[Reading]:
        """`first` with the things it counts narrowed to `second`, which follows it: "the most patients
        in Arnsbridge".
        """
        begins = (first.counted & -first.counted).bit_length() - 1
        is_said = (
            bool(first.counted) and first.used & second.used == first.counted and second.near == second.said == begins
        )
        # One hop beyond what is counted leads to other things.
        is_said = is_said and first.expression.startswith(_COUNTING)
        if is_said and not second.is_whole and not second.expression.startswith(EXTREMES):
            both, counts = first.spanning(second.used), _without_counted(first.expression)
            score = first.score + second.score - first.counted.bit_count()
            yield both._replace(
                expression=f"{counts}, {second.expression})", score=score, counted=0,
                unsaid=first.unsaid + second.unsaid, silent=first.silent + second.silent,
                weakest=min(first.weakest, second.weakest),
            )  # fmt: skip

    def _without(self, whole: Reading, taken: Reading) -> Iterator[Reading]:
        """Takes the set after a "not" out of the set before it."""
        text, roles = whole.text(self._graph), self._asked.roles
        if taken.is_whole or not text or not self._may_deny or _undoes(text, taken.expression):
            return
        for at in self._asked.at("negation"):
            if (whole.used | taken.used) >> at & 1:
                continue
            if self._asked.words[at] == "non" and roles[at + 1 : at + 2] == ("content",):
                continue  # "Unpaid" says that the thing itself is not paid.
            between = mask(range(max(taken.near, 0), taken.far))
            further = follows_directly(self._asked, taken.far)
            if taken.near < at or (whole.used & between) or (further >= 0 and not taken.used >> further & 1):
                continue
            next_said = next((n for n in range(at + 1, len(roles)) if roles[n] in ("content", "thing", "value")), -1)
            if next_said >= 0 and taken.used >> next_said & 1:
                if not whole.kinds <= taken.kinds:
                    text = f"intersect({text}, {self._graph.whole(whole.kinds & taken.kinds)})"
                rest = narrowed(text, lambda inner: f"difference({inner}, {taken.expression})", self._narrows_first)
                found = whole.merged(taken, rest, 1 << at)
                yield found._replace(score=found.score - OF_WHOLE * taken.is_of_whole)


def _without_counted(text: str) -> str:
    """The beginning of `text`, up to where the set that is counted stands or would stand."""
    if text.startswith("counted("):
        return f"counted({', '.join(operands_of(text)[:_BEFORE_COUNTED])}"
    return text[: text.rindex('"') + 1]


def _undoes(text: str, taken: str) -> bool:
    """True if the exclusion leaves nothing that anybody asks for: things with a relation, without
    those it leads to.
    """
    had = {reversed_label(label) for label in _HAVING.findall(text)}
    return any(f'"{label}"' in taken for label in had)


def _contradict(first: str, second: str) -> bool:
    """True if one of the two excludes things that have what the other one requires."""
    pairs = ((first, second), (second, first))
    return any(lacks(one, label) for one, other in pairs for label in _HAVING.findall(other) if one != other)


def _names_its_answer(first: Reading, second: Reading) -> bool:
    """True if the combined set could only be a thing that the question itself names."""
    named = [each.expression for each in (first, second) if "(" not in each.expression]
    return len(named) == 2 or any(each[0] == "E" for each in named)


def _is_set(each: Reading) -> bool:
    return not (each.value or each.is_bare or each.is_implied)
