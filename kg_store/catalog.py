"""Catalog: the graphs of all tenants and their versions; the one door to load or open a graph."""

from __future__ import annotations

import gc
import threading
import uuid
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from sqlalchemy import Engine

from kg_store.algebra.evaluator import SetAlgebra, ValueAlgebra
from kg_store.errors import LoadError, UnknownGraphError
from kg_store.graph.adjacency import Adjacency
from kg_store.graph.blind_graph import BlindGraph
from kg_store.graph.compact_graph import CompactGraph
from kg_store.graph.masked_relations import masks_of
from kg_store.graph.removal import RemovalSet, going_with
from kg_store.graph.role_view import restricted
from kg_store.graph.schema import read_schema
from kg_store.graph_info import GraphInfo, read_info
from kg_store.loading.load import load_graph
from kg_store.names.index import NameIndex
from kg_store.names.linker import EntityLinker
from kg_store.names.name_words import NameWords, forget_name_words
from kg_store.proposals.propose import read_and_propose
from kg_store.sources.policy import Policy
from kg_store.sources.raw_graph import TEXT_MARK, RawGraph
from kg_store.sources.reader import Fraction, read_sources
from kg_store.storage.data_folder import DataFolder, FolderLock
from kg_store.storage.master_key import MasterKey, mids_of
from kg_store.storage.vault import Vault, VaultScope, VisibilityFilter
from kg_store.storage.versions import GraphRow, GraphRows, VersionRow
from kg_store.tenant_names import TenantNames
from kg_store.terms import Edges, Mids, Schema, as_mids
from kg_store.text.public_words import PublicWords
from kg_store.text.word_forms import forget_words
from kg_store.version_builder import (
    INFO_PURPOSE,
    NAMES_FILE,
    POLICY_PURPOSE,
    SCHEMA_FILE,
    WORDS_FILE,
    BaseVersion,
    Builder,
    NameConcepts,
    Progress,
    Review,
    VersionCipher,
    loaded_without,
    read_unseen,
)

if TYPE_CHECKING:
    import rdflib

__all__ = ["Catalog", "GraphInfo", "NameConcepts", "PrivateGraph", "Progress", "Review"]

_OPEN_TRIES = 5


@dataclass(frozen=True, slots=True, weakref_slot=True)
class PrivateGraph:
    """One version, opened. It stays whole while anybody holds it, even when a newer one has taken its place."""

    tenant: str
    name: str
    version: str
    blind: BlindGraph = field(repr=False)
    vault: Vault = field(repr=False)
    names: NameIndex = field(repr=False)
    linker: EntityLinker = field(repr=False)
    algebra: SetAlgebra = field(repr=False)
    policy: Policy = field(repr=False)
    public: PublicWords = field(repr=False)
    holds: VisibilityFilter | None = field(default=None, repr=False)
    """Where a role sees a part of the graph: which MIDs are in it. `names` still has all, for the guard."""
    whole: PrivateGraph | None = field(default=None, repr=False)
    """What this is a part of, so that its version is held."""


