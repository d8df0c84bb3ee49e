"""Catalog: the graphs of all tenants and their versions. All loading and opening of graphs goes through it."""

from __future__ import annotations

import gc
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

import numpy as np
from sqlalchemy import Engine

from kg_store.errors import LoadError, NotPublicError, UnknownGraphError
from kg_store.formats.files import OBJECTS_BETWEEN_SEARCHES, give_freed_back
from kg_store.graph.adjacency import Adjacency
from kg_store.graph.pruning import RemovalSet, closure_of_removal, facts_of, pruned
from kg_store.loading.load import LoadedGraph, LoadedNode, load_graph, nonsense_of, placeholder_schema
from kg_store.names.index import NameReport
from kg_store.names.name_words import NameWords, forget_name_words
from kg_store.open_graphs import NewVersions, OpenGraphs, PrivateGraph, TenantNames
from kg_store.proposals.propose import read_and_propose
from kg_store.proposals.public_files import is_left_open, read_left_open
from kg_store.sources.policy import Policy
from kg_store.sources.raw_graph import TEXT_MARK, RawGraph
from kg_store.sources.reader import read_by_policy
from kg_store.storage.data_folder import DataFolder
from kg_store.storage.master_key import MasterKey, mids_of
from kg_store.storage.ties import GraphTies
from kg_store.storage.vault import VaultScope
from kg_store.storage.version_reports import GraphInfo
from kg_store.storage.versions import GraphRows
from kg_store.terms import Mids, NodeKind, Schema, as_mids
from kg_store.text.words import forget_words
from kg_store.version_builder import (
    NAMES_FILE,
    SCHEMA_FILE,
    WORDS_FILE,
    BaseVersion,
    Builder,
    Built,
    CollectedNames,
    NameConcepts,
    Progress,
    VersionCipher,
    read_unseen,
    unseen_without,
)
from kg_store.version_history import VersionHistory

if TYPE_CHECKING:
    import rdflib


