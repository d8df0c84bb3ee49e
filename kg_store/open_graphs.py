"""Versions that this process has open, whole and as the roles of their policies see them; new ones, and the sweep."""

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
from kg_store.terms import Schema
from kg_store.text.english import PublicWords
from kg_store.version_builder import (
    NAMES_FILE,
    POLICY_PURPOSE,
    SCHEMA_FILE,
    WORDS_FILE,
    Builder,
    NameConcepts,
    VersionCipher,
)


class TenantNames:
    """Safe to use from several threads: two that begin at once do the same work, and come to the same."""

    def __init__(self, rows: GraphRows, sealer: VersionCipher, engine: Engine, master: MasterKey) -> None:
        self._rows, self._sealer, self._engine, self._master = rows, sealer, engine, master
        self._united: dict[str, tuple[tuple[str, ...], NameWords]] = {}
        self._of_version: dict[str, dict[str, NameWords]] = {}

    def of(self, tenant: str) -> NameWords:
        """The current versions' words together. Raises MasterKeyError where one of them can't be opened: then nobody
        knows which words are names."""
        rows = self._rows.current(tenant)
        versions = tuple(row.id for row in rows)
        known, united = self._united.get(tenant, ((), NameWords()))
        if known != versions:
            before = self._of_version.get(tenant, {})
            each = {row.id: before[row.id] if row.id in before else self._read(row) for row in rows}
            united = NameWords.union(each.values())
            # What is not current any more is let go: names may have been forgotten with it.
            self._of_version[tenant], self._united[tenant] = each, (versions, united)
        return united

    def forget(self) -> None:
        """Forgets all that was read; it is read again when it is asked for."""
        self._united, self._of_version = {}, {}

    def _read(self, row: VersionRow) -> NameWords:
        scope = VaultScope(row.tenant, row.name, row.id)
        try:
            return NameWords.from_bytes(self._sealer.read(scope, WORDS_FILE))
        except (FileNotFoundError, NameWordsVersionError):
            # In another data folder, swept since its row was read, or read with another lexicon than ours.
            records = Vault(self._engine, self._master, scope).all_records()
            return NameWords.of(record for _, record in records)


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
    """The graph that this is a part of, so that its version is held."""
    in_house: Schema = field(kw_only=True, repr=False)
    """The schema of `blind` with the own words of masked relations, for the reader that sends nothing."""


class OpenGraphs:
    """Safe to use from several threads. A version's folder is locked as long as anybody holds the version."""

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
        """The version of that row, where it is open already."""
        opened = self._opened.get((row.tenant, row.name))
        return opened if opened is not None and opened.version == row.id else None

    def open(self, row: VersionRow) -> PrivateGraph | None:
        """The version of that row, in the place of an older one of its graph. None when it was swept away since its
        row was read, or lies in another data folder."""
        with self._lock:
            if (known := self.find(row)) is not None:
                return known
            opened = self._open(row)
            if opened is not None:
                self._opened[row.tenant, row.name] = opened
                self.tell_opened(opened.in_house)
        return opened

    def part(self, whole: PrivateGraph, role: str) -> PrivateGraph:
        """The part of an open version that a role of its policy sees; made when it is first asked for."""
        key = whole.tenant, whole.name, role
        with self._parts_lock:
            part = self._parts.get(key)
            if part is None or part.version != whole.version:
                part = self._parts[key] = self._part(whole, role)
        return part

    def held_versions(self) -> set[str]:
        """The versions that somebody in this process still holds, current or not."""
        with self._lock:
            self._alive = [each for each in self._alive if each() is not None]
            return {graph.version for each in self._alive if (graph := each()) is not None}

    def drop_replaced(self) -> None:
        """Lets go of versions that are not current any more; who still reads one holds it alone."""
        with self._lock:
            complete = self._rows.complete_ids()
            self._opened = {key: each for key, each in self._opened.items() if each.version in complete}
            self._parts = {key: each for key, each in self._parts.items() if each.version in complete}

    def drop(self, tenant: str, name: str) -> None:
        """Lets go of one graph."""
        with self._lock:
            self._opened.pop((tenant, name), None)

    def clear(self) -> None:
        """Lets go of every graph."""
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
        # A word of a relation that the role is not shown is no schema to it.
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
        # Marked anew: the words of our own templates may have changed since the load.
        names = NameIndex.from_bytes(self._sealer.read(scope, NAMES_FILE)).with_public(public)
        blind = CompactGraph.open(path, schema)
        vault = Vault(self._engine, self._master, scope)
        algebra = SetAlgebra(blind, vault)
        linker = EntityLinker(names, blind.fact_counts)
        return PrivateGraph(
            row.tenant, row.name, row.id, blind, vault, names, linker, algebra, policy, public,
            in_house=_in_house(schema, vault),
        )  # fmt: skip


def _in_house(schema: Schema, vault: Vault) -> Schema:
    """The schema for the reader that sends nothing; the vault keeps the names of masked relations as hidden values."""
    held = vault.records(unsaid_of(schema))
    return read_in_house(schema, {mid: record.lexical or "" for mid, record in held.items()})


class NewVersions:
    """Promise: what was begun and not swapped in is swept away, also when its process was killed."""

    def __init__(self, folder: DataFolder, rows: GraphRows, opened: OpenGraphs) -> None:
        self._folder, self._rows, self._opened = folder, rows, opened

    @contextmanager
    def begin(self, tenant: str, name: str) -> Iterator[tuple[GraphRow, str]]:
        """A version to be filled and swapped in within the context."""
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
        """Deletes versions that are neither current nor held by anybody, here or in another process."""
        self._opened.drop_replaced()
        with self._folder.alone():
            known = set(self._rows.not_current())
            strays = set(self._folder.unfinished_ids()) - self._rows.complete_ids()
            for version_id in sorted(known | strays):
                is_needed = partial(self._rows.is_complete, version_id)
                self._folder.delete_unless_held(version_id, is_needed, partial(self._rows.forget, version_id))
