"""The graph versions that this process has open, whole or as a role sees them; how a version begins and is deleted."""

from __future__ import annotations

import threading
import uuid
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from sqlalchemy import Engine

from kg_store.algebra.evaluator import SetAlgebra
from kg_store.graph.adjacency import Adjacency
from kg_store.graph.blind_graph import BlindGraph, CompactGraph
from kg_store.graph.pruning import restricted
from kg_store.graph.schema import masks_of, read_in_house, read_schema, unsaid_of
from kg_store.names.index import NameIndex
from kg_store.names.linker import EntityLinker
from kg_store.names.name_words import NameWords, NameWordsVersionError
from kg_store.sources.policy import Policy
from kg_store.storage.data_folder import DataFolder, FolderLock
from kg_store.storage.master_key import MasterKey
from kg_store.storage.vault import Vault, VaultScope, VisibilityFilter
from kg_store.storage.versions import GraphRow, GraphRows, VersionRow
from kg_store.terms import Mid, Schema
from kg_store.text.english import PublicWords
from kg_store.version_builder import (
    NAMES_FILE,
    POLICY_PURPOSE,
    SCHEMA_FILE,
    WORDS_FILE,
    Builder,
    NameConcepts,
    VersionCipher,
    read_names,
    read_public_nodes,
)


class TenantNames:
    """The words of all names of a tenant's private graphs, cached for each version.

    Safe to use from several threads: two that read at the same time do the same work and get equal results.
    """

    def __init__(self, rows: GraphRows, sealer: VersionCipher, engine: Engine, master: MasterKey) -> None:
        self._rows, self._sealer, self._engine, self._master = rows, sealer, engine, master
        self._united: dict[str, tuple[tuple[str, ...], NameWords]] = {}
        self._of_version: dict[str, dict[str, NameWords]] = {}

    def of(self, tenant: str) -> NameWords:
        """Returns the words of all names in the tenant's current versions, without those of public graphs.

        Raises MasterKeyError if one of them cannot be opened, since words of its names would be missing.
        """
        rows = self._rows.current(tenant)
        versions = tuple(row.id for row in rows)
        known, united = self._united.get(tenant, ((), NameWords()))
        if known != versions:
            before = self._of_version.get(tenant, {})
            each = {row.id: before[row.id] if row.id in before else self._read(row) for row in rows}
            united = NameWords.union(each.values())
            # Words of replaced versions are dropped, because names of things that were erased may be among them.
            self._of_version[tenant], self._united[tenant] = each, (versions, united)
        return united

    def forget(self) -> None:
        """Empties the cache."""
        self._united, self._of_version = {}, {}

    def _read(self, row: VersionRow) -> NameWords:
        if self._rows.report(row).is_public:
            return NameWords()
        scope = VaultScope(row.tenant, row.name, row.id)
        try:
            return NameWords.from_bytes(self._sealer.read(scope, WORDS_FILE))
        except (FileNotFoundError, NameWordsVersionError):
            # The file is in another data folder, was deleted since the row was read, or was made with another lexicon.
            records = Vault(self._engine, self._master, scope).all_records()
            return NameWords.of(record for _, record in records)


@dataclass(frozen=True, slots=True, weakref_slot=True)
class PrivateGraph:
    """One open version of a graph. It stays usable while something holds it, also after it was replaced."""

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
    """For a role's part: returns those of some MIDs that the part has. `names` keeps all names, for the guard."""
    whole: PrivateGraph | None = field(default=None, repr=False)
    """The whole version, if this is a part of it for a role; the reference keeps it open."""
    is_public: bool = False
    """True if the owner declared all files of this version public."""
    public_nodes: frozenset[Mid] = frozenset()
    """The nodes of which only public files tell that were joined to private ones."""
    private_names: NameIndex | None = field(default=None, repr=False)
    """The names of all other nodes; None if there are no public ones."""
    in_house: Schema = field(kw_only=True, repr=False)
    """The schema of `blind` with the real names of masked relations, for the question reader (nothing is sent)."""