class GraphLoad:
    """One load of a graph, as a context manager with a method for each step.

    The caller calls `read`, `build`, `name`, `seal` and `swap` in this order, each once. Promise: the graph that is in
    use does not change before `swap`, even if a step raises. `progress` gets each step's name and the share of the
    load that is done (0 to 1); an exception that it raises stops the load.
    """

    raw: RawGraph
    """The triples of the sources; set by `read`, and gone after `build`, which makes room for what follows."""
    policy: Policy
    """The policy that was given, or else the one proposed from the sources; set by `read`."""
    adjacency: Adjacency
    """The arrays of the new version; set by `build`."""
    schema: Schema
    """The relations and concepts of the new version; set by `name`."""
    names: NameReport
    """The counts of the new version's names; set by `seal`."""
    is_public: bool
    """True if the owner declared all files public; set by `build`."""

    def __init__(self, versions: NewVersions, rows: GraphRows, builder: Builder, progress: Progress) -> None:
        self._versions, self._rows, self._builder, self._progress = versions, rows, builder, progress
        self._left = ExitStack()

    def __enter__(self) -> Self:
        # A load makes millions of objects that stay. Looking among them for cycles as often as Python does by itself
        # took a third of its time.
        self._left.callback(gc.set_threshold, *gc.get_threshold())
        gc.set_threshold(*OBJECTS_BETWEEN_SEARCHES)
        return self

    def __exit__(self, *raised: object) -> None:
        self._left.__exit__(*raised)  # type: ignore[arg-type]

    def read(self, sources: Sequence[Path] | rdflib.Graph, policy: Policy | None) -> None:
        """Reads the triples from `sources`. Raises LoadError.

        A given policy says which files are tables; without one, a policy is proposed from the sources. It is proposed
        too if the given one says only which files are public.
        """

        def reading(share: float) -> None:
            self._progress("reading", 0.4 * share)

        if policy is None:
            self.raw, self.policy = read_and_propose(sources, reading)
        elif is_left_open(policy) and isinstance(sources, Sequence):
            self.raw, self.policy = read_left_open(sources, policy)
        else:
            self.raw, self.policy = read_by_policy(sources, policy, reading), policy

    def build(self, tenant: str, name: str) -> None:
        """Begins a new version of the graph, and builds its arrays from the triples. Raises LoadError.

        Things that were erased from this graph earlier are left out; a note in the graph's report says how many.
        """
        self._graph, self._version_id = self._left.enter_context(self._versions.begin(tenant, name))

        def building(share: float) -> None:
            self._progress("building the graph", 0.4 + 0.1 * share)

        loaded = load_graph(self.raw, self.policy, self._graph.mid_key, building)
        self.is_public = self.raw.is_public
        del self.raw
        give_freed_back()
        reason = nonsense_of(loaded.counts[NodeKind.ENTITY], loaded.facts, len(loaded.relations))
        if reason is not None:
            raise LoadError(reason)
        self._forgotten = self._rows.forgotten(self._graph)
        self._loaded = loaded_without(loaded, self._forgotten)
        self.adjacency = self._loaded.adjacency

    def name(self, name_concepts: NameConcepts) -> None:
        """Names the concepts, and writes the arrays and the schema, which hold no names of entities.

        Raises LoadError, PolicyError.
        """
        self._progress("naming concepts", 0.5)
        self._scope = VaultScope(self._graph.tenant, self._graph.name, self._version_id)
        self.schema, self._notes = self._builder.name(self._scope, self._loaded, self.policy, name_concepts)

    def seal(self) -> None:
        """Writes all names and values, encrypted.

        The version is then complete on disk, and `names` can be read before `swap`.
        """
        names = CollectedNames()
        for share in self._builder.seal_records(self._scope, self._loaded, names):
            self._progress("sealing names and values", 0.55 + 0.25 * share)
        # The terms of the sources are needed no more, and the most memory is taken from here on.
        self._loaded = replace(self._loaded, nodes=lambda: iter(()))
        give_freed_back()
        public = self._builder.public_words(self.schema, self.policy)

        def indexing(share: float) -> None:
            self._progress("indexing names", 0.8 + 0.15 * share)

        self.names = self._builder.seal_names(self._scope, names, public, indexing)
        give_freed_back()
        self._progress("measuring anonymity", 0.95)

    def swap(self) -> GraphInfo:
        """Makes the new version the current one, and returns its report. Raises LoadError."""
        built = self._builder.finish(self._scope, self._loaded, self.names, self._notes, self.policy)
        self._rows.swap(self._graph, self._version_id, built, forgotten=self._forgotten)
        self._left.close()
        self._progress("done", 1.0)
        return built.info


def loaded_without(loaded: LoadedGraph, forgotten: Collection[int]) -> LoadedGraph:
    """Returns `loaded` without the `forgotten` MIDs (things erased earlier), and with a note of their number.

    Raises LoadError if nothing would be left.
    """
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
        public_nodes=np.setdiff1d(loaded.public_nodes, going.mids),
    )


__all__ = ["Catalog", "GraphInfo", "NameConcepts", "PrivateGraph", "Progress"]

_OPEN_TRIES = 5
NOT_PUBLIC: Final = (
    "only a public graph can stand beside another one: load it again with all its files as public ones "
    "(`arog graph load NAME --public FILE`, or `[public] files` in its policy)"
)


