"""Narrows the paths of a question to the time that it asks about: who was governor in 1957, who is her husband now.

Graphs mostly store such facts as mediators (nodes without a name) with a start and an end date. A path through them is
walked in two steps, and only those with fitting dates are kept. Promise: only the embedded reasoner uses such paths.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from app.llm.in_house import AskedTime
from app.strategies.base import Draft, FoundFact, StrategyInput
from app.strategies.start import declares_kinds, is_wide
from kg_store.algebra.expressions import Call, Expression, Name, parse, walked_along, written
from kg_store.graph.traversal import named_of
from kg_store.terms import Mids, NodeKind, Schema, ValueKind, as_mids, cached_by_version
from kg_store.text.labels import plain_words

MAX_DATED: Final = 2_000
"""The greatest number of things (mostly mediators) whose dates are read; more belong to a whole kind. Chosen by hand.
"""
MIN_ENDED: Final = 3
"""The least number of things with an end date for which a missing one means "unknown" and not "still going on". Chosen
by hand.
"""
# The least share of things with a name that must have a date, or they are not ordered by it. Chosen by hand.
MIN_DATED: Final = 0.8
_STARTS: Final = frozenset(
    "from start started starts starting begin begins began beginning since opened joined hired appointed".split()
)
_ENDS: Final = frozenset(
    "to until till end ended ends ending finish finished left closed departed expires expiry expired retired".split()
)
_WHEN: Final = frozenset("date dates year season time day month on when period term session decade".split())
_SAYING: Final = _STARTS | _ENDS | _WHEN
_OF_LIFE: Final = frozenset("birth born death died deceased".split())
_OF_VERBS: Final = {
    "born": frozenset({"birth", "born"}),
    "died": frozenset({"death", "died", "deceased"}),
    "ended": _ENDS | {"dissolved"},
    "closed": _ENDS | {"dissolved"},
    "released": frozenset({"release", "released", "publication", "published"}),
    "out": frozenset({"release", "released", "publication", "published"}),
    "published": frozenset({"release", "released", "publication", "published"}),
} | dict.fromkeys(
    "founded established started began begun opened launched created".split(),
    _STARTS | {"founded", "established", "foundation", "inception", "launch", "launched", "created"},
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class HeldDates:
    """The labels of the relations by which things have a start, an end and a point in time; "" if they have none."""

    starts: str = ""
    ends: str = ""
    when: str = ""

    @property
    def first(self) -> str:
        """The label of the date that orders things in time: the start, or else the point in time."""
        return self.starts or self.when


class DateReader:
    """Finds the relations by which things have dates, and writes expressions for the things that fit an asked time."""

    def __init__(self, inquiry: StrategyInput, asked: AskedTime) -> None:
        self._inquiry, self._asked = inquiry, asked
        self._bounds: tuple[str, str] | None = None

    def of(self, things: str, *, in_passing: bool = False) -> HeldDates | None:
        """Returns the labels of the dates that the things of the expression `things` have; None if they have none.

        `in_passing`: the things have names and are not mediators. Their dates of birth and death are ignored, and
        most of them must have a date.
        """
        found: dict[str, str] = {}
        for label, words in self._labels(things):
            role = "starts" if words & _STARTS else "ends" if words & _ENDS else "when" if words & _WHEN else ""
            of_life = in_passing and not _OF_LIFE.isdisjoint(words)
            if role and role not in found and not of_life and self._say_when(things, label, in_passing=in_passing):
                found[role] = label
        return HeldDates(**found) if found else None

    def fitting(self, things: str, dates: HeldDates) -> str:
        """Returns the expression for those of `things` whose dates fit the asked time; "" if a date is missing."""
        relation = self._asked.relation
        if relation in ("first", "last"):
            by = dates.first or dates.ends
            return f'{"argmin" if relation == "first" else "argmax"}({things}, "{by}")'
        if relation == "now":
            return self._now(things, dates)
        if relation == "past":
            return f'filter({things}, "{dates.ends}", <, {self.today})' if dates.ends else ""
        bounds = self._dates()
        if bounds is None:
            return ""
        if relation == "at":
            return self._at(things, dates, *bounds)
        return self._beside(things, dates, bounds[0])

    def _labels(self, things: str) -> Iterator[tuple[str, frozenset[str]]]:
        """Yields the labels of forward relations of `things` that may lead to dates, with their words; short first."""
        result = self._inquiry.result_of(things)
        if result is None or not 0 < len(result.mids) <= MAX_DATED:
            return
        schema = self._inquiry.graph.schema
        hops = self._inquiry.graph.relations_of(as_mids(result.mids))
        labels = (schema.label(hop) for hop in hops if not hop.inverse and _may_be_date(schema, hop.relation))
        for label in sorted(labels, key=lambda each: (len(plain_words(each).split()), each)):
            yield label, _words_of(label)

    def _say_when(self, things: str, label: str, *, in_passing: bool) -> bool:
        """Returns True if the relation leads to dates.

        If `in_passing`, most things must have one, or "the first" of them would be arbitrary.
        """
        if in_passing and self._count(f'having({things}, "{label}")') < MIN_DATED * self._count(things):
            return False
        return self._are_dates(f'reach({things}, "{label}")')

    def _are_dates(self, values: str) -> bool:
        least = self._inquiry.result_of(f"min({values})")
        return least is not None and least.kind == "set"

    def _dates(self) -> tuple[str, str] | None:
        if self._asked.dates:
            return self._asked.dates[0], self._asked.dates[-1]
        if self._bounds is None:
            self._bounds = self._dates_of_thing() or ("", "")
        return self._bounds if all(self._bounds) else None

    def _dates_of_thing(self) -> tuple[str, str] | None:
        thing, verb = self._asked.thing, self._asked.verb.lower().split()
        if not verb:
            dates = self.of(thing, in_passing=True)
            first, last = (dates.first, dates.ends or dates.first) if dates else ("", "")
            return (f'reach({thing}, "{first}")', f'reach({thing}, "{last}")') if first and last else None
        meant = frozenset[str]().union(*(_OF_VERBS.get(word, frozenset({word})) for word in verb if len(word) > 3))
        labels = (label for label, words in self._labels(thing) if words & meant)
        dated = (f'reach({thing}, "{label}")' for label in labels)
        date = next(filter(self._are_dates, dated), None)
        return (date, date) if date else None

    def _count(self, things: str) -> int:
        result = self._inquiry.result_of(things)
        return len(result.mids) if result is not None else 0

    @cached_property
    def today(self) -> str:
        """The pseudonym of today's date; empty if the date is unknown."""
        return self._inquiry.today()

    def _now(self, things: str, dates: HeldDates) -> str:
        begun = f'filter({things}, "{dates.first}", <=, {self.today})' if dates.first else things
        if not dates.ends:
            return f'argmax({begun}, "{dates.first}")'
        if self._asked.is_of_one and dates.starts:
            return self._last_begun(things, begun, dates, self.today)
        return f'difference({begun}, filter({begun}, "{dates.ends}", <, {self.today}))'

    def _at(self, things: str, dates: HeldDates, first: str, last: str) -> str:
        if not dates.starts:
            by = dates.when
            if not by:
                return ""
            if first == last:
                return f'filter({things}, "{by}", =, {first})'
            return f'filter(filter({things}, "{by}", >=, {first}), "{by}", <=, {last})'
        begun = f'filter({things}, "{dates.starts}", <=, {last})'
        if not dates.ends:
            return f'argmax({begun}, "{dates.starts}")' if self._asked.is_of_one else begun
        over = f'filter({begun}, "{dates.ends}", >=, {first})'
        lasting = f'difference({begun}, having({begun}, "{dates.ends}"))'
        count = self._count(over)
        if not count:
            return self._last_begun(things, begun, dates, first) if self._asked.is_of_one else lasting
        follow_on = count == 1 and self._count(f'having({things}, "{dates.ends}")') >= MIN_ENDED
        if self._asked.is_of_one or follow_on or not self._count(lasting):
            return over
        return f'difference({begun}, filter({begun}, "{dates.ends}", <, {first}))'

    def _beside(self, things: str, dates: HeldDates, date: str) -> str:
        relation, by = self._asked.relation, dates.first
        if not by:
            return ""
        if relation == "since":
            if not (dates.starts and dates.ends):
                return f'filter({things}, "{by}", >=, {date})'
            return f'difference(having({things}, "{by}"), filter({things}, "{dates.ends}", <, {date}))'
        operator = {"before": "<", "after": ">", "until": "<="}[relation]
        found = f'filter({things}, "{by}", {operator}, {date})'
        if not self._asked.is_of_one:
            return found
        return f'{"argmin" if relation == "after" else "argmax"}({found}, "{by}")'

    def _last_begun(self, things: str, begun: str, dates: HeldDates, date: str) -> str:
        """Returns the expression for the thing that began last, empty if it ended before `date`.

        Of an office that one person holds at a time, earlier holders have left even if no end is stored.
        """
        return f'difference(argmax({begun}, "{dates.starts}"), filter({things}, "{dates.ends}", <, {date}))'


