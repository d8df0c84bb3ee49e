"""GraphLoad: one load of a graph, taken step by step: read, build, name, seal, swap."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from kg_store.errors import LoadError
from kg_store.graph.adjacency import Adjacency
from kg_store.graph.pruning import closure_of_removal, facts_of, pruned
from kg_store.graph_info import GraphInfo
from kg_store.loading.load import LoadedGraph, LoadedNode, load_graph, placeholder_schema
from kg_store.loading.sensible import nonsense_of
from kg_store.names.index import NameIndex
from kg_store.new_versions import NewVersions
from kg_store.proposals.propose import read_and_propose
from kg_store.sources.policy import Policy
from kg_store.sources.raw_graph import RawGraph
from kg_store.sources.reader import read_by_policy
from kg_store.storage.vault import VaultScope
from kg_store.storage.versions import GraphRows
from kg_store.terms import NodeKind, Schema, as_mids
from kg_store.version_builder import Builder, NameConcepts, Progress, unseen_without

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
        if policy is None:
            self.raw, self.policy = read_and_propose(sources, self._reading)
        else:
            self.raw = read_by_policy(sources, policy, self._reading)
            self.policy = policy

    def build(self, tenant: str, name: str) -> None:
        """Begins a version, and makes the graph of it: what was forgotten in this graph earlier is left out, and told
        in a note. Raises LoadError."""
        self._graph, self._version_id = self._left.enter_context(self._versions.begin(tenant, name))
        loaded = load_graph(self.raw, self.policy, self._graph.mid_key, self._building)
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
        for share in self._builder.seal_records(self._scope, self._loaded):
            self._progress("sealing names and values", 0.55 + 0.25 * share)
        self._progress("indexing names", 0.8)
        self.names = self._builder.seal_names(self._scope, self._loaded, self.schema, self.policy)
        self._progress("measuring anonymity", 0.95)

    def swap(self) -> GraphInfo:
        """Puts the version in the place of the current one. Raises LoadError."""
        built = self._builder.finish(self._scope, self._loaded, self.names, self._notes, self.policy)
        self._rows.swap(self._graph, self._version_id, built, forgotten=self._forgotten)
        self._left.close()
        self._progress("done", 1.0)
        return built.info

    def _reading(self, share: float) -> None:
        self._progress("reading", 0.4 * share)

    def _building(self, share: float) -> None:
        self._progress("building the graph", 0.4 + 0.1 * share)


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
