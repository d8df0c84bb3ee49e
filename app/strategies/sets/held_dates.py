"""Finds the dates of mediators and things (from, until, or on), and builds the sets whose dates fit an asked time.

A relation counts as a start or an end by its words, and as a date by the values that the graph holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from app.llm.in_house import AskedTime
from app.strategies.base import StrategyInput
from app.strategies.start import declares_kinds
from kg_store.terms import NodeKind, Schema, ValueKind, as_mids, cached_by_version
from kg_store.text.labels import plain_words

MAX_DATED: Final = 2_000
"""The greatest number of mediators whose dates are read; more than that belong to a kind, not to one thing. By hand.
"""
MIN_ENDED: Final = 3
"""If at least so many tenures have ended, a missing end counts as unknown and not as "still going on". Chosen by hand.
"""
# The share of named things that must have a date. Chosen by hand; not fitted.
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
    """The labels of the relations for start, end and point of time; empty if there is none."""

    starts: str = ""
    ends: str = ""
    when: str = ""

    @property
    def first(self) -> str:
        """The label that orders things in time."""
        return self.starts or self.when


class DateReader:
    """Finds which relations of some things lead to dates, and builds the sets whose dates fit an asked time."""

    def __init__(self, inquiry: StrategyInput, asked: AskedTime) -> None:
        self._inquiry, self._asked = inquiry, asked
        self._bounds: tuple[str, str] | None = None

    def of(self, things: str, *, in_passing: bool = False) -> HeldDates | None:
        """Returns the dates of the things in the expression `things`, or None.

        `in_passing`: dates of birth and death are ignored, since the things are named and only passed on the way.
        """
        found: dict[str, str] = {}
        for label, words in self._labels(things):
            role = "starts" if words & _STARTS else "ends" if words & _ENDS else "when" if words & _WHEN else ""
            of_life = in_passing and not _OF_LIFE.isdisjoint(words)
            if role and role not in found and not of_life and self._say_when(things, label, in_passing=in_passing):
                found[role] = label
        return HeldDates(**found) if found else None

    def fitting(self, things: str, dates: HeldDates) -> str:
        """Returns the expression for those of `things` that fit the asked time; empty if that cannot be said."""
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
        """The labels by which `things` leave forwards, with the words of each; shorter labels first."""
        result = self._inquiry.result_of(things)
        if result is None or not 0 < len(result.mids) <= MAX_DATED:
            return
        schema = self._inquiry.graph.schema
        hops = self._inquiry.graph.relations_of(as_mids(result.mids))
        labels = (schema.label(hop) for hop in hops if not hop.inverse and _may_be_date(schema, hop.relation))
        for label in sorted(labels, key=lambda each: (len(plain_words(each).split()), each)):
            yield label, _words_of(label)

    def _say_when(self, things: str, label: str, *, in_passing: bool) -> bool:
        """True if the label leads to dates. Of named things, most must have one, or "the first" would be arbitrary."""
        if in_passing and self._count(f'having({things}, "{label}")') < MIN_DATED * self._count(things):
            return False
        return self._are_dates(f'reach({things}, "{label}")')

    def _are_dates(self, values: str) -> bool:
        least = self._inquiry.result_of(f"min({values})")
        return least is not None and least.kind == "set"

    def _dates(self) -> tuple[str, str] | None:
        """Expressions for the first and the last date that the question asks about."""
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
        """The pseudonym of the date of the question."""
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
        """The last holder of an office, if the tenure has not ended; earlier holders have left even if no end is
        stored.
        """
        return f'difference(argmax({begun}, "{dates.starts}"), filter({things}, "{dates.ends}", <, {date}))'


def _may_be_date(schema: Schema, relation: int) -> bool:
    """False of masked relations, whose words cannot say "from" or "until", and of values that cannot be dates."""
    known = schema.relations[relation]
    return known.mask is None and known.value_kind in (None, ValueKind.DATE, ValueKind.TEXT)


@cached_by_version
def may_say_when(schema: Schema) -> bool:
    """True where the words of a relation say since when or until when; where kinds are declared, of a mediator's."""
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
