"""Eraser: plans erasures from a graph, lists those made, and creates the job that carries one out.

Its steps: remove, wait for readers, delete mentions, clean up, scan, finish.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from sqlalchemy import Engine

from app.accounts.names_read import NamesRead
from app.chat.conversations import ConversationStore
from app.egress.ledger.access import thing_id, without_things
from app.egress.ledger.retention import LedgerUpkeep, requests_about
from app.graphs.erasure.kept_versions import KeptVersions
from app.graphs.erasure.plan import (
    Choice,
    ErasurePlan,
    ErasureRequest,
    TargetResolver,
    affected_neighbours,
    describe_scan,
    names_of_removed,
    summarise_erasure,
)
from app.graphs.erasure.sealed_rows import ResidueQuery, ResidueReport, look_for
from app.graphs.jobs import ErasureUnfinishedError, JobResult, Progress, UnknownNameError, summary_of
from app.memory.cases import CaseStore
from app.memory.stated_facts import StatedFactStore
from kg_store.catalog import Catalog, NameConcepts, PrivateGraph
from kg_store.errors import LoadError
from kg_store.graph.schema import phrases_of
from kg_store.storage.master_key import MasterKey
from kg_store.storage.versions import Erasure, Forgetting, ForgottenRows
from kg_store.terms import as_mids
from kg_store.text.normalise import normalise

PATIENCE_S: Final = 180.0
"""Seconds to wait for questions that still read the previous version: more than a question may take.

Chosen by hand.
"""
_LOOK_AGAIN_S: Final = 0.5
_TRIES: Final = 5
_UNTOUCHED_S: Final = 600.0


@dataclass(frozen=True, slots=True)
class ErasureStores:
    """All stores that may contain traces of a thing. `incoming` is the folder of uploads."""

    catalog: Catalog
    conversations: ConversationStore
    cases: CaseStore
    facts: StatedFactStore
    names_read: NamesRead
    upkeep: LedgerUpkeep
    engine: Engine
    master: MasterKey
    folder: Path
    incoming: Path
    name_concepts: NameConcepts

    def conversations_about(self, opened: PrivateGraph, mids: Collection[int], texts: Sequence[str]) -> list[str]:
        """Returns the ids of the graph's conversations that contain one of these things or texts."""
        return self.conversations.that_hold(opened.tenant, opened.name, mids, texts, opened.blind.schema)

    def requests_about(self, tenant: str, met: Sequence[str], sought: ResidueQuery) -> list[str]:
        """Returns the ids of requests that belong to the conversations `met`, or contain what is sought."""
        return requests_about(
            self.engine, self.master, tenant, set(met), lambda plain: sought.is_in(plain.decode("utf-8", "replace"))
        )


class ErasureJob:
    """Finishes erasures that were begun earlier, then removes `chosen` from a graph."""

    def __init__(
        self, stores: ErasureStores, of: PrivateGraph, begun: Sequence[Erasure], chosen: Sequence[int], wait_s: float
    ) -> None:
        self._stores, self._tenant, self._graph = stores, of.tenant, of.name
        self._begun, self._chosen, self._wait_s = begun, chosen, wait_s

    def run(self, progress: Progress) -> JobResult:
        """Runs every erasure. Raises ErasureUnfinishedError, LoadError, and what `progress` raises."""
        erasures = [*self._begun]
        if len(self._chosen):
            rows = ForgottenRows(self._stores.engine, self._stores.master)
            erasures.append(rows.begin(self._tenant, self._graph, [int(mid) for mid in self._chosen]))
        notes = [note for each in erasures for note in _ErasureRun(self._stores, each, progress).run(self._wait_s)]
        info = next(each for each in self._stores.catalog.graphs(self._tenant) if each.name == self._graph)
        return JobResult(summary_of(info), None, tuple(notes))


