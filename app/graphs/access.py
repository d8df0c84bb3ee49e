"""AccessSearch: finds who had the names of a thing restored, for the request of a person about themselves."""

from __future__ import annotations

from typing import Final

from app.egress.ledger.access import AccessRecord, line_of, thing_id
from app.graphs.jobs import UnknownNameError
from client_sdk.protocol import AccessList, AccessThing
from kg_store.catalog import Catalog, PrivateGraph
from kg_store.graph.traversal import concept_of, kind_of
from kg_store.terms import NodeKind, as_mids

MAX_LISTED: Final = 1_000


class AccessSearch:
    """Searches the access record of one service.

    Limit: whoever was erased from the graph, or stands only in an earlier version of it, is not found any more.
    """

    def __init__(self, catalog: Catalog, record: AccessRecord) -> None:
        self._catalog, self._record = catalog, record

    def who(self, tenant: str, graph: str, name: str, most: int = MAX_LISTED) -> AccessList:
        """Returns who read about the things that `name` means: a name of the graph, or an id in its source.

        Raises UnknownGraphError, UnknownNameError.
        """
        opened = self._catalog.open(tenant, graph)
        mids = self._named(opened, name)
        if not mids:
            raise UnknownNameError
        things = {thing_id(tenant, graph, mid): concept_of(opened.blind, as_mids([mid])) for mid in mids}
        entries = list(self._record.entries(tenant, graph, things))[::-1]
        return AccessList(
            graph=graph,
            things=[AccessThing(id=id, concept=concept) for id, concept in things.items()],
            entries=[line_of(each) for each in entries[:most]],
            left_out=max(0, len(entries) - most),
        )

    def _named(self, opened: PrivateGraph, name: str) -> list[int]:
        by_id = self._catalog.mids_of_id(opened.tenant, opened.name, name.strip())
        known = {int(mid) for mid in by_id[opened.blind.signatures_of(by_id) >= 0]}
        found = known.union(opened.names.named(name))
        return sorted(mid for mid in found if kind_of(opened.blind, as_mids([mid])) is NodeKind.ENTITY)
