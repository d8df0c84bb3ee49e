"""Limits and records the names of the graph that replies restore to a person."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from app.accounts.api_keys import Caller
from app.accounts.names_read import NamesLimit, NamesRead, NamesUsedUpError, Reader
from app.egress.ledger.access import AccessEntry, AccessEvent, AccessRecord, thing_id
from app.privacy.pseudonyms import PseudonymTable
from app.telemetry.logs import event_log
from client_sdk.protocol import Names
from kg_store.catalog import PrivateGraph
from kg_store.terms import NodeKind, Schema, cached_by_version

SHARE: Final = 0.05
"""The share of a graph's things whose names one person may read on a day. Chosen by hand to allow a day of much work.
"""
MIN_NAMES: Final = 200
"""The least budget of names of a day and of an hour, however small the graph. Chosen by hand: several long lists."""
HOUR_SHARE: Final = 0.5
"""The share of the day's budget that may be new within one hour. Chosen by hand."""
ALARM_AT: Final = 0.5
"""The share of the day's budget at which an alarm tells that a person reads many names. Chosen by hand."""

log = event_log("names")


@cached_by_version
def _things(schema: Schema) -> int:
    """Returns the number of things in the graph."""
    return sum(each.size for each in schema.signatures if each.kind is NodeKind.ENTITY)


@dataclass(frozen=True, slots=True)
class RestoredNames:
    """The names of one reply, by the words for which they are put in, and to whom they go.

    `answer`: id of the reply. `person` and `reason`: who asks and why, as the request tells. `table`: the pseudonyms
    of the conversation, which tell apart things with the same name. `about`: MIDs of what the question named.
    """

    names: Mapping[str, Names] = field(repr=False)
    answer: str = ""
    person: str = ""
    reason: str = field(default="", repr=False)
    table: PseudonymTable | None = field(default=None, repr=False)
    about: Sequence[int] = field(default=(), repr=False)

    @property
    def telling(self) -> set[str]:
        """The names that have letters: a number or a date says nothing without its owner, whose name is there."""
        return {name for each in self.names.values() for name in each.names if any(map(str.isalpha, name))}

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
    """Limits how many names of a graph a person may read, and records who reads whom, before names are sealed.

    Promise: a person who is no admin reads at most `per_day` distinct names of a graph on a day (UTC) and `per_hour`
    new ones within an hour, and all persons of one API key at most twice as many; each reply that goes out with names
    is in the access record, and so is an alarm once somebody has read half of a day's names or was refused more. If
    `per_day` is None, it is SHARE of the graph's things; without `per_hour`, that is HOUR_SHARE of the day's; both are
    MIN_NAMES at least.
    """

    def __init__(
        self, reads: NamesRead, record: AccessRecord, per_day: int | None = None, per_hour: int | None = None
    ) -> None:
        self._reads, self._record, self._per_day, self._per_hour = reads, record, per_day, per_hour

    def take(self, graph: PrivateGraph, caller: Caller, restored: RestoredNames) -> None:
        """Counts and records names as read by the caller. Raises NamesUsedUpError, LedgerUnavailableError."""
        names, things = restored.telling, restored.things_of(graph)
        if not (names or things):
            return
        most = self._limit(graph)
        reader = Reader(graph.tenant, graph.name, caller.key_id, restored.person, caller.is_admin)
        entry = AccessEntry(graph.tenant, caller.key_id, graph.name, "read", len(names), restored.answer)
        entry = replace(entry, person=restored.person)
        try:
            before, now = self._reads.take(reader, names, most)
        except NamesUsedUpError as error:
            self._alarm(entry, error.most)
            raise
        event: AccessEvent = "read_lifted" if graph.name in caller.lifted else "read"
        self._record.add(replace(entry, event=event, reason=restored.reason, things=things))
        if before < ALARM_AT * most.day <= now:
            self._alarm(entry, now)

    def _limit(self, graph: PrivateGraph) -> NamesLimit:
        day = self._per_day or max(MIN_NAMES, int(SHARE * _things((graph.whole or graph).blind.schema)))
        return NamesLimit(day, self._per_hour or max(MIN_NAMES, int(HOUR_SHARE * day)))

    def _alarm(self, entry: AccessEntry, count: int) -> None:
        if self._record.alarm(replace(entry, event="alarm", count=count, id=secrets.token_hex(16))):
            log.warning("many_names_read", caller=entry.caller, count=count)
