"""Eraser: plans an erasure from a graph, lists those made, and creates the job that does it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from app.graphs.erasure.erasure_job import ErasureJob, ErasureStores
from app.graphs.erasure.plan import ErasurePlan, affected_neighbours, names_of_removed
from app.graphs.erasure.residue_scan import ResidueQuery
from app.graphs.erasure.targets import Choice, ErasureRequest, TargetResolver
from app.graphs.errors import UnknownNameError
from kg_store.storage.versions import Forgetting, ForgottenRows
from kg_store.text.normalise import normalise

PATIENCE_S: Final = 180.0
"""Seconds to wait for questions that still read the previous version: longer than a question may take. Chosen by hand.
"""


class Eraser:
    """Erases things.

    Promise: when a `job` ends without an error, nothing that the master key opens in the database and data folder
    names what was erased, no process serves it, and no new load of its source brings it back. Condition: every replica
    shares the data folder. Limit: backups, the source itself, answers that callers have received, and blocks of the
    disk that the database or file system has freed without overwriting them.
    """

    def __init__(self, stores: ErasureStores) -> None:
        self._stores, self._catalog = stores, stores.catalog
        self._rows = ForgottenRows(stores.engine, stores.master)
        self._chooser = TargetResolver(stores.catalog, stores.master)

    def choices(self, tenant: str, graph: str, name: str) -> list[Choice]:
        """Returns the things that `name` may mean, in a stable order. Raises UnknownGraphError."""
        return self._chooser.choices(self._catalog.open(tenant, graph), name)

    def plan(self, tenant: str, graph: str, wish: ErasureRequest) -> ErasurePlan:
        """Returns what would be removed. Raises UnknownGraphError, UnknownNameError, AmbiguousNameError, LoadError."""
        opened = self._catalog.open(tenant, graph)
        going = self._catalog.closure_of_removal(opened, self._chooser.chosen(opened, wish))
        names, texts = names_of_removed(opened, going.mids)
        own = {*going.mids.tolist()}
        met = self._stores.conversations_about(opened, own, (*names, *texts))
        sought = ResidueQuery.of((*names, *texts), opened.public)
        requests = self._stores.requests_about(tenant, met, sought)
        return ErasurePlan(
            things=len(going.chosen),
            names=len(names),
            facts=going.facts,
            values=going.values,
            mediators=going.mediators,
            alone=going.alone,
            conversations=len(met),
            requests=len(requests),
            mentions=len(opened.names.holding(sought.texts) - own),
            shared=sum(bool(set(opened.names.named(name)) - own) for name in names),
            around=affected_neighbours(opened, going),
        )

    def job(self, tenant: str, graph: str, wish: ErasureRequest | None, wait_s: float = PATIENCE_S) -> ErasureJob:
        """Returns a job, to be run in a thread, that first finishes earlier erasures; without `wish` it does only
        that.

        Raises UnknownGraphError, UnknownNameError, AmbiguousNameError at once.
        """
        begun = self._rows.begun(tenant, graph)
        opened = self._catalog.open(tenant, graph)
        if wish is None and not begun:
            raise UnknownNameError
        chosen: Sequence[int] = ()
        if wish is not None and not self.has_unfinished_erasure(tenant, graph, wish.name):
            chosen = self._chooser.chosen(opened, wish)
        return ErasureJob(self._stores, opened, begun, chosen, wait_s)

    def has_unfinished_erasure(self, tenant: str, graph: str, name: str) -> bool:
        """True if an erasure of that name was begun; the name may be stored nowhere else by now."""
        names = {normalise(each).text for erasure in self._rows.begun(tenant, graph) for each in erasure.names}
        return normalise(name).text in names

    def list_erasures(self, tenant: str, graph: str) -> list[Forgetting]:
        """Returns the erasures of a graph, oldest first, as times and counts."""
        return self._rows.list_erasures(tenant, graph)

    def undo_erasure(self, tenant: str, graph: str, erasure_id: str) -> int:
        """Allows the next load to bring back what an erasure removed; returns how many things."""
        return self._rows.undo_erasure(tenant, graph, erasure_id)
