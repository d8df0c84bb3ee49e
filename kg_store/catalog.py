"""Catalog: the graphs of all tenants and their versions; the one door to load or open a graph."""

from __future__ import annotations

import threading
import uuid
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Engine

from kg_store.adjacency import Adjacency
from kg_store.blind_graph import BlindGraph
from kg_store.compact_graph import CompactGraph
from kg_store.data_folder import DataFolder, Hold
from kg_store.graph_info import GraphInfo, info_bytes, info_of, read_info
from kg_store.graph_rows import GraphRow, GraphRows, VersionRow
from kg_store.inspect import read_and_propose
from kg_store.keys import MasterKey, bind
from kg_store.linking import EntityLinker
from kg_store.loading import LoadedGraph, load_graph, placeholder_schema
from kg_store.masking import notes_on, refuse_telling
from kg_store.names import NameIndex
from kg_store.policy import Policy
from kg_store.public_words import PublicWords
from kg_store.raw_graph import RawGraph
from kg_store.reading import Fraction, read_sources
from kg_store.schema_concepts import phrases_of, with_concepts
from kg_store.schema_file import read_schema, schema_bytes
from kg_store.set_algebra import SetAlgebra, ValueAlgebra
from kg_store.terms import LoadError, Schema, UnknownGraph
from kg_store.vault import Vault, VaultScope, write_records

if TYPE_CHECKING:
    import rdflib

__all__ = ["Catalog", "GraphInfo", "PrivateGraph"]

Progress = Callable[[str, float], None]
"""Gets the step's name and the share of the whole load that is done, 0 to 1."""

NameConcepts = Callable[[Schema], Sequence[str]]
"""One concept per signature of a schema whose concepts are placeholders."""

Review = Callable[[Adjacency, Schema, NameIndex], None]
"""Sees a version before it goes live; what it raises keeps it from that."""

_SCHEMA_FILE, _NAMES_FILE = "schema.sealed", "names.sealed"
_INFO_PURPOSE, _POLICY_PURPOSE = "version info", "policy"
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