class _ErasureRun:
    """The steps of one erasure. Each can be repeated, because an interrupted erasure starts again from the first."""

    _opened: PrivateGraph
    """The graph after the things were removed."""
    _sought: ResidueQuery
    """The names and texts of the things, except those that other things have too."""
    _kept: KeptVersions
    """The versions that are kept beside the live one, after the things were removed from them."""

    def __init__(self, stores: ErasureStores, erasure: Erasure, progress: Progress) -> None:
        self._stores, self._erasure, self._progress = stores, erasure, progress
        self._rows = ForgottenRows(stores.engine, stores.master)

    def run(self, wait_s: float) -> list[str]:
        """Runs every step, and returns sentences on what was done and what the scan found."""
        self._take_out()
        self._progress("waiting for questions under way", 50.0)
        is_read = self._is_read_after(wait_s)
        self._open_without()
        self._progress("conversations and ledger", 60.0)
        met, requests = self._unsay()
        uploads = self._delete_leftovers()
        self._compact()
        self._progress("looking for traces", 70.0)
        traces = self._scan()
        self._end(is_read, traces)
        shared = sum(bool(self._opened.names.named(name)) for name in self._erasure.names)
        done = summarise_erasure(self._erasure, met, requests, uploads)
        return [*done, *self._kept.sentences(), *describe_scan(traces, self._sought, shared)]

    def _take_out(self) -> None:
        """Removes the things from the graph's current version, and then from those that are kept.

        Tries again if another load replaces that version meanwhile. Raises ErasureUnfinishedError after _TRIES times.
        """
        tenant, graph = self._erasure.tenant, self._erasure.graph
        for attempt in range(_TRIES):
            opened = self._stores.catalog.open(tenant, graph)
            going = self._stores.catalog.closure_of_removal(opened, self._erasure.chosen)
            if not len(going.chosen):
                self._take_out_of_kept(opened)
                self._stores.catalog.delete_retired_records(tenant, graph, self._erasure.mids)
                return
            # Stored before they are removed: a run that continues after a crash must know what to look for.
            self._keep(going.mids.tolist(), *names_of_removed(opened, going.mids))
            try:
                self._stores.catalog.without(
                    opened, going, self._stores.name_concepts, lambda step, done: self._progress(step, 50.0 * done)
                )
            except LoadError:
                if attempt == _TRIES - 1 or self._stores.catalog.open(tenant, graph) is opened:
                    raise
        raise ErasureUnfinishedError("the graph is loaded again and again meanwhile")

    def _take_out_of_kept(self, live: PrivateGraph) -> None:
        stores = self._stores
        self._kept = KeptVersions(stores.catalog, stores.name_concepts)
        found = self._kept.closure(live, self._erasure.chosen)
        self._keep(found.mids, found.names, found.texts)
        self._progress("versions that are kept", 45.0)
        self._kept.take_out(live, self._erasure)

    def _keep(self, mids: Sequence[int], names: Sequence[str], texts: Sequence[str]) -> None:
        """Adds these MIDs, names and texts to the stored erasure."""
        self._erasure = replace(
            self._erasure,
            mids=tuple(sorted({*self._erasure.mids, *mids})),
            names=tuple(dict.fromkeys((*self._erasure.names, *names))),
            texts=tuple(dict.fromkeys((*self._erasure.texts, *texts))),
        )
        self._rows.keep(self._erasure)

    def _is_read_after(self, wait_s: float) -> bool:
        """Waits at most `wait_s` seconds, and returns True if an older version still has readers then."""
        catalog, until = self._stores.catalog, time.monotonic() + wait_s
        catalog.release_replaced_versions()
        while is_read := catalog.has_readers(self._erasure.tenant, self._erasure.graph):
            if time.monotonic() >= until:
                break
            time.sleep(_LOOK_AGAIN_S)
        return is_read

    def _open_without(self) -> None:
        """Opens the current graph, and collects what the scan will look for: the names and texts of erased things.

        A name that another thing of the graph has too is left out.
        """
        erasure = self._erasure
        self._opened = self._stores.catalog.open(erasure.tenant, erasure.graph)
        own = [name for name in erasure.names if not self._opened.names.named(name)]
        self._sought = ResidueQuery.of((*own, *erasure.texts), self._opened.public)

    def _unsay(self) -> tuple[int, int]:
        """Deletes conversations that mention the things, and requests that belong to these or contain a name.

        Returns both numbers.
        """
        erasure, stores = self._erasure, self._stores
        met = stores.conversations_about(self._opened, erasure.mids, (*erasure.names, *erasure.texts))
        requests = stores.requests_about(erasure.tenant, met, self._sought)
        if requests:
            stores.upkeep.erase(erasure.tenant, requests)
        # A case contains no name that was known when it was made. It is deleted if its words contain one anyway, or a
        # masked relation that disappeared with the last thing that had it.
        labels = frozenset(relation.label for relation in self._opened.blind.schema.relations)
        stores.cases.forget_without(erasure.tenant, erasure.graph, labels, self._sought.is_in)
        stores.facts.forget_about(erasure.tenant, erasure.graph, erasure.mids, self._sought.is_in)
        stores.names_read.forget(erasure.tenant, erasure.graph, (*erasure.names, *erasure.texts))
        things = {thing_id(erasure.tenant, erasure.graph, mid) for mid in erasure.mids}
        stores.upkeep.erase_access(erasure.tenant, erasure.graph, without_things(things, self._sought.is_in))
        # Conversations go last, because they tell which requests belong to them.
        return stores.conversations.forget(erasure.tenant, met), len(requests)

    def _delete_leftovers(self) -> int:
        """Deletes uploaded files that have not changed for _UNTOUCHED_S seconds, and returns their number.

        They were left by loads that were killed, and are not encrypted.
        """
        old = time.time() - _UNTOUCHED_S
        left = [path for path in self._stores.incoming.rglob("*") if path.is_file() and path.stat().st_mtime < old]
        for path in left:
            path.unlink(missing_ok=True)
        return len(left)

    def _compact(self) -> None:
        """Truncates SQLite's write-ahead log, which still contains the old pages.

        PostgreSQL's is left to its administrator.
        """
        if self._stores.engine.dialect.name == "sqlite":
            with self._stores.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")

    def _scan(self) -> ResidueReport:
        erasure, stores, sought, opened = self._erasure, self._stores, self._sought, self._opened

        def tell(rows: int) -> None:
            if rows % 1000 == 0:
                self._progress(f"looking for traces: {rows} rows", 70.0)

        of = erasure.tenant, erasure.graph, erasure.mids, self._kept.stay
        traces = look_for(stores.engine, stores.master, stores.folder, *of, sought, tell)
        gone = set(erasure.mids)
        traces.holding += any(gone.intersection(hit.mids) for text in sought.texts for hit in opened.names.find(text))
        traces.holding += any(sought.is_in(phrase) for phrase in phrases_of(opened.blind.schema))
        traces.holding += bool((opened.blind.signatures_of(as_mids(list(gone))) >= 0).any())
        return traces

    def _end(self, is_read: bool, traces: ResidueReport) -> None:
        """Marks the erasure as done.

        Raises ErasureUnfinishedError if an old version still has readers or traces are left.
        """
        if is_read:
            raise ErasureUnfinishedError(
                "a running service still reads the version before; what it was asked of it is gone from the disk"
            )
        if not traces.is_clean:
            raise ErasureUnfinishedError(
                f"traces are left: {traces.holding} of {traces.opened} sealed rows, {traces.raw} of {traces.files} "
                f"files; {traces.shut} rows do not open"
            )
        self._rows.end(self._erasure)


