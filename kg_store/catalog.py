"""Catalog: the graphs of all tenants and their versions; the one place to load or open a graph."""

from __future__ import annotations

import gc
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
from sqlalchemy import Engine

from kg_store.errors import LoadError, UnknownGraphError
from kg_store.graph.adjacency import Adjacency
from kg_store.graph.pruning import RemovalSet, closure_of_removal, facts_of, pruned
from kg_store.loading.load import LoadedGraph, LoadedNode, load_graph, nonsense_of, placeholder_schema
from kg_store.names.index import NameIndex
from kg_store.names.name_words import NameWords, forget_name_words
from kg_store.open_graphs import NewVersions, OpenGraphs, PrivateGraph, TenantNames
from kg_store.proposals.propose import read_and_propose
from kg_store.sources.policy import Policy
from kg_store.sources.raw_graph import TEXT_MARK, RawGraph
from kg_store.sources.reader import read_by_policy
from kg_store.storage.data_folder import DataFolder
from kg_store.storage.master_key import MasterKey, mids_of
from kg_store.storage.vault import VaultScope
from kg_store.storage.versions import GraphRows, VersionRow
from kg_store.terms import Mids, NodeKind, Schema, as_mids
from kg_store.text.words import forget_words
from kg_store.version_builder import (
    INFO_PURPOSE,
    NAMES_FILE,
    SCHEMA_FILE,
    WORDS_FILE,
    BaseVersion,
    Builder,
    Built,
    CollectedNames,
    GraphInfo,
    NameConcepts,
    Progress,
    VersionCipher,
    read_info,
    read_unseen,
    unseen_without,
)

if TYPE_CHECKING:
    import rdflib


class GraphLoad:
    """A context manager whose steps are taken once each, in the order of this class.

    Promise: nothing has changed before `swap`, whatever a step raises. `progress` gets each step's name and the share
    of the load that is done, 0 to 1; what it raises stops the load there.
    """

    raw: RawGraph
    """The triples, once they are read."""
    policy: Policy
    """The policy that was given, or once the sources are read the proposed one."""
    adjacency: Adjacency
    """The graph that goes live, once it is built."""
    schema: Schema
    """Its relations and concepts, once they are named."""
    names: NameIndex
    """Its names, once they are sealed."""

    def __init__(self, versions: NewVersions, rows: GraphRows, builder: Builder, progress: Progress) -> None:
        self._versions, self._rows, self._builder, self._progress = versions, rows, builder, progress
        self._left = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self._left.__exit__(*raised)  # type: ignore[arg-type]

    def read(self, sources: Sequence[Path] | rdflib.Graph, policy: Policy | None) -> None:
        """Takes the triples in. Without a policy one is proposed from them; a given one says first which files are
        tables. Raises LoadError."""

        def reading(share: float) -> None:
            self._progress("reading", 0.4 * share)

        if policy is None:
            self.raw, self.policy = read_and_propose(sources, reading)
        else:
            self.raw, self.policy = read_by_policy(sources, policy, reading), policy

    def build(self, tenant: str, name: str) -> None:
        """Begins a version, and makes the graph of it: what was forgotten in this graph earlier is left out, and told
        in a note. Raises LoadError."""
        self._graph, self._version_id = self._left.enter_context(self._versions.begin(tenant, name))

        def building(share: float) -> None:
            self._progress("building the graph", 0.4 + 0.1 * share)

        loaded = load_graph(self.raw, self.policy, self._graph.mid_key, building)
        reason = nonsense_of(loaded.counts[NodeKind.ENTITY], loaded.facts, len(loaded.relations))
        if reason is not None:
            raise LoadError(reason)
        self._forgotten = self._rows.forgotten(self._graph)
        self._loaded = loaded_without(loaded, self._forgotten)
        self.adjacency = self._loaded.adjacency

    def name(self, name_concepts: NameConcepts) -> None:
        """Names the concepts, and writes what holds no name of a thing. Raises LoadError, PolicyError."""
        self._progress("naming concepts", 0.5)
        self._scope = VaultScope(self._graph.tenant, self._graph.name, self._version_id)
        self.schema, self._notes = self._builder.name(self._scope, self._loaded, self.policy, name_concepts)

    def seal(self) -> None:
        """Writes all names and values, sealed; the version is whole then, and may be looked at."""
        names = CollectedNames()
        for share in self._builder.seal_records(self._scope, self._loaded, names):
            self._progress("sealing names and values", 0.55 + 0.25 * share)
        public = self._builder.public_words(self.schema, self.policy)

        def indexing(share: float) -> None:
            self._progress("indexing names", 0.8 + 0.15 * share)

        self.names = self._builder.seal_names(self._scope, names, public, indexing)
        self._progress("measuring anonymity", 0.95)

    def swap(self) -> GraphInfo:
        """Puts the version in the place of the current one. Raises LoadError."""
        built = self._builder.finish(self._scope, self._loaded, self.names, self._notes, self.policy)
        self._rows.swap(self._graph, self._version_id, built, forgotten=self._forgotten)
        self._left.close()
        self._progress("done", 1.0)
        return built.info


