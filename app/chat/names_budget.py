"""Limits and records the names and facts of the graph that replies restore to a person."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Final

from app.accounts.api_keys import Caller
from app.accounts.names_read import PERSONS_OF_A_KEY, NamesRead, NamesUsedUpError, Reader, ReadKind, ReadLimit
from app.egress.ledger.access import AccessEntry, AccessEvent, AccessRecord, thing_id
from app.privacy.pseudonyms import PseudonymTable
from app.telemetry.logs import event_log
from client_sdk.protocol import Fact, Names
from kg_store.catalog import PrivateGraph
from kg_store.terms import NodeKind, Schema, cached_by_version

SHARE: Final = 0.05
"""The share of a graph's things, or facts, that one person may read on a day. Chosen by hand to allow a day of much
work."""
MAX_SHARE: Final = 0.09
"""The greatest share of them that all persons of one API key may read on a day, and one person of a small graph.

Chosen so that a crawl reads less than a tenth.
"""
USUAL: Final = {"names": 200, "facts": 400}
"""The names and facts that one person may read of a graph so small that SHARE is less, up to MAX_SHARE.

Chosen by hand: several lists.
"""
LEAST: Final = {"names": 20, "facts": 100}
"""The least budget of a day, however small the graph: a few short answers, and what they cite. Chosen by hand."""
MIN_HOUR: Final = 200
"""The least budget of an hour, where a day's is not less. Chosen by hand."""
HOUR_SHARE: Final = 0.5
"""The share of the day's budget that may be new within one hour. Chosen by hand."""
FACTS_A_NAME: Final = 2
"""The facts a day for each name that AROG_NAMES_PER_DAY allows, where that is more. Chosen by hand."""
ALARM_AT: Final = 0.5
"""The share of the day's budget at which an alarm tells that a person reads much. Chosen by hand."""
ALARM_SHARE: Final = 0.04
"""The share of the graph's things or facts at which it does so earlier. Chosen by hand to come before 5 %."""
MIN_ALARMED: Final = 8
"""The fewest names or facts that are told of by an alarm, however small the graph. Chosen by hand."""

log = event_log("names")


@cached_by_version
def _sizes(schema: Schema) -> dict[ReadKind, int]:
    """Returns how many things a graph has, and how many facts at least.

    These are one for each thing and relation from it, and for each row without a name one less than it has cells.
    """
    of_things = [each for each in schema.signatures if each.kind is NodeKind.ENTITY]
    of_rows = [each for each in schema.signatures if each.kind is NodeKind.MEDIATOR]
    facts = sum(each.size * sum(not hop.inverse for hop in each.hops) for each in of_things)
    facts += sum(each.size * (len(each.hops) - 1) for each in of_rows)
    return {"names": sum(each.size for each in of_things), "facts": facts}


def limit_of(kind: ReadKind, size: int) -> ReadLimit:
    """Returns the limit for a graph that has `size` things, or facts."""
    most = int(MAX_SHARE * size)
    day = max(LEAST[kind], min(USUAL[kind], most), int(SHARE * size))
    of_key = max(1.0, min(PERSONS_OF_A_KEY, most / day))
    return ReadLimit(day, min(day, max(MIN_HOUR, int(HOUR_SHARE * day))), of_key)


ToldFact = tuple[str, tuple[str, ...], str]
"""A fact that a reply tells: the word for its head, the labels of its path, the word for its tail."""


def told_by(facts: Iterable[Fact]) -> list[ToldFact]:
    """Returns the facts of a reply as they are counted."""
    return [(fact.head, tuple(fact.path), fact.tail) for fact in facts]


def _written(head: str, path: Sequence[str], tail: str) -> str:
    """Returns a fact as one text, which is the same from either end."""
    steps = [step.split("|") for step in path]
    back = ["|".join(_turned(hop) for hop in reversed(step)) for step in reversed(steps)]
    return min("\0".join((head, *path, tail)), "\0".join((tail, *back, head)))


def _turned(hop: str) -> str:
    return hop[1:] if hop.startswith("^") else f"^{hop}"