class Catalog:
    """Safe to use from several threads, and from several processes over one data folder and database.

    Promise: kill -9 at any moment leaves the last complete version of each graph; what was unfinished is swept
    away at the next start. Condition: the database's tables exist (`kg_store.storage.tables.metadata`).
    """

    def __init__(self, folder: Path, engine: Engine, master: MasterKey, public_phrases: Iterable[str] = ()) -> None:
        self._folder = DataFolder(folder)
        self._engine, self._master = engine, master
        self._builder = Builder(self._folder, engine, master, tuple(public_phrases))
        self._sealer = VersionCipher(self._folder, master)
        self._rows = GraphRows(engine, master, self._folder.id)
        self._tenant_names = TenantNames(self._rows, self._sealer, engine, master)
        self._opened: dict[tuple[str, str], PrivateGraph] = {}
        self._alive: list[weakref.ref[PrivateGraph]] = []
        self._parts: dict[tuple[str, str, str], PrivateGraph] = {}
        self._parts_lock = threading.Lock()
        self._name_concepts: NameConcepts = lambda schema: schema.concepts
        self._lock = threading.Lock()
        self._tell_opened: Callable[[Schema], None] = lambda _schema: None
        self._sweep()

    def graphs(self, tenant: str) -> list[GraphInfo]:
        """The tenant's graphs by name."""
        return [self._info(row) for row in self._rows.current(tenant)]

    def is_empty(self) -> bool:
        """True when no tenant has a graph."""
        return self._rows.is_empty()

    def key_fits(self) -> bool:
        """False when there are graphs and the master key opens none of them."""
        return self._rows.key_fits()

    def when_opened(self, tell: Callable[[Schema], None]) -> None:
        """`tell` gets the schema of each version that this process opens from now on; it must return at once."""
        self._tell_opened = tell

    def open(self, tenant: str, name: str) -> PrivateGraph:
        """The current version. Raises UnknownGraphError, and KeyProblem when the master key is another."""
        for _ in range(_OPEN_TRIES):
            rows = self._rows.current(tenant, name)
            if not rows:
                break
            opened = self._opened.get((tenant, name))
            if opened is None or opened.version != rows[0].id:
                opened = self._replace(rows[0])
            if opened is not None:
                return opened
        raise UnknownGraphError("no graph of that name in this data folder")

    def open_as(self, tenant: str, name: str, role: str | None) -> PrivateGraph:
        """The current version as a role of its policy sees it; all of it without one.

        A part is made when it is first asked for, which takes what a load takes to sort the facts. Raises
        UnknownGraphError, also where the policy has no such role.
        """
        whole = self.open(tenant, name)
        if role is None:
            return whole
        if role not in whole.policy.roles:
            raise UnknownGraphError("the graph's policy has no role of that name")
        key = tenant, name, role
        with self._parts_lock:
            part = self._parts.get(key)
            if part is None or part.version != whole.version:
                part = self._parts[key] = self._part(whole, role)
        return part

    def name_words(self, tenant: str) -> NameWords:
        """The words of every name that any graph of the tenant holds. Raises KeyProblem."""
        return self._tenant_names.of(tenant)

    def name_concepts_by(self, name_concepts: NameConcepts) -> None:
        """Who names the concepts of what roles see."""
        self._name_concepts = name_concepts

    def _part(self, whole: PrivateGraph, role: str) -> PrivateGraph:
        adjacency = Adjacency.map_from(self._folder.path_of(whole.version))
        blind = restricted(adjacency, whole.blind.schema, whole.policy.roles[role], self._name_concepts)
        masks = masks_of(blind.schema)

        def holds(mids: tuple[int, ...]) -> tuple[int, ...]:
            found = blind.signatures_of(np.array(mids, dtype=np.int64)) >= 0
            return tuple(mid for mid, held in zip(mids, found.tolist(), strict=True) if held or mid in masks)

        vault = whole.vault.part(holds)
        others = frozenset(adjacency.mids.tolist()) - frozenset(holds(tuple(adjacency.mids.tolist())))
        # A word of a relation that the role is not shown is no schema to it.
        public = self._builder.public_words(blind.schema, whole.policy)
        names = whole.names.without(others).with_public(public)
        return replace(
            whole, blind=blind, vault=vault, linker=EntityLinker(names), algebra=ValueAlgebra(blind, vault),
            holds=holds, whole=whole, public=public,
        )  # fmt: skip

    def _replace(self, row: VersionRow) -> PrivateGraph | None:
        with self._lock:
            before = self._opened.get((row.tenant, row.name))
            if before is not None and before.version == row.id:
                return before
            opened = self._open(row)
            if opened is not None:
                self._opened[row.tenant, row.name] = opened
                self._tell_opened(opened.blind.schema)
        del before
        self._sweep()
        return opened

    def load(
        self,
        tenant: str,
        name: str,
        sources: Sequence[Path] | rdflib.Graph,
        policy: Policy | None,
        name_concepts: NameConcepts,
        progress: Progress = lambda _step, _done: None,
        review: Review = lambda _adjacency, _schema, _names: None,
    ) -> GraphInfo:
        """Builds a new version and makes it the current one. Raises LoadError, and what `review` raises, and then
        nothing has changed.

        Without a policy the proposed one is used. What was forgotten in this graph is left out, and told in a note.
        """
        raw, policy = _read(sources, policy, lambda done: progress("reading", 0.4 * done))
        with self._new_version(tenant, name) as (graph, version_id):
            step = "building the graph"
            loaded = load_graph(raw, policy, graph.mid_key, lambda done: progress(step, 0.4 + 0.1 * done))
            forgotten = self._rows.forgotten(graph)
            loaded = loaded_without(loaded, forgotten)
            built = self._builder.from_load(graph, version_id, loaded, policy, name_concepts, progress, review)
            self._rows.swap(graph, version_id, built, forgotten=forgotten)
        progress("done", 1.0)
        return built.info

    def rename_concepts(
        self, opened: PrivateGraph, concepts: Sequence[str], progress: Progress = lambda _step, _done: None
    ) -> GraphInfo:
        """A new version of a graph, the same but for its concepts (one a signature), made the current one.

        Raises LoadError, and then nothing has changed: when another version took its place meanwhile, or a concept
        would make a name a public word.
        """
        with self._new_version(opened.tenant, opened.name) as (graph, version_id):
            scope = VaultScope(graph.tenant, graph.name, version_id)
            built = self._builder.renamed(scope, self._source(opened), concepts, progress)
            self._rows.swap(graph, version_id, built, instead_of=opened.version)
        progress("done", 1.0)
        return built.info

    def going_with(self, opened: PrivateGraph, mids: Sequence[int]) -> RemovalSet:
        """What would go with these things; those that the graph does not hold are left out.

        Raises LoadError for a version of before it was kept whose the values of hidden relations are.
        """
        path = self._folder.path_of(opened.version)
        unseen = read_unseen(path)
        if unseen is None:
            if any(record.hidden for _, record in opened.vault.all_records()):
                raise LoadError("the graph was loaded by an older version of the service: load it again first")
            unseen = Edges(as_mids([]), as_mids([]))
        return going_with(Adjacency.map_from(path), opened.blind.schema, unseen, as_mids(mids))

    def without(
        self,
        opened: PrivateGraph,
        going: RemovalSet,
        name_concepts: NameConcepts,
        progress: Progress = lambda _step, _done: None,
    ) -> GraphInfo:
        """A new version of a graph without what goes, made the current one. Raises LoadError, as `rename_concepts`."""
        with self._new_version(opened.tenant, opened.name) as (graph, version_id):
            scope = VaultScope(graph.tenant, graph.name, version_id)
            built = self._builder.without(scope, self._source(opened), going, name_concepts, progress)
            self._rows.swap(graph, version_id, built, instead_of=opened.version)
        progress("done", 1.0)
        return built.info

    def mids_of_id(self, tenant: str, name: str, id_in_source: str) -> Mids:
        """What an IRI or a cell of the graph's source would be here, whether or not the graph holds it."""
        key = self._rows.mid_key(tenant, name)
        return as_mids(mids_of(key, [f"<{id_in_source}>", TEXT_MARK + id_in_source]))

    def close(self) -> None:
        """Lets go of every graph that is open; questions in flight finish on theirs."""
        with self._lock:
            self._opened.clear()
            self._parts.clear()

    def cut_out(self, tenant: str, name: str, mids: Sequence[int]) -> None:
        """Deletes rows of these things, and all names, from versions that are not current any more, held or not:
        who still reads one finds no name for them."""
        for version_id in self._rows.delete_records(tenant, name, mids):
            for file in (NAMES_FILE, SCHEMA_FILE, WORDS_FILE):
                (self._folder.path_of(version_id) / file).unlink(missing_ok=True)

    def is_held(self, tenant: str, name: str) -> bool:
        """Whether somebody, here or in another process, still reads an older version; what nobody reads is swept."""
        self._sweep()
        return bool(self._rows.older_versions(tenant, name))

    def let_go(self) -> None:
        """Closes opened versions that have been replaced, and sweeps them; cheap where there is none.

        What a question left behind may hold one in a cycle of references, which an idle process never looks for.
        """
        with self._lock:
            self._alive = [each for each in self._alive if each() is not None]
            versions = {graph.version for each in self._alive if (graph := each()) is not None}
        if all(map(self._rows.is_complete, versions)):
            return
        with self._lock:
            complete = self._rows.complete_ids()
            self._opened = {key: each for key, each in self._opened.items() if each.version in complete}
            self._parts = {key: each for key, each in self._parts.items() if each.version in complete}
        forget_words()
        forget_name_words()
        self._tenant_names.let_go()
        gc.collect()
        self._sweep()

    def review(self, tenant: str, name: str, review: Review) -> tuple[GraphInfo, PrivateGraph]:
        """Has `review` see the current version. Raises UnknownGraphError, LoadError."""
        opened = self.open(tenant, name)
        review(Adjacency.map_from(self._folder.path_of(opened.version)), opened.blind.schema, opened.names)
        return self._info_of(opened), opened

    def delete(self, tenant: str, name: str) -> None:
        """Deletes a graph; questions in flight finish on it. Raises UnknownGraphError."""
        self._rows.delete_graph(tenant, name)
        with self._lock:
            self._opened.pop((tenant, name), None)
        self._sweep()

    @contextmanager
    def _new_version(self, tenant: str, name: str) -> Iterator[tuple[GraphRow, str]]:
        """A version to be filled and swapped in; what fails is swept away."""
        version_id = uuid.uuid4().hex
        with self._folder.alone():
            hold = self._folder.begin(version_id)
        try:
            yield self._rows.begin(tenant, name, version_id), version_id
        except BaseException:
            self._rows.retire(version_id)
            raise
        finally:
            hold.release()
            self._sweep()

    def _source(self, opened: PrivateGraph) -> BaseVersion:
        """Raises LoadError when `opened` is no longer the current version."""
        return BaseVersion(self._info_of(opened), opened.blind.schema, opened.vault, opened.names, opened.policy)

    def _info_of(self, opened: PrivateGraph) -> GraphInfo:
        """Raises LoadError when `opened` is no longer the current version."""
        rows = [row for row in self._rows.current(opened.tenant, opened.name) if row.id == opened.version]
        if not rows:
            raise LoadError("the graph was deleted or loaded anew meanwhile")
        return self._info(rows[0])

    def _open(self, row: VersionRow) -> PrivateGraph | None:
        """None when the version was swept away since its row was read, or lies in another data folder."""
        hold = self._folder.hold(row.id)
        if hold is None:
            return None
        try:
            opened = self._assembled(row)
        except FileNotFoundError:
            hold.release()
            return None
        except BaseException:
            hold.release()
            raise
        weakref.finalize(opened, FolderLock.release, hold)
        self._alive.append(weakref.ref(opened))
        return opened

    def _assembled(self, row: VersionRow) -> PrivateGraph:
        scope, path = VaultScope(row.tenant, row.name, row.id), self._folder.path_of(row.id)
        schema = read_schema(self._sealer.read(scope, SCHEMA_FILE))
        policy = Policy.from_toml(self._sealer.unseal(scope, POLICY_PURPOSE, row.sealed_policy).decode())
        public = self._builder.public_words(schema, policy)
        # Marked anew: the words of our own templates may have changed since the load.
        names = NameIndex.from_bytes(self._sealer.read(scope, NAMES_FILE)).with_public(public)
        blind = CompactGraph.open(path, schema)
        vault = Vault(self._engine, self._master, scope)
        algebra = ValueAlgebra(blind, vault)
        linker = EntityLinker(names)
        return PrivateGraph(row.tenant, row.name, row.id, blind, vault, names, linker, algebra, policy, public)

    def _sweep(self) -> None:
        """Deletes versions that are neither current nor held by anybody, here or in another process."""
        with self._lock:
            complete = self._rows.complete_ids()
            self._opened = {key: each for key, each in self._opened.items() if each.version in complete}
            self._parts = {key: each for key, each in self._parts.items() if each.version in complete}
        with self._folder.alone():
            known = set(self._rows.not_current())
            strays = set(self._folder.unfinished_ids()) - self._rows.complete_ids()
            for version_id in sorted(known | strays):
                is_needed = partial(self._rows.is_complete, version_id)
                self._folder.delete_unless_held(version_id, is_needed, partial(self._rows.forget, version_id))

    def _info(self, row: VersionRow) -> GraphInfo:
        sealed = self._sealer.unseal(VaultScope(row.tenant, row.name, row.id), INFO_PURPOSE, row.sealed_info)
        return read_info(row.tenant, row.name, row.id, sealed)


def _read(
    sources: Sequence[Path] | rdflib.Graph, policy: Policy | None, progress: Fraction
) -> tuple[RawGraph, Policy]:
    """The triples, and the policy given or proposed: it says which files are tables before they are read."""
    if policy is None:
        return read_and_propose(sources, progress)
    return read_sources(sources, progress, policy.tables, policy.triples), policy