def _may_be_date(schema: Schema, relation: int) -> bool:
    """Returns False for masked relations, whose words are hidden, and for relations to values that can't be dates."""
    known = schema.relations[relation]
    return known.mask is None and known.value_kind in (None, ValueKind.DATE, ValueKind.TEXT)


@cached_by_version
def may_say_when(schema: Schema) -> bool:
    """Returns True if the label of some relation to values speaks of a time (from, until, date, year, ...).

    If the graph declares kinds, only relations of mediators count.
    """
    of_all = not declares_kinds(schema)
    hops = {
        hop.relation
        for signature in schema.signatures
        if of_all or signature.kind is NodeKind.MEDIATOR
        for hop in signature.hops
        if not hop.inverse
    }
    return any(_may_be_date(schema, each) and _words_of(schema.relations[each].label) & _SAYING for each in hops)


def _words_of(label: str) -> frozenset[str]:
    return frozenset(plain_words(label).replace("_", " ").replace(".", " ").lower().split())


_CHOOSING: Final = ("argmin(", "argmax(", "filter(", "sort(", "compare(")
MAX_STEPS: Final = 3
"""The greatest number of steps of a path that is narrowed. Chosen by hand; not fitted."""


@dataclass(frozen=True, slots=True, eq=False)
class NarrowedPath:
    """The expression for what a path leads to at the asked time, and the things of its result (at least one)."""

    expression: str
    mids: Mids