def loaded_without(loaded: LoadedGraph, forgotten: Collection[int]) -> LoadedGraph:
    """A load without the things that its graph is to have forgotten; a note tells how many. Raises LoadError."""
    if not forgotten:
        return loaded
    schema = placeholder_schema(loaded)
    going = closure_of_removal(loaded.adjacency, schema, loaded.unseen, as_mids(list(forgotten)))
    if not len(going.chosen):
        return loaded
    if going.nodes.all():
        raise LoadError("everything in the source was forgotten in this graph earlier")
    facts = facts_of(loaded.adjacency)
    left = pruned(loaded.adjacency, schema, going.nodes, np.ones(len(facts.heads), dtype=np.bool_), facts)
    gone = frozenset(going.mids.tolist())

    def nodes() -> Iterator[LoadedNode]:
        return (node for node in loaded.nodes() if node.mid not in gone)

    note = f"{len(going.chosen)} things of the source were forgotten in this graph earlier, and are left out"
    return replace(
        loaded,
        relations=left.schema.relations,
        signatures=left.schema.signatures,
        adjacency=left.adjacency,
        facts=left.facts,
        counts=left.counts(),
        notes=(*loaded.notes, note),
        nodes=nodes,
        unseen=unseen_without(loaded.unseen, going.mids),
    )


__all__ = ["Catalog", "GraphInfo", "NameConcepts", "PrivateGraph", "Progress"]

_OPEN_TRIES = 5