class Eraser:
    """Plans, creates, lists and undoes erasures.

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
        return self._chooser.choices(self._version_with(tenant, graph, name), name)

    def plan(self, tenant: str, graph: str, wish: ErasureRequest) -> ErasurePlan:
        """Returns what an erasure would remove, in counts.

        Raises UnknownGraphError, UnknownNameError, AmbiguousNameError, LoadError.
        """
        opened = self._version_with(tenant, graph, wish.name)
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
            kept=len(self._catalog.history.kept(tenant, graph)),
        )

    def job(self, tenant: str, graph: str, wish: ErasureRequest | None, wait_s: float = PATIENCE_S) -> ErasureJob:
        """Returns a job, to be run in a thread, that finishes earlier erasures and then does this one.

        Without `wish` it only finishes earlier ones. Raises UnknownGraphError, UnknownNameError, AmbiguousNameError at
        once.
        """
        begun = self._rows.begun(tenant, graph)
        live = self._catalog.open(tenant, graph)
        if wish is None and not begun:
            raise UnknownNameError
        chosen: Sequence[int] = ()
        if wish is not None and not self.has_unfinished_erasure(tenant, graph, wish.name):
            chosen = self._chooser.chosen(self._version_with(tenant, graph, wish.name), wish)
        return ErasureJob(self._stores, live, begun, chosen, wait_s)

    def _version_with(self, tenant: str, graph: str, name: str) -> PrivateGraph:
        """Returns the live version if it has something of that name, else the newest kept one that has, else the live.

        So a person who is in an older version alone can be erased too. Raises UnknownGraphError.
        """
        live = self._catalog.open(tenant, graph)
        if self._chooser.choices(live, name):
            return live
        history = self._catalog.history
        kept = (history.open(row) for row in history.kept(tenant, graph))
        return next((each for each in kept if each is not None and self._chooser.choices(each, name)), live)

    def has_unfinished_erasure(self, tenant: str, graph: str, name: str) -> bool:
        """True if an erasure of that name was begun and is not finished.

        The name may be stored nowhere else by then.
        """
        names = {normalise(each).text for erasure in self._rows.begun(tenant, graph) for each in erasure.names}
        return normalise(name).text in names

    def list_erasures(self, tenant: str, graph: str) -> list[Forgetting]:
        """Returns the erasures of a graph, oldest first, as times and counts."""
        return self._rows.list_erasures(tenant, graph)

    def undo_erasure(self, tenant: str, graph: str, erasure_id: str) -> int:
        """Lets the next load bring back what an erasure removed, and returns the number of things."""
        return self._rows.undo_erasure(tenant, graph, erasure_id)