class Catalog:
    """Safe to use from several threads, and from several processes over one data folder and database.

    Promise: kill -9 at any moment leaves the last complete version of each graph; what was unfinished is swept
    away at the next start. Condition: the database's tables exist (`kg_store.tables.metadata`).
    """

    def __init__(self, folder: Path, engine: Engine, master: MasterKey, public_phrases: Iterable[str] = ()) -> None:
        self._folder = DataFolder(folder)
        self._engine, self._master = engine, master
        self._public_phrases = tuple(public_phrases)
        self._rows = GraphRows(engine, master, self._folder.id)
        self._opened: dict[tuple[str, str], PrivateGraph] = {}
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
        """The current version. Raises UnknownGraph, and KeyProblem when the master key is another."""
        for _ in range(_OPEN_TRIES):
            rows = self._rows.current(tenant, name)
            if not rows:
                break
            opened = self._opened.get((tenant, name))
            if opened is None or opened.version != rows[0].id:
                opened = self._replace(rows[0])
            if opened is not None:
                return opened
        raise UnknownGraph("no graph of that name in this data folder")

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

        Without a policy the proposed one is used.
        """
        raw, policy = _read(sources, policy, lambda done: progress("reading", 0.4 * done))
        with self._new_version(tenant, name) as (graph, version_id):
            step = "building the graph"
            loaded = load_graph(raw, policy, graph.mid_key, lambda done: progress(step, 0.4 + 0.1 * done))
            info = self._build(graph, version_id, loaded, policy, name_concepts, progress, review)
        progress("done", 1.0)
        return info

    def rename_concepts(
        self, opened: PrivateGraph, concepts: Sequence[str], progress: Progress = lambda _step, _done: None
    ) -> GraphInfo:
        """A new version of a graph, the same but for its concepts (one a signature), made the current one.

        Raises LoadError, and then nothing has changed: when another version took its place meanwhile, or a concept
        would make a name a public word.
        """
        with self._new_version(opened.tenant, opened.name) as (graph, version_id):
            info = self._rebuild(graph, version_id, opened, concepts, progress)
        progress("done", 1.0)
        return info

    def review(self, tenant: str, name: str, review: Review) -> tuple[GraphInfo, PrivateGraph]:
        """Has `review` see the current version. Raises UnknownGraph, LoadError."""
        opened = self.open(tenant, name)
        review(Adjacency.map_from(self._folder.path_of(opened.version)), opened.blind.schema, opened.names)
        return self._info_of(opened), opened

    def delete(self, tenant: str, name: str) -> None:
        """Deletes a graph; questions in flight finish on it. Raises UnknownGraph."""
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

    def _build(
        self,
        graph: GraphRow,
        version_id: str,
        loaded: LoadedGraph,
        policy: Policy,
        name_concepts: NameConcepts,
        progress: Progress,
        review: Review,
    ) -> GraphInfo:
        path, scope = self._folder.path_of(version_id), VaultScope(graph.tenant, graph.name, version_id)
        progress("naming concepts", 0.5)
        schema = placeholder_schema(loaded)
        schema = with_concepts(schema, name_concepts(schema))
        notes = self._notes_on_unsaid(loaded, schema)
        loaded.adjacency.save(path)
        self._write(scope, _SCHEMA_FILE, schema_bytes(schema))
        total = max(1, sum(loaded.counts.values()))
        records = ((node.mid, node.record) for node in loaded.nodes())
        for written in write_records(self._engine, self._master, scope, records):
            progress("sealing names and values", 0.55 + 0.25 * min(1.0, written / total))
        progress("indexing names", 0.8)
        index = NameIndex.build(entry for node in loaded.nodes() for entry in node.entries())
        index = index.with_public(self._public_words(schema))
        self._write(scope, _NAMES_FILE, index.to_bytes())
        progress("measuring anonymity", 0.95)
        review(loaded.adjacency, schema, index)
        self._folder.finish(version_id)
        info = info_of(graph.tenant, graph.name, version_id, loaded, index.report().public_words, notes)
        sealed_policy = self._seal(scope, _POLICY_PURPOSE, policy.to_toml().encode())
        self._rows.swap(graph, version_id, self._seal(scope, _INFO_PURPOSE, info_bytes(info)), sealed_policy)
        return info

    def _rebuild(
        self, graph: GraphRow, version_id: str, opened: PrivateGraph, concepts: Sequence[str], progress: Progress
    ) -> GraphInfo:
        scope, before = VaultScope(graph.tenant, graph.name, version_id), self._info_of(opened)
        schema = with_concepts(opened.blind.schema, concepts)
        index = opened.names.with_public(self._public_words(schema))
        fresh = set(index.report().public_words) - set(opened.names.report().public_words)
        if fresh:
            raise LoadError(f"the concepts would make {len(fresh)} names public words")
        Adjacency.map_from(self._folder.path_of(opened.version)).save(self._folder.path_of(version_id))
        self._write(scope, _SCHEMA_FILE, schema_bytes(schema))
        self._write(scope, _NAMES_FILE, index.to_bytes())
        total = max(1, before.entities + before.values + before.mediators)
        for written in write_records(self._engine, self._master, scope, opened.vault.all_records()):
            progress("sealing names and values", min(1.0, written / total))
        self._folder.finish(version_id)
        info = replace(
            before, version=version_id, loaded_at=datetime.now(UTC).replace(microsecond=0),
            public_words=index.report().public_words,
        )  # fmt: skip
        sealed_policy = self._seal(scope, _POLICY_PURPOSE, opened.policy.to_toml().encode())
        sealed_info = self._seal(scope, _INFO_PURPOSE, info_bytes(info))
        self._rows.swap(graph, version_id, sealed_info, sealed_policy, instead_of=opened.version)
        return info

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
        weakref.finalize(opened, Hold.release, hold)
        return opened

    def _assembled(self, row: VersionRow) -> PrivateGraph:
        scope, path = VaultScope(row.tenant, row.name, row.id), self._folder.path_of(row.id)
        schema = read_schema(self._read(scope, _SCHEMA_FILE))
        public = self._public_words(schema)
        # Marked anew: the words of our own templates may have changed since the load.
        names = NameIndex.from_bytes(self._read(scope, _NAMES_FILE)).with_public(public)
        blind = CompactGraph.open(path, schema)
        vault = Vault(self._engine, self._master, scope)
        policy = Policy.from_toml(self._unseal(scope, _POLICY_PURPOSE, row.sealed_policy).decode())
        algebra = ValueAlgebra(blind, vault)
        linker = EntityLinker(names)
        return PrivateGraph(row.tenant, row.name, row.id, blind, vault, names, linker, algebra, policy, public)

    def _public_words(self, schema: Schema) -> PublicWords:
        return PublicWords.of((*self._public_phrases, *phrases_of(schema)))

    def _notes_on_unsaid(self, loaded: LoadedGraph, schema: Schema) -> tuple[str, ...]:
        """Raises LoadError where the description of a masked relation says what it stands in the place of."""
        bare = replace(schema, relations=tuple(replace(each, description="") for each in schema.relations))
        public = self._public_words(bare)
        refuse_telling(schema, loaded.unsaid, public)
        return notes_on(loaded.unsaid, public)

    def _sweep(self) -> None:
        """Deletes versions that are neither current nor held by anybody, here or in another process."""
        with self._lock:
            complete = self._rows.complete_ids()
            self._opened = {key: each for key, each in self._opened.items() if each.version in complete}
        with self._folder.alone():
            known = set(self._rows.not_current())
            strays = set(self._folder.unfinished_ids()) - self._rows.complete_ids()
            for version_id in sorted(known | strays):
                is_needed = partial(self._rows.is_complete, version_id)
                self._folder.delete_unless_held(version_id, is_needed, partial(self._rows.forget, version_id))

    def _info(self, row: VersionRow) -> GraphInfo:
        sealed = self._unseal(VaultScope(row.tenant, row.name, row.id), _INFO_PURPOSE, row.sealed_info)
        return read_info(row.tenant, row.name, row.id, sealed)

    def _write(self, scope: VaultScope, file: str, plain: bytes) -> None:
        (self._folder.path_of(scope.version_id) / file).write_bytes(self._seal(scope, file, plain))

    def _read(self, scope: VaultScope, file: str) -> bytes:
        return self._unseal(scope, file, (self._folder.path_of(scope.version_id) / file).read_bytes())

    def _seal(self, scope: VaultScope, purpose: str, plain: bytes) -> bytes:
        return self._master.seal(purpose, bind(scope.tenant, scope.graph, scope.version_id), plain)

    def _unseal(self, scope: VaultScope, purpose: str, sealed: bytes) -> bytes:
        return self._master.open(purpose, bind(scope.tenant, scope.graph, scope.version_id), sealed)


def _read(
    sources: Sequence[Path] | rdflib.Graph, policy: Policy | None, progress: Fraction
) -> tuple[RawGraph, Policy]:
    """The triples, and the policy given or proposed: it says which files are tables before they are read."""
    if policy is None:
        return read_and_propose(sources, progress)
    return read_sources(sources, progress, policy.tables), policy