class Catalog:
    """Safe to use from several threads, and from several processes over one data folder and database.

    Promise: kill -9 at any moment leaves the last complete version of each graph; what was unfinished is swept
    away at the next start. Condition: the database's tables exist (`kg_store.storage.tables.metadata`).
    """

    def __init__(self, folder: Path, engine: Engine, master: MasterKey, public_phrases: Iterable[str] = ()) -> None:
        self._folder = DataFolder(folder)
        self._engine, self._master = engine, master
        self._builder = Builder(self._folder, engine, master, public_phrases)
        self._sealer = VersionCipher(self._folder, master)
        self._rows = GraphRows(engine, master, self._folder.id)
        self._tenant_names = TenantNames(self._rows, self._sealer, engine, master)
        self._opened = OpenGraphs(self._folder, engine, master, self._rows, self._builder)
        self._versions = NewVersions(self._folder, self._rows, self._opened)
        self._versions.sweep()

    def graphs(self, tenant: str) -> list[GraphInfo]:
        """The tenant's graphs by name."""
        return [self._info(row) for row in self._rows.current(tenant)]

    def newest(self, most: int) -> list[tuple[str, str]]:
        """Tenant and name of the graphs of all tenants that were loaded last, the newest first."""
        return self._rows.newest(most)

    def is_empty(self) -> bool:
        """True when no tenant has a graph."""
        return self._rows.is_empty()

    def key_fits(self) -> bool:
        """False when there are graphs and the master key opens none of them."""
        return self._rows.key_fits()

    def when_opened(self, tell: Callable[[Schema], None]) -> None:
        """`tell` gets the schema of each version that this process opens from now on; it must return at once."""
        self._opened.tell_opened = tell

    def open(self, tenant: str, name: str) -> PrivateGraph:
        """The current version. Raises UnknownGraphError, and MasterKeyError when the master key is another."""
        for _ in range(_OPEN_TRIES):
            rows = self._rows.current(tenant, name)
            if not rows:
                break
            opened = self._opened.find(rows[0])
            if opened is None:
                opened = self._opened.open(rows[0])
                self._versions.sweep()
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
        return self._opened.part(whole, role)

    def name_words(self, tenant: str) -> NameWords:
        """The words of every name that any graph of the tenant holds. Raises MasterKeyError."""
        return self._tenant_names.of(tenant)

    def name_concepts_by(self, name_concepts: NameConcepts) -> None:
        """Sets who names the concepts of what roles see."""
        self._opened.name_concepts = name_concepts

    def begin_load(self, progress: Progress = lambda _step, _done: None) -> GraphLoad:
        """A load, whose steps the caller takes within its context."""
        return GraphLoad(self._versions, self._rows, self._builder, progress)

    def load(
        self,
        tenant: str,
        name: str,
        sources: Sequence[Path] | rdflib.Graph,
        policy: Policy | None,
        name_concepts: NameConcepts,
        progress: Progress = lambda _step, _done: None,
    ) -> GraphInfo:
        """Takes every step of a load. Raises LoadError, and then nothing has changed."""
        with self.begin_load(progress) as load:
            load.read(sources, policy)
            load.build(tenant, name)
            load.name(name_concepts)
            load.seal()
            return load.swap()

    def rename_concepts(
        self, opened: PrivateGraph, concepts: Sequence[str], progress: Progress = lambda _step, _done: None
    ) -> GraphInfo:
        """A new version of a graph, the same but for its concepts (one a signature), made the current one.

        Raises LoadError, and then nothing has changed: when another version took its place meanwhile, or a concept
        would make a name a public word.
        """
        build = partial(self._builder.renamed, concepts=concepts, progress=progress)
        return self._replaced(opened, progress, build)

    def closure_of_removal(self, opened: PrivateGraph, mids: Sequence[int]) -> RemovalSet:
        """Everything that would go with these things; those that the graph does not hold are left out."""
        path = self._folder.path_of(opened.version)
        return closure_of_removal(Adjacency.map_from(path), opened.blind.schema, read_unseen(path), as_mids(mids))

    def without(
        self,
        opened: PrivateGraph,
        going: RemovalSet,
        name_concepts: NameConcepts,
        progress: Progress = lambda _step, _done: None,
    ) -> GraphInfo:
        """A new version of a graph without what goes, made the current one. Raises LoadError, as `rename_concepts`."""
        build = partial(self._builder.without, going=going, name_concepts=name_concepts, progress=progress)
        return self._replaced(opened, progress, build)

    def _replaced(
        self, opened: PrivateGraph, progress: Progress, build: Callable[[VaultScope, BaseVersion], Built]
    ) -> GraphInfo:
        with self._versions.begin(opened.tenant, opened.name) as (graph, version_id):
            info = self.info_of(opened)
            base = BaseVersion(info, opened.blind.schema, opened.vault, opened.names, opened.policy)
            built = build(VaultScope(graph.tenant, graph.name, version_id), base)
            self._rows.swap(graph, version_id, built, instead_of=opened.version)
        progress("done", 1.0)
        return built.info

    def mids_of_id(self, tenant: str, name: str, id_in_source: str) -> Mids:
        """The MIDs that an IRI or a cell of the graph's source has here, whether or not the graph holds it."""
        key = self._rows.mid_key(tenant, name)
        return as_mids(mids_of(key, [f"<{id_in_source}>", TEXT_MARK + id_in_source]))

    def close(self) -> None:
        """Lets go of every graph that is open; questions in flight finish on theirs."""
        self._opened.clear()

    def delete_retired_records(self, tenant: str, name: str, mids: Sequence[int]) -> None:
        """Deletes rows of these things, and all names, from versions that are not current any more, held or not:
        who still reads one finds no name for them."""
        for version_id in self._rows.delete_records(tenant, name, mids):
            for file in (NAMES_FILE, SCHEMA_FILE, WORDS_FILE):
                (self._folder.path_of(version_id) / file).unlink(missing_ok=True)

    def has_readers(self, tenant: str, name: str) -> bool:
        """True while somebody, here or in another process, reads an older version; what nobody reads is swept."""
        self._versions.sweep()
        return bool(self._rows.older_versions(tenant, name))

    def release_replaced_versions(self) -> None:
        """Closes opened versions that have been replaced, and sweeps them; cheap where there is none.

        What a question left behind may hold one in a cycle of references, which an idle process never looks for.
        """
        if all(map(self._rows.is_complete, self._opened.held_versions())):
            return
        self._opened.drop_replaced()
        forget_words()
        forget_name_words()
        self._tenant_names.forget()
        gc.collect()
        self._versions.sweep()

    def adjacency_of(self, opened: PrivateGraph) -> Adjacency:
        """The arrays of an open version."""
        return Adjacency.map_from(self._folder.path_of(opened.version))

    def info_of(self, opened: PrivateGraph) -> GraphInfo:
        """Raises LoadError when `opened` is no longer the current version."""
        rows = [row for row in self._rows.current(opened.tenant, opened.name) if row.id == opened.version]
        if not rows:
            raise LoadError("the graph was deleted or loaded anew meanwhile")
        return self._info(rows[0])

    def delete(self, tenant: str, name: str) -> None:
        """Deletes a graph; questions in flight finish on it. Raises UnknownGraphError."""
        self._rows.delete_graph(tenant, name)
        self._opened.drop(tenant, name)
        self._versions.sweep()

    def _info(self, row: VersionRow) -> GraphInfo:
        sealed = self._sealer.unseal(VaultScope(row.tenant, row.name, row.id), INFO_PURPOSE, row.sealed_info)
        return read_info(row.tenant, row.name, row.id, sealed)