class OpenGraphs:
    """The versions that this process has open. Safe to use from several threads.

    The folder of a version stays locked while something holds the version.
    """

    def __init__(
        self, folder: DataFolder, engine: Engine, master: MasterKey, rows: GraphRows, builder: Builder
    ) -> None:
        self._folder, self._engine, self._master, self._rows = folder, engine, master, rows
        self._builder, self._sealer = builder, VersionCipher(folder, master)
        self._opened: dict[tuple[str, str], PrivateGraph] = {}
        self._parts: dict[tuple[str, str, str], PrivateGraph] = {}
        self._alive: list[weakref.ref[PrivateGraph]] = []
        self._lock, self._parts_lock = threading.Lock(), threading.Lock()
        self.name_concepts: NameConcepts = lambda schema: schema.concepts
        self.tell_opened: Callable[[Schema], None] = lambda _schema: None

    def find(self, row: VersionRow) -> PrivateGraph | None:
        """Returns the version of `row` if it is open, else None."""
        opened = self._opened.get((row.tenant, row.name))
        return opened if opened is not None and opened.version == row.id else None

    def open(self, row: VersionRow) -> PrivateGraph | None:
        """Opens the version of `row` in place of an older version of its graph, and returns it.

        Returns None if its files were deleted since the row was read, or lie in another data folder.
        """
        with self._lock:
            if (known := self.find(row)) is not None:
                return known
            opened = self._open(row)
            if opened is not None:
                self._opened[row.tenant, row.name] = opened
                self.tell_opened(opened.in_house)
        return opened

    def open_apart(self, row: VersionRow) -> PrivateGraph | None:
        """Opens a version that no question may find here; returns None like `open`."""
        with self._lock:
            return self._open(row)

    def part(self, whole: PrivateGraph, role: str) -> PrivateGraph:
        """Returns the part of an open version that a role of its policy sees; built when first asked for."""
        key = whole.tenant, whole.name, role
        with self._parts_lock:
            part = self._parts.get(key)
            if part is None or part.version != whole.version:
                part = self._parts[key] = self._part(whole, role)
        return part

    def held_versions(self) -> set[str]:
        """Returns the ids of the versions that something in this process still holds, current or not."""
        with self._lock:
            self._alive = [each for each in self._alive if each() is not None]
            return {graph.version for each in self._alive if (graph := each()) is not None}

    def drop_replaced(self) -> None:
        """Drops the references to versions that are not current any more; a running question keeps its own."""
        with self._lock:
            current = self._rows.current_ids()
            self._opened = {key: each for key, each in self._opened.items() if each.version in current}
            self._parts = {key: each for key, each in self._parts.items() if each.version in current}

    def drop(self, tenant: str, name: str) -> None:
        """Drops the reference to one graph."""
        with self._lock:
            self._opened.pop((tenant, name), None)

    def clear(self) -> None:
        """Drops the references to all graphs."""
        with self._lock:
            self._opened.clear()
            self._parts.clear()

    def _part(self, whole: PrivateGraph, role: str) -> PrivateGraph:
        adjacency = Adjacency.map_from(self._folder.path_of(whole.version))
        blind = restricted(adjacency, whole.blind.schema, whole.policy.roles[role], self.name_concepts)
        masks = masks_of(blind.schema)

        def holds(mids: tuple[int, ...]) -> tuple[int, ...]:
            found = blind.signatures_of(np.array(mids, dtype=np.int64)) >= 0
            return tuple(mid for mid, held in zip(mids, found.tolist(), strict=True) if held or mid in masks)

        vault = whole.vault.part(holds)
        others = frozenset(adjacency.mids.tolist()) - frozenset(holds(tuple(adjacency.mids.tolist())))
        # Words of relations that the role does not see are not public words for it.
        public = self._builder.public_words(blind.schema, whole.policy)
        names = whole.names.without(others).with_public(public)
        return replace(
            whole, blind=blind, vault=vault, linker=EntityLinker(names, blind.fact_counts),
            algebra=SetAlgebra(blind, vault), holds=holds, whole=whole, public=public,
            in_house=_in_house(blind.schema, vault),
        )  # fmt: skip

    def _open(self, row: VersionRow) -> PrivateGraph | None:
        hold = self._folder.hold(row.id)
        if hold is None:
            return None
        try:
            opened = self._assembled(row)
        except BaseException as error:
            hold.release()
            if isinstance(error, FileNotFoundError):
                return None
            raise
        weakref.finalize(opened, FolderLock.release, hold)
        self._alive.append(weakref.ref(opened))
        return opened

    def _assembled(self, row: VersionRow) -> PrivateGraph:
        scope, path = VaultScope(row.tenant, row.name, row.id), self._folder.path_of(row.id)
        schema = read_schema(self._sealer.read(scope, SCHEMA_FILE))
        policy = Policy.from_toml(self._sealer.unseal(scope, POLICY_PURPOSE, row.sealed_policy).decode())
        public = self._builder.public_words(schema, policy)
        # Public words are marked again, because the words of our own templates may have changed since the load.
        names = read_names(self._sealer.read(scope, NAMES_FILE)).with_public(public)
        public_nodes = frozenset(read_public_nodes(path).tolist())
        blind = CompactGraph.open(path, schema)
        vault = Vault(self._engine, self._master, scope)
        algebra = SetAlgebra(blind, vault)
        linker = EntityLinker(names, blind.fact_counts)
        return PrivateGraph(
            row.tenant, row.name, row.id, blind, vault, names, linker, algebra, policy, public,
            in_house=_in_house(schema, vault), is_public=self._rows.report(row).is_public,
            public_nodes=public_nodes,
            private_names=names.without(public_nodes).with_public(public) if public_nodes else None,
        )  # fmt: skip


def _in_house(schema: Schema, vault: Vault) -> Schema:
    """Returns the schema with the real names of masked relations, for the question reader, which sends nothing out.

    The vault stores these names as hidden values.
    """
    held = vault.records(unsaid_of(schema))
    return read_in_house(schema, {mid: record.lexical or "" for mid, record in held.items()})


class NewVersions:
    """Begins new versions and deletes old ones.

    Promise: a version that was begun but did not become current is deleted later, even if its process was killed.
    """

    def __init__(self, folder: DataFolder, rows: GraphRows, opened: OpenGraphs) -> None:
        self._folder, self._rows, self._opened = folder, rows, opened

    @contextmanager
    def begin(self, tenant: str, name: str) -> Iterator[tuple[GraphRow, str]]:
        """Begins a version, and yields (row of its graph, id of the version).

        The caller fills the version and makes it current while the context is open; if that fails, the version is
        deleted later.
        """
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
            self.sweep()

    def sweep(self) -> None:
        """Deletes the versions that are neither current nor kept, and that no process holds."""
        self._opened.drop_replaced()
        with self._folder.alone():
            known = set(self._rows.to_delete())
            strays = set(self._folder.unfinished_ids()) - self._rows.stored_ids()
            for version_id in sorted(known | strays):
                is_needed = partial(self._rows.is_stored, version_id)
                self._folder.delete_unless_held(version_id, is_needed, partial(self._rows.forget, version_id))