class Catalog:
    """The graphs of all tenants in one data folder and database. Safe to use from several threads and processes.

    Promise: if the process is killed at any moment, the last complete version of each graph stays; an unfinished one
    is deleted at the next start. Condition: the database's tables exist (`kg_store.storage.tables.metadata`).
    """

    history: VersionHistory
    """The versions of each graph that are kept beside the live one."""
    ties: GraphTies
    """The graphs that stand beside others."""

    def __init__(
        self,
        folder: Path,
        engine: Engine,
        master: MasterKey,
        public_phrases: Iterable[str] = (),
        versions_kept: int = 1,
    ) -> None:
        """`versions_kept`: the versions of each graph that a load leaves, the new one among them."""
        self._folder = DataFolder(folder)
        self._engine, self._master = engine, master
        self._builder = Builder(self._folder, engine, master, public_phrases)
        self._sealer = VersionCipher(self._folder, master)
        self._rows = GraphRows(engine, master, self._folder.id, versions_kept)
        self.ties = GraphTies(engine)
        self._tenant_names = TenantNames(self._rows, self._sealer, engine, master)
        self._opened = OpenGraphs(self._folder, engine, master, self._rows, self._builder)
        self._versions = NewVersions(self._folder, self._rows, self._opened)
        self.history = VersionHistory(self._folder, self._rows, self._sealer, self._opened)
        self._versions.sweep()

    def graphs(self, tenant: str) -> list[GraphInfo]:
        """Returns the reports of the tenant's graphs, sorted by graph name."""
        return self._rows.reports(tenant)

    def newest(self, most: int) -> list[tuple[str, str]]:
        """Returns (tenant, graph name) of the `most` graphs of all tenants that were loaded last, the newest first."""
        return self._rows.newest(most)

    def is_empty(self) -> bool:
        """Returns True if no tenant has a graph."""
        return self._rows.is_empty()

    def when_opened(self, tell: Callable[[Schema], None]) -> None:
        """Registers `tell`, which gets the schema of each version that is opened from now on.

        `tell` must return at once.
        """
        self._opened.tell_opened = tell

    def open(self, tenant: str, name: str) -> PrivateGraph:
        """Returns the current version of a graph. Raises UnknownGraphError, MasterKeyError."""
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
        """Returns the part of the current version that `role` of its policy may see; without a role the whole version.

        The part is built when it is first asked for, which takes as long as sorting the facts during a load. Raises
        UnknownGraphError, also if the policy has no such role.
        """
        whole = self.open(tenant, name)
        if role is None:
            return whole
        if role not in whole.policy.roles:
            raise UnknownGraphError("the graph's policy has no role of that name")
        return self._opened.part(whole, role)

    def put_beside(self, tenant: str, name: str, public: str) -> None:
        """Puts a public graph beside another graph. Raises UnknownGraphError, NotPublicError."""
        self.require_public(tenant, public)
        self.ties.put(tenant, name, public)

    def take_from_beside(self, tenant: str, name: str, public: str) -> None:
        """Ends what `put_beside` began; does nothing if it was not. Raises UnknownGraphError."""
        self.ties.remove(tenant, name, public)

    def graphs_beside(self, tenant: str, name: str) -> tuple[str, ...]:
        """Returns the names of the graphs that were put beside a graph and are still public."""
        return tuple(each for each in self.ties.of_graph(tenant, name) if self._is_public(tenant, each))

    def require_public(self, tenant: str, name: str) -> None:
        """Raises NotPublicError if the current version of a graph is not public, UnknownGraphError without one."""
        if not self._is_public(tenant, name):
            raise NotPublicError(NOT_PUBLIC)

    def _is_public(self, tenant: str, name: str) -> bool:
        rows = self._rows.current(tenant, name)
        if not rows:
            raise UnknownGraphError("no graph of that name in this data folder")
        return self._rows.report(rows[0]).is_public

    def name_words(self, tenant: str) -> NameWords:
        """Returns the words of all names in all private graphs of the tenant. Raises MasterKeyError."""
        return self._tenant_names.of(tenant)

    def name_concepts_by(self, name_concepts: NameConcepts) -> None:
        """Sets the function that names the concepts of the part that a role sees."""
        self._opened.name_concepts = name_concepts

    def begin_load(self, progress: Progress = lambda _step, _done: None) -> GraphLoad:
        """Returns a load; the caller enters it as a context and calls its steps."""
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
        """Loads a graph in one call: all steps of `GraphLoad`. Raises LoadError, and then changes nothing."""
        with self.begin_load(progress) as load:
            load.read(sources, policy)
            load.build(tenant, name)
            load.name(name_concepts)
            load.seal()
            return load.swap()

    def rename_concepts(
        self, opened: PrivateGraph, concepts: Sequence[str], progress: Progress = lambda _step, _done: None
    ) -> GraphInfo:
        """Makes a new current version that differs from `opened` only in its concepts.

        `concepts` has one for each signature (the kind, classes and hops that nodes share). Raises LoadError if
        another version became current meanwhile, or if a concept would make a name a public word; the graph in use
        then stays as it is.
        """
        build = partial(self._builder.renamed, concepts=concepts, progress=progress)
        return self._replaced(opened, progress, build, keeps=True)

    def closure_of_removal(self, opened: PrivateGraph, mids: Sequence[int]) -> RemovalSet:
        """Returns everything that must be removed with `mids`; MIDs that the graph does not hold are ignored."""
        path = self._folder.path_of(opened.version)
        return closure_of_removal(Adjacency.map_from(path), opened.blind.schema, read_unseen(path), as_mids(mids))

    def without(
        self,
        opened: PrivateGraph,
        going: RemovalSet,
        name_concepts: NameConcepts,
        progress: Progress = lambda _step, _done: None,
    ) -> GraphInfo:
        """Puts a version without the things in `going` in the place of `opened`, which is current or kept.

        Raises LoadError if that version was replaced or deleted meanwhile, and if nothing else is left.
        """
        build = partial(self._builder.without, going=going, name_concepts=name_concepts, progress=progress)
        return self._replaced(opened, progress, build, keeps=False)

    def _replaced(
        self,
        opened: PrivateGraph,
        progress: Progress,
        build: Callable[[VaultScope, BaseVersion], Built],
        keeps: bool,
    ) -> GraphInfo:
        with self._versions.begin(opened.tenant, opened.name) as (graph, version_id):
            info = self.info_of(opened)
            base = BaseVersion(info, opened.blind.schema, opened.vault, opened.names, opened.policy)
            built = build(VaultScope(graph.tenant, graph.name, version_id), base)
            self._rows.supersede(graph, version_id, built, opened.version, keeps)
        progress("done", 1.0)
        return built.info

    def mids_of_id(self, tenant: str, name: str, id_in_source: str) -> Mids:
        """Returns the MIDs of an IRI or a table cell of the source, even if the graph does not hold them."""
        key = self._rows.mid_key(tenant, name)
        return as_mids(mids_of(key, [f"<{id_in_source}>", TEXT_MARK + id_in_source]))

    def close(self) -> None:
        """Closes all open graphs; questions in progress can finish on the versions that they hold."""
        self._opened.clear()

    def delete_retired_records(self, tenant: str, name: str, mids: Sequence[int]) -> None:
        """Deletes the vault rows of `mids`, and all files with names, from the versions that are to be deleted.

        A question that still runs on such a version then finds no names for these things.
        """
        for version_id in self._rows.delete_records(tenant, name, mids):
            for file in (NAMES_FILE, SCHEMA_FILE, WORDS_FILE):
                (self._folder.path_of(version_id) / file).unlink(missing_ok=True)

    def has_readers(self, tenant: str, name: str) -> bool:
        """Returns True if a question, in any process, still reads an older version of the graph.

        Older versions without a reader are deleted.
        """
        self._versions.sweep()
        return bool(self._rows.older_versions(tenant, name))

    def release_replaced_versions(self) -> None:
        """Closes and deletes the versions that have been replaced; cheap if there are none.

        It collects garbage, because a finished question may leave a version in a cycle of references. An idle process
        would keep that version otherwise.
        """
        held = self._opened.held_versions()
        if not held or held <= self._rows.current_ids():
            return
        self._opened.drop_replaced()
        forget_words()
        forget_name_words()
        self._tenant_names.forget()
        gc.collect()
        self._versions.sweep()

    def adjacency_of(self, opened: PrivateGraph) -> Adjacency:
        """Returns the arrays of an open version."""
        return Adjacency.map_from(self._folder.path_of(opened.version))

    def info_of(self, opened: PrivateGraph) -> GraphInfo:
        """Returns the report of an open version. Raises LoadError if it is neither current nor kept any more."""
        rows = [row for row in self._rows.stored(opened.tenant, opened.name) if row.id == opened.version]
        if not rows:
            raise LoadError("the graph was deleted or loaded anew meanwhile")
        return self._rows.report(rows[0])

    def delete_kept(self, version_id: str) -> None:
        """Deletes a kept version; one that is current stays."""
        self._rows.retire_kept(version_id)
        self._versions.sweep()

    def delete(self, tenant: str, name: str) -> None:
        """Deletes a graph; questions in progress can still finish on it. Raises UnknownGraphError."""
        self._rows.delete_graph(tenant, name)
        self._opened.drop(tenant, name)
        self._versions.sweep()