class TimedPaths:
    """Narrows the paths of one question to its time, and remembers the result for each path.

    `inquiry`: the question without the words that state the time. `is_cut`: these words were taken out. On a wide
    schema "first" and "now" are not, because relation labels may hold them. `of_mediators`: the graph declares kinds;
    then only dates of mediators are used here, and dates of things with a name are read with the rest of the question.
    """

    def __init__(self, inquiry: StrategyInput, asked: AskedTime) -> None:
        self.inquiry, self.asked = inquiry, asked
        self.is_cut = asked.is_stated or not is_wide(inquiry.graph.schema)
        self.of_mediators = declares_kinds(inquiry.graph.schema)
        self._dates = DateReader(inquiry, asked)
        self._known: dict[tuple[str, ...], NarrowedPath | None] = {}

    @classmethod
    def of(cls, inquiry: StrategyInput) -> TimedPaths | None:
        """Returns the object that narrows the paths of the question.

        None if the question asks for no time, if a model answers it, or if the schema has no relation that speaks of a
        time.
        """
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
        """True if an answer may be given although no date could narrow it.

        So it is if "now" is asked, as most graphs hold only what is true now, or if the time is still in the question.
        """
        return not self.is_cut or (self.asked.relation == "now" and not self.of_mediators)

    @property
    def names(self) -> tuple[str, ...]:
        """The pseudonyms of the dates, or of the thing with the date, that narrowed expressions may use."""
        is_of_today = self.asked.relation in ("now", "past")
        return (*self.asked.names, self._dates.today) if is_of_today else self.asked.names

    def narrowed(self, start: str, path: Sequence[str]) -> NarrowedPath | None:
        """Returns what `path` leads to from `start` at the asked time; None if nothing there has dates."""
        key = (start, *path)
        if key not in self._known:
            self._known[key] = self._narrowed(start, path) if len(path) <= MAX_STEPS else None
        return self._known[key]

    def settled(self, draft: Draft, facts: Sequence[FoundFact]) -> Draft | None:
        """Returns `draft` with every path in it narrowed to the asked time.

        None if no path could be narrowed, if nothing is left, or if the draft itself already selects by a value.
        """
        if any(function in expression for expression in draft.expressions for function in _CHOOSING):
            return None
        if any(self.inquiry.result_of(expression) is None for expression in draft.expressions):
            return None
        by_end = {fact.end: fact for fact in facts}
        told = [written(self._with_time(parse(expression), by_end)) for expression in draft.expressions]
        if list(draft.expressions) == told or self.inquiry.result_of(told[0]) is None:
            return None
        return replace(draft, expressions=tuple(told))

    def excludes(self, draft: Draft | None, facts: Sequence[FoundFact]) -> bool:
        """Returns True if the draft must be refused, because its result was true only at other times.

        Such a draft does not use the time that the question states, and walks a path through mediators whose dates do
        not fit.
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
            # Things with a name on the path may have a start and an end themselves, such as an employment or a tenure.
            found = self._fitting(walked_along(start, before[:at]), path[at:], start, is_between=True)
            if found is not None:
                return found
        return self._of_ends(walked_along(source, [last]), start)

    def _of_ends(self, ends: str, start: str) -> NarrowedPath | None:
        """Returns the ends of a path narrowed to the asked time by their own dates.

        For "first" and "last", years in the names of the ends are tried before these dates.
        """
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
        if self.asked.is_of_date and self.asked.relation in ("first", "last"):
            further = [dates.first]  # "When was the last walk of X" asks for its date, not for who walked.
        return self._held(walked_along(fitting, further), start) if fitting else None

    def _held(self, expression: str, start: str) -> NarrowedPath | None:
        """Returns `expression` as a narrowed path, leaving out the things of `start`.

        Returns None if the result holds no other thing with a name.
        """
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
    """Returns the starting pseudonym and the path of an expression that only walks; None for other expressions.

    Sets that earlier rounds reached are traced back through `facts` (by their `end`).
    """
    path: tuple[str, ...] = ()
    while isinstance(expression, Call) and expression.function == "reach":
        path, expression = (*expression.words, *path), expression.operands[0]
    if not isinstance(expression, Name):
        return None
    start = expression.pseudonym
    while start in facts and len(path) < MAX_STEPS:
        path, start = (*facts[start].path, *path), facts[start].start
    return (start, path) if path else None
