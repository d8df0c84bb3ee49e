"""Forgetter: takes an entity out of a graph and out of everything that is kept of it, and looks whether it is gone."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from sqlalchemy import Engine

from app.chat.conversations import ConversationStore
from app.egress.ledger.retention import LedgerUpkeep
from app.egress.ledger.search import requests_about
from app.graphs.erasure.plan import (
    ErasurePlan,
    affected_neighbours,
    describe_scan,
    names_of_removed,
    summarise_erasure,
)
from app.graphs.erasure.residue_scan import ResidueQuery, ResidueReport, look_for
from app.graphs.erasure.targets import Choice, ErasureRequest, TargetResolver
from app.graphs.errors import ErasureUnfinishedError, UnknownNameError
from app.graphs.jobs import JobResult, Progress, Work
from app.graphs.summaries import summary_of
from kg_store.catalog import Catalog, NameConcepts, PrivateGraph
from kg_store.errors import LoadError
from kg_store.graph.schema import phrases_of
from kg_store.storage.erasures import Erasure, Forgetting, ForgottenRows
from kg_store.storage.master_key import MasterKey
from kg_store.terms import as_mids
from kg_store.text.normalise import normalise

PATIENCE_S: Final = 180.0
"""Seconds to wait for questions that still read the version before: as long as one may take, and more."""

_LOOK_AGAIN_S: Final = 0.5
_TRIES: Final = 5
_UNTOUCHED_S: Final = 600.0


class Eraser:
    """Promise: when `forgetting` ends without an error, nothing that the master key opens in the database and data
    folder names what was forgotten, no process serves it, and no load of its source brings it back.

    Condition: every replica shares the data folder. Limit: backups, the source itself, what callers have been
    answered, and blocks of the disk that the database or file system has freed without overwriting them.
    """

    def __init__(
        self,
        catalog: Catalog,
        conversations: ConversationStore,
        upkeep: LedgerUpkeep,
        engine: Engine,
        master: MasterKey,
        folder: Path,
        incoming: Path,
        name_concepts: NameConcepts,
    ) -> None:
        self._catalog, self._conversations, self._upkeep = catalog, conversations, upkeep
        self._engine, self._master, self._folder, self._incoming = engine, master, folder, incoming
        self._name_concepts = name_concepts
        self._rows, self._chooser = ForgottenRows(engine, master), TargetResolver(catalog, master)

    def choices(self, tenant: str, graph: str, name: str) -> list[Choice]:
        """The things that `name` may mean, in a lasting order; none where there is none. Raises UnknownGraphError."""
        return self._chooser.choices(self._catalog.open(tenant, graph), name)

    def plan(self, tenant: str, graph: str, wish: ErasureRequest) -> ErasurePlan:
        """Everything that would go. Raises UnknownGraphError, UnknownNameError, AmbiguousNameError, LoadError."""
        opened = self._catalog.open(tenant, graph)
        going = self._catalog.closure_of_removal(opened, self._chooser.chosen(opened, wish))
        names, texts = names_of_removed(opened, going.mids)
        own = {*going.mids.tolist()}
        met = self._conversations.that_hold(
            tenant, graph, own, (*names, *texts), opened.blind.schema
        )  # fmt: skip
        sought = ResidueQuery.of((*names, *texts), opened.public)
        requests = requests_about(
            self._engine, self._master, tenant, set(met), lambda plain: sought.is_in(_text(plain))
        )
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

    def forgetting(self, tenant: str, graph: str, wish: ErasureRequest | None, wait_s: float = PATIENCE_S) -> Work:
        """The work of one erasure, to be run in a thread; what was begun earlier comes first. Without a wish, that
        alone. Raises UnknownGraphError, UnknownNameError, AmbiguousNameError at once."""
        begun = self._rows.begun(tenant, graph)
        opened = self._catalog.open(tenant, graph)
        if wish is None and not begun:
            raise UnknownNameError
        chosen: Sequence[int] = ()
        if wish is not None and not self.has_unfinished_erasure(tenant, graph, wish.name):
            chosen = self._chooser.chosen(opened, wish)
        del opened

        def forget(progress: Progress) -> JobResult:
            if len(chosen):
                begun.append(self._rows.begin(tenant, graph, [int(mid) for mid in chosen]))
            notes = [note for erasure in begun for note in self._carry_out(erasure, wait_s, progress)]
            info = next(each for each in self._catalog.graphs(tenant) if each.name == graph)
            return JobResult(summary_of(info), None, tuple(notes))

        return forget

    def has_unfinished_erasure(self, tenant: str, graph: str, name: str) -> bool:
        """True where an erasure of that name was begun: by now its name may be known nowhere else."""
        names = {normalise(each).text for erasure in self._rows.begun(tenant, graph) for each in erasure.names}
        return normalise(name).text in names

    def list_erasures(self, tenant: str, graph: str) -> list[Forgetting]:
        """The erasures of a graph, oldest first: times and counts."""
        return self._rows.list_erasures(tenant, graph)

    def undo_erasure(self, tenant: str, graph: str, erasure_id: str) -> int:
        """Lets what an erasure has taken out in again, with the next load; how many things."""
        return self._rows.undo_erasure(tenant, graph, erasure_id)

    def _carry_out(self, erasure: Erasure, wait_s: float, progress: Progress) -> list[str]:
        """Each step may be done twice: a killed one is done again."""
        tenant, graph = erasure.tenant, erasure.graph
        erasure = self._taken_out(erasure, progress)
        self._catalog.delete_retired_records(tenant, graph, erasure.mids)
        progress("waiting for questions under way", 50.0)
        is_read = self._wait(tenant, graph, wait_s)
        opened = self._catalog.open(tenant, graph)
        sought = self._sought(opened, erasure)
        progress("conversations and ledger", 60.0)
        met, requests = self._unsaid(opened, erasure, sought)
        uploads = self._delete_leftovers()
        self._compact()
        progress("looking for traces", 70.0)
        traces = self._look(opened, erasure, sought, progress)
        if is_read:
            raise ErasureUnfinishedError(
                "a running service still reads the version before; what it was asked of it is gone from the disk"
            )
        if not traces.is_clean:
            raise ErasureUnfinishedError(
                f"traces are left: {traces.holding} of {traces.opened} sealed rows, {traces.raw} of {traces.files} "
                f"files; {traces.shut} rows do not open"
            )
        self._rows.end(erasure)
        shared = sum(bool(opened.names.named(name)) for name in erasure.names)
        return [*summarise_erasure(erasure, met, requests, uploads), *describe_scan(traces, sought, shared)]

    def _taken_out(self, erasure: Erasure, progress: Progress) -> Erasure:
        """The graph without it, whatever version is the current one by now."""
        for attempt in range(_TRIES):
            opened = self._catalog.open(erasure.tenant, erasure.graph)
            going = self._catalog.closure_of_removal(opened, erasure.chosen)
            if not len(going.chosen):
                return erasure
            names, texts = names_of_removed(opened, going.mids)
            erasure = replace(
                erasure,
                mids=tuple(sorted({*erasure.mids, *going.mids.tolist()})),
                names=tuple(dict.fromkeys((*erasure.names, *names))),
                texts=tuple(dict.fromkeys((*erasure.texts, *texts))),
            )
            # Before the graph forgets them: whoever goes on after a kill must know what to look for.
            self._rows.keep(erasure)
            try:
                self._catalog.without(
                    opened, going, self._name_concepts, lambda step, done: progress(step, 50.0 * done)
                )
            except LoadError:
                if attempt == _TRIES - 1 or self._catalog.open(erasure.tenant, erasure.graph) is opened:
                    raise
        raise ErasureUnfinishedError("the graph is loaded again and again meanwhile")

    def _unsaid(self, opened: PrivateGraph, erasure: Erasure, sought: ResidueQuery) -> tuple[int, int]:
        """Conversations that met it, and what was sent and replied in them, or holds a name; how many of each."""
        met = self._conversations.that_hold(
            erasure.tenant, erasure.graph, erasure.mids, (*erasure.names, *erasure.texts), opened.blind.schema
        )
        requests = requests_about(
            self._engine, self._master, erasure.tenant, set(met), lambda plain: sought.is_in(_text(plain))
        )
        if requests:
            self._upkeep.erase(erasure.tenant, requests)
        # Last: what they met tells which requests are theirs.
        return self._conversations.forget(erasure.tenant, met), len(requests)

    def _look(self, opened: PrivateGraph, erasure: Erasure, sought: ResidueQuery, progress: Progress) -> ResidueReport:
        traces = look_for(
            self._engine, self._master, self._folder, erasure.tenant, erasure.graph, erasure.mids, sought,
            lambda opened_rows: progress(f"looking for traces: {opened_rows} rows", 70.0) if opened_rows % 1000 == 0
            else None,
        )  # fmt: skip
        gone = set(erasure.mids)
        traces.holding += any(gone.intersection(hit.mids) for text in sought.texts for hit in opened.names.find(text))
        traces.holding += any(sought.is_in(phrase) for phrase in phrases_of(opened.blind.schema))
        traces.holding += bool((opened.blind.signatures_of(as_mids(list(gone))) >= 0).any())
        return traces

    def _sought(self, opened: PrivateGraph, erasure: Erasure) -> ResidueQuery:
        """Its names and texts but for those that somebody else has."""
        own = [name for name in erasure.names if not opened.names.named(name)]
        return ResidueQuery.of((*own, *erasure.texts), opened.public)

    def _wait(self, tenant: str, graph: str, wait_s: float) -> bool:
        """True where somebody still reads an older version when the time is over."""
        until = time.monotonic() + wait_s
        self._catalog.release_replaced_versions()
        while is_read := self._catalog.has_readers(tenant, graph):
            if time.monotonic() >= until:
                break
            time.sleep(_LOOK_AGAIN_S)
        return is_read

    def _delete_leftovers(self) -> int:
        """Uploads that nobody has touched for a while: their load was killed, and they lie there in clear."""
        old = time.time() - _UNTOUCHED_S
        left = [path for path in self._incoming.rglob("*") if path.is_file() and path.stat().st_mtime < old]
        for path in left:
            path.unlink(missing_ok=True)
        return len(left)

    def _compact(self) -> None:
        """SQLite's log of changes still has the pages as they were; PostgreSQL's is its administrator's."""
        if self._engine.dialect.name == "sqlite":
            with self._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")


def _text(plain: bytes) -> str:
    return plain.decode("utf-8", "replace")
