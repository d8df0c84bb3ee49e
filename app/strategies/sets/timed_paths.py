"""Narrows the paths of a question to the time that it asks about: who was governor in 1957, who is her husband now.

Such facts belong to mediators with a start and an end. A path through them is walked in two steps, and only mediators
whose dates fit are passed. Promise: narrowed paths are used by the reasoner inside the service only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from app.llm.in_house import AskedTime
from app.strategies.base import Draft, FoundFact, StrategyInput
from app.strategies.sets.held_dates import DateReader, may_say_when
from app.strategies.start import declares_kinds, is_wide
from kg_store.algebra.expressions import Call, Expression, Name, parse, walked_along, written
from kg_store.graph.traversal import named_of
from kg_store.terms import Mids, as_mids

_CHOOSING: Final = ("argmin(", "argmax(", "filter(", "sort(", "compare(")
MAX_STEPS: Final = 3
"""The greatest number of steps of a path that is narrowed. Chosen by hand; not fitted."""


@dataclass(frozen=True, slots=True, eq=False)
class NarrowedPath:
    """An expression for what a path leads to at the asked time, and its members (at least one)."""

    expression: str
    mids: Mids


class TimedPaths:
    """The paths of one question, each narrowed at most once.

    `inquiry`: the question without the words of a stated time; on a wide schema it keeps "first" and "now", which
    labels may say too. `of_mediators`: on graphs with declared kinds only dates of mediators are used here, since
    dates of named things are read with the rest of the question.
    """

    def __init__(self, inquiry: StrategyInput, asked: AskedTime) -> None:
        self.inquiry, self.asked = inquiry, asked
        self.is_cut = asked.is_stated or not is_wide(inquiry.graph.schema)
        self.of_mediators = declares_kinds(inquiry.graph.schema)
        self._dates = DateReader(inquiry, asked)
        self._known: dict[tuple[str, ...], NarrowedPath | None] = {}

    @classmethod
    def of(cls, inquiry: StrategyInput) -> TimedPaths | None:
        """Returns None if the question asks for no time, a model answers it, or no mediator has dates."""
        if inquiry.reasoner.is_model or not may_say_when(inquiry.graph.schema):
            return None
        dialogue = inquiry.dialogue
        dates = [topic.pseudonym for topic in dialogue.topics if topic.newest and topic.says_time]
        asked = inquiry.language.read_time(dialogue.question, dates)
        if asked is None:
            return None
        timed = cls(inquiry, asked)
        if not timed.is_cut:
            return timed
        rest = replace(inquiry, dialogue=dialogue.without_parts(asked.parts, asked.names))
        return cls(rest, asked) if rest.dialogue.topics else None

    @property
    def may_stand(self) -> bool:
        """True if an answer may be given that nothing narrowed, because most graphs hold only what is true now."""
        return not self.is_cut or (self.asked.relation == "now" and not self.of_mediators)

    @property
    def names(self) -> tuple[str, ...]:
        """The pseudonyms of dates that narrowed expressions may hold."""
        is_of_today = self.asked.relation in ("now", "past")
        return (*self.asked.names, self._dates.today) if is_of_today else self.asked.names

    def narrowed(self, start: str, path: Sequence[str]) -> NarrowedPath | None:
        """Returns what `path` leads to from `start` at the asked time; None if nothing there has dates."""
        key = (start, *path)
        if key not in self._known:
            self._known[key] = self._narrowed(start, path) if len(path) <= MAX_STEPS else None
        return self._known[key]

    def settled(self, draft: Draft, facts: Sequence[FoundFact]) -> Draft | None:
        """Returns `draft` with every path in it narrowed.

        None if that changes nothing or leaves nothing, or if the draft itself selects by a value.
        """
        if any(function in expression for expression in draft.expressions for function in _CHOOSING):
            return None
        if any(self.inquiry.result_of(expression) is None for expression in draft.expressions):
            return None
        by_end = {fact.end: fact for fact in facts}
        told = [self._settled(expression, by_end) for expression in draft.expressions]
        if list(draft.expressions) == told or self.inquiry.result_of(told[0]) is None:
            return None
        return replace(draft, expressions=tuple(told))

    def excludes(self, draft: Draft | None, facts: Sequence[FoundFact]) -> bool:
        """True of a draft that ignores the stated time, although everything it walked has dates and
        none of them fit.
        """
        if draft is None or not self.asked.is_stated:
            return False
        if any(name in expression for expression in draft.expressions for name in self.asked.names):
            return False
        by_end = {fact.end: fact for fact in facts}
        walked = [_path_of(parse(expression), by_end) for expression in draft.expressions]
        return any(way and self._says_when(*way) and self.narrowed(*way) is None for way in walked)

    def _says_when(self, start: str, path: Sequence[str]) -> bool:
        head = path[-1].rpartition("|")[0]
        between = f'reach({walked_along(start, path[:-1])}, "{head}")'
        return bool(head) and self._dates.of(between, in_passing=False) is not None

    def _settled(self, expression: str, facts: Mapping[str, FoundFact]) -> str:
        return written(self._with_time(parse(expression), facts))

    def _with_time(self, expression: Expression, facts: Mapping[str, FoundFact]) -> Expression:
        walked = _path_of(expression, facts)
        narrowed = self.narrowed(*walked) if walked else None
        if narrowed is not None:
            return parse(narrowed.expression)
        if isinstance(expression, Name):
            return expression
        operands = tuple(self._with_time(each, facts) for each in expression.operands)
        return replace(expression, operands=operands)

    def _narrowed(self, start: str, path: Sequence[str]) -> NarrowedPath | None:
        *before, last = path
        source = walked_along(start, before)
        head, _, tail = last.rpartition("|")
        if head:
            return self._fitting(f'reach({source}, "{head}")', [tail], start)
        if self.of_mediators:
            return None
        for at in range(len(before), 0, -1):
            # Named things in between that have a start: an employment, a tenure.
            found = self._fitting(walked_along(start, before[:at]), path[at:], start, is_between=True)
            if found is not None:
                return found
        return self._of_ends(walked_along(source, [last]), start)

    def _of_ends(self, ends: str, start: str) -> NarrowedPath | None:
        """The ends of a path by their own dates; the first and the last also by years in their names."""
        if self.asked.relation in ("first", "last"):
            result = self.inquiry.result_of(ends)
            if result is None or len(result.mids) < 2:
                return None
            by_name = self._held(f"{'min' if self.asked.relation == 'first' else 'max'}({ends})", start)
            return by_name or self._fitting(ends, [], start)
        return self._fitting(ends, [], start)

    def _fitting(
        self, things: str, further: Sequence[str], start: str, *, is_between: bool = False
    ) -> NarrowedPath | None:
        dates = self._dates.of(things, in_passing=not further)
        if dates is None or (is_between and not dates.starts):
            return None
        if not self.asked.is_of_date and further[:1] and further[0] in (dates.starts, dates.ends, dates.when):
            return None
        fitting = self._dates.fitting(things, dates)
        return self._held(walked_along(fitting, further), start) if fitting else None

    def _held(self, expression: str, start: str) -> NarrowedPath | None:
        """The narrowed path of `expression`; None if it has no named result or leads back to `start`."""
        result = self.inquiry.result_of(expression)
        if result is None or result.kind != "set":
            return None
        mids = named_of(self.inquiry.graph, as_mids(result.mids))
        own = self.inquiry.result_of(start)
        if own is not None and set(own.mids) & set(mids.tolist()):
            expression = f"difference({expression}, {start})"
            mids = as_mids([mid for mid in mids.tolist() if mid not in own.mids])
        return NarrowedPath(expression, mids) if len(mids) else None


def _path_of(expression: Expression, facts: Mapping[str, FoundFact]) -> tuple[str, tuple[str, ...]] | None:
    """The start and the path of a set that was walked; None for other expressions."""
    path: tuple[str, ...] = ()
    while isinstance(expression, Call) and expression.function == "reach":
        path, expression = (*expression.words, *path), expression.operands[0]
    if not isinstance(expression, Name):
        return None
    start = expression.pseudonym
    while start in facts and len(path) < MAX_STEPS:
        path, start = (*facts[start].path, *path), facts[start].start
    return (start, path) if path else None
