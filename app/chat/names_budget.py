"""NamesBudget: the names of a graph that one person may read on a day."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from app.accounts.api_keys import Caller
from app.accounts.names_read import NamesRead, Reader
from app.telemetry.logs import event_log
from client_sdk.protocol import Names
from kg_store.catalog import PrivateGraph
from kg_store.terms import NodeKind

SHARE: Final = 0.05
"""The part of a graph's things whose names a person reads in a day of much work. Chosen by hand; not fitted."""
MIN_NAMES: Final = 200
"""So many names may be read of a small graph. Chosen by hand."""
ALARM_AT: Final = 0.5
"""From this part of the budget on the log tells of it, once a day and person. Chosen by hand."""

log = event_log("names")


class NamesBudget:
    """Takes the names of every answer, reason, excerpt and trace before they are sealed.

    Promise: a person who is no admin reads at most `per_day` distinct names of a graph on a day (UTC), a key twice as
    many. With None it is SHARE of the graph's things, and MIN_NAMES at least.
    """

    def __init__(self, reads: NamesRead, per_day: int | None) -> None:
        self._reads, self._per_day = reads, per_day

    def take(self, graph: PrivateGraph, caller: Caller, person: str, table: Mapping[str, Names]) -> None:
        """Counts what `table` restores. Raises NamesUsedUpError."""
        # Numbers and dates tell nobody apart from their owner, whose name counts.
        names = {name for each in table.values() for name in each.names if any(map(str.isalpha, name))}
        if not names:
            return
        most = self._per_day or max(MIN_NAMES, int(SHARE * _things(graph.whole or graph)))
        reader = Reader(graph.tenant, graph.name, caller.key_id, person, caller.is_admin)
        before, now = self._reads.take(reader, names, most)
        if before < ALARM_AT * most <= now:
            log.warning("many_names_read", caller=caller.key_id, count=now)


def _things(graph: PrivateGraph) -> int:
    return sum(signature.size for signature in graph.blind.schema.signatures if signature.kind is NodeKind.ENTITY)