@dataclass(frozen=True, slots=True)
class RestoredNames:
    """The names of one reply, by the words for which they are put in, and to whom they go.

    `facts`: what the reply says of them. `answer`: id of the reply. `person` and `reason`: who asks and why, as the
    request tells. `table`: the pseudonyms of the conversation, which tell apart things with the same name. `about`:
    MIDs of what the question named. `conditions`: texts of the conditions by which the reader chose rows of a table;
    each counts as a fact, because the number of rows answers it.
    """

    names: Mapping[str, Names] = field(repr=False)
    answer: str = ""
    person: str = ""
    reason: str = field(default="", repr=False)
    table: PseudonymTable | None = field(default=None, repr=False)
    about: Sequence[int] = field(default=(), repr=False)
    facts: Sequence[ToldFact] = field(default=(), repr=False)
    conditions: Sequence[str] = field(default=(), repr=False)

    @property
    def telling(self) -> set[str]:
        """The names that have letters: a number or a date says nothing without its owner, whose name is there."""
        return {name for each in self.names.values() for name in each.names if any(map(str.isalpha, name))}

    @property
    def told_facts(self) -> set[str]:
        """The facts both of whose ends are named, numbers and dates too; between two sets, one for each member."""
        return {each for fact in self.facts for each in self._pairs(*fact)} | {*self.conditions}

    def _pairs(self, head: str, path: Sequence[str], tail: str) -> Iterator[str]:
        if head not in self.names or tail not in self.names:
            return
        heads, tails = self.names[head].names, self.names[tail].names
        if len(heads) == 1 or len(tails) == 1:
            yield from (_written(start, path, end) for start in heads for end in tails)
        else:  # Who of the one belongs to whom of the other is not told.
            yield from (_written(*ends[:1], path, *ends[1:]) for ends in zip_longest(heads, tails, fillvalue=""))

    def things_of(self, graph: PrivateGraph) -> tuple[str, ...]:
        """Returns the ids of the things that were named or asked about, as the access record has them."""
        found = set(self.about)
        for word, each in self.names.items():
            for name in each.names:
                called = graph.names.named(name)
                if len(called) > 1 and self.table is not None and self.table.meaning(word) is not None:
                    behind = set(self.table.resolve(word, graph.blind)[0].tolist())
                    called = tuple(mid for mid in called if mid in behind) or called
                found.update(called)
        return tuple(sorted(thing_id(graph.tenant, graph.name, mid) for mid in found))


class NamesBudget:
    """Limits how many names and facts of a graph a person may read, and records who reads whom, before names are
    sealed.

    Promise: a person who is no admin reads at most `per_day` distinct names of a graph on a day (UTC) and `per_hour`
    new ones within an hour, and all persons of one API key at most twice as many; the same for facts. Each reply that
    goes out with names is in the access record. So is an alarm before somebody is given more than ALARM_AT of a day's,
    or ALARM_SHARE of the graph, and once they are refused. Without `per_day` and `per_hour`, `limit_of` says how many.
    """

    def __init__(
        self,
        reads: NamesRead,
        record: AccessRecord,
        per_day: int | None = None,
        per_hour: int | None = None,
        facts_per_day: int | None = None,
    ) -> None:
        self._reads, self._record, self._per_hour = reads, record, per_hour
        self._per_day: dict[ReadKind, int | None] = {"names": per_day, "facts": facts_per_day}

    def take(self, graph: PrivateGraph, caller: Caller, restored: RestoredNames) -> None:
        """Counts and records what the caller reads. Raises NamesUsedUpError, LedgerUnavailableError."""
        told: dict[ReadKind, set[str]] = {"names": restored.telling, "facts": restored.told_facts}
        things = restored.things_of(graph)
        if not (things or any(told.values())):
            return
        sizes = _sizes((graph.whole or graph).blind.schema)
        most = {kind: self._limit(graph, kind, size) for kind, size in sizes.items()}
        reader = Reader(graph.tenant, graph.name, caller.key_id, restored.person, caller.is_admin)
        entry = AccessEntry(graph.tenant, caller.key_id, graph.name, "read", len(told["names"]), restored.answer)
        entry = replace(entry, person=restored.person)
        try:
            counts = self._reads.take(reader, told, most)
        except NamesUsedUpError as error:
            self._alarm(entry, error.kind, error.most)
            raise
        event: AccessEvent = "read_lifted" if graph.name in caller.lifted else "read"
        self._record.add(replace(entry, event=event, reason=restored.reason, things=things))
        for kind, (before, now) in counts.items():
            if before < self._alarm_at(graph, kind, most[kind], sizes[kind]) <= now:
                self._alarm(entry, kind, now)

    def _set_days(self, graph: PrivateGraph) -> dict[ReadKind, int | None]:
        """Returns the limits of a day that the graph's owner set in its policy, or else whoever runs the service."""
        budget = graph.policy.budget
        return {
            "names": budget.names_per_day or self._per_day["names"],
            "facts": budget.facts_per_day or self._per_day["facts"],
        }

    def _limit(self, graph: PrivateGraph, kind: ReadKind, size: int) -> ReadLimit:
        days = self._set_days(graph)
        limit, day, names = limit_of(kind, size), days[kind], days["names"]
        if kind == "facts" and day is None and names is not None and FACTS_A_NAME * names > limit.day:
            day = FACTS_A_NAME * names
        if day is not None:
            limit = ReadLimit(day, max(MIN_HOUR, int(HOUR_SHARE * day)))
        return replace(limit, hour=self._per_hour) if self._per_hour and kind == "names" else limit

    def _alarm_at(self, graph: PrivateGraph, kind: ReadKind, limit: ReadLimit, size: int) -> float:
        """Returns the number of names or facts a day at which an alarm is due."""
        half, days = ALARM_AT * limit.day, self._set_days(graph)
        is_default = days["names"] is None and days[kind] is None
        return min(half, max(MIN_ALARMED, ALARM_SHARE * size)) if is_default else half

    def _alarm(self, entry: AccessEntry, kind: ReadKind, count: int) -> None:
        if self._record.alarm(replace(entry, event="alarm", count=count, id=secrets.token_hex(16))):
            log.warning(f"many_{kind}_read", caller=entry.caller, count=count)
