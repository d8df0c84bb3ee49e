"""Graphs, versions and erasures in the database. Making another version current is one transaction."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime

from sqlalchemy import ColumnElement, Connection, Engine, bindparam, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from kg_store.errors import LoadError, MasterKeyError, UnknownGraphError, VersionError
from kg_store.storage.master_key import MasterKey, bind, new_mid_key
from kg_store.storage.tables import (
    erasures,
    forgotten_things,
    graph_versions,
    graphs,
    graphs_beside,
    vault_entries,
)
from kg_store.storage.vault import Vault, VaultScope
from kg_store.storage.version_reports import INFO_PURPOSE, GraphInfo, read_info

BUILDING, COMPLETE, KEPT, RETIRED = "building", "complete", "kept", "retired"
_MID_KEY_PURPOSE = "mid key"
_DELETED_ROWS = 20_000

_FULL_ROW = (
    graphs.c.tenant, graphs.c.name, graph_versions.c.id, graph_versions.c.folder_id,
    graph_versions.c.sealed_info, graph_versions.c.sealed_policy,
)  # fmt: skip
_OPEN_STATES, _GOING_STATES = (COMPLETE, KEPT), (BUILDING, RETIRED)

# Built once, because every question runs it, and building it takes longer than reading the row.
_CURRENT = (
    select(*_FULL_ROW)
    .join(graph_versions, graphs.c.current_version == graph_versions.c.id)
    .where(graphs.c.tenant == bindparam("tenant"))
    .order_by(graphs.c.name)
)
_CURRENT_OF_ONE = _CURRENT.where(graphs.c.name == bindparam("name"))


@dataclass(frozen=True, slots=True)
class GraphRow:
    """One graph: its random id, and the key of its MIDs."""

    id: str
    tenant: str
    name: str
    mid_key: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class VersionRow:
    """One complete version as the database has it: its report and its policy are still encrypted."""

    id: str
    tenant: str
    name: str
    folder_id: str
    sealed_info: bytes = field(repr=False)
    sealed_policy: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class SealedParts:
    """The encrypted parts of a version that are stored in its row."""

    sealed_info: bytes = field(repr=False)
    sealed_policy: bytes = field(repr=False)


class GraphRows:
    """Reads and writes the rows of graphs and versions. `folder_id`: the data folder whose versions it may delete.

    `versions_kept`: the versions of each graph that a swap leaves, the current one among them.
    """

    def __init__(self, engine: Engine, master: MasterKey, folder_id: str, versions_kept: int = 1) -> None:
        self._engine, self._master, self._folder_id = engine, master, folder_id
        self._versions_kept = versions_kept

    def begin(self, tenant: str, name: str, version_id: str) -> GraphRow:
        """Inserts an unfinished version, and the graph if it is new; such a graph is not listed yet."""
        try:
            return self._begin(tenant, name, version_id)
        except IntegrityError:
            # Another load of the same new graph was faster, so its row exists now.
            return self._begin(tenant, name, version_id)

    def _begin(self, tenant: str, name: str, version_id: str) -> GraphRow:
        with self._engine.begin() as connection:
            found = self._find(connection, tenant, name)
            if found is None:
                found = GraphRow(uuid.uuid4().hex, tenant, name, new_mid_key())
                sealed = self._master.seal(_MID_KEY_PURPOSE, bind(tenant, name), found.mid_key)
                row = {"id": found.id, "tenant": tenant, "name": name, "sealed_mid_key": sealed}
                connection.execute(insert(graphs), row)
            version = {"id": version_id, "graph_id": found.id, "folder_id": self._folder_id, "state": BUILDING}
            connection.execute(insert(graph_versions), version)
        return found

    def swap(
        self, graph: GraphRow, version_id: str, built: SealedParts, forgotten: frozenset[int] | None = None
    ) -> None:
        """Makes a new version the current one, and keeps the one before among the last `versions_kept`.

        Raises LoadError if the graph was deleted, or if `forgotten` is given, but something else was erased from the
        graph meanwhile.
        """
        with self._engine.begin() as connection:
            this = graphs.c.id == graph.id
            moved = connection.execute(update(graphs).where(this).values(current_version=version_id))
            if moved.rowcount != 1:
                raise LoadError("the graph was deleted meanwhile")
            if forgotten is not None and not forgotten_mids(connection, graph.id) <= forgotten:
                raise LoadError("something was forgotten in the graph meanwhile: load it again")
            self._keep_last(connection, graph.id)
            _complete(connection, version_id, built, COMPLETE, datetime.now(UTC))

    def _keep_last(self, connection: Connection, graph_id: str) -> None:
        """Keeps the version that was current and the newest of the others; the rest is deleted later."""
        states = graph_versions.c.graph_id == graph_id, graph_versions.c.state.in_(_OPEN_STATES)
        was_current = graph_versions.c.state == COMPLETE
        query = select(graph_versions.c.id).where(*states)
        newest_first = query.order_by(was_current.desc(), graph_versions.c.loaded_at.desc())
        found = list(connection.execute(newest_first).scalars())
        stay = self._versions_kept - 1
        for state, ids in ((KEPT, found[:stay]), (RETIRED, found[stay:])):
            connection.execute(update(graph_versions).where(graph_versions.c.id.in_(ids)).values(state=state))

    def supersede(self, graph: GraphRow, version_id: str, built: SealedParts, before: str, keeps: bool) -> None:
        """Puts a new version in the place of the version `before`, current or kept; its place in time stays.

        `keeps`: the version before is kept too, if it was current, and the new one is the newest. Raises LoadError if
        `before` was deleted or replaced meanwhile.
        """
        this = graph_versions.c.id == before
        with self._engine.begin() as connection:
            now_current = update(graphs).where(graphs.c.id == graph.id, graphs.c.current_version == before)
            moved = connection.execute(now_current.values(current_version=version_id)).rowcount
            row = connection.execute(select(graph_versions.c.state, graph_versions.c.loaded_at).where(this)).first()
            if row is None or row.state != (COMPLETE if moved else KEPT) or (keeps and not moved):
                raise LoadError("the graph was deleted, or got another version, meanwhile")
            if keeps:
                self._keep_last(connection, graph.id)
                _complete(connection, version_id, built, COMPLETE, datetime.now(UTC))
            else:
                connection.execute(update(graph_versions).where(this).values(state=RETIRED))
                _complete(connection, version_id, built, row.state, row.loaded_at)

    def roll_back(self, tenant: str, name: str, version_id: str, instead_of: str) -> None:
        """Makes a kept version current, and keeps the version `instead_of`, which is current.

        Raises VersionError if another version is current by now, if the kept one is gone, if an erasure is unfinished,
        or if the version holds something that was erased since.
        """
        with self._engine.begin() as connection:
            graph_id = _graph_id(connection, tenant, name)
            this = graphs.c.id == graph_id, graphs.c.current_version == instead_of
            moved = connection.execute(update(graphs).where(*this).values(current_version=version_id))
            kept = graph_versions.c.graph_id == graph_id, graph_versions.c.state == KEPT
            again = update(graph_versions).where(graph_versions.c.id == version_id, *kept).values(state=COMPLETE)
            if moved.rowcount != 1 or connection.execute(again).rowcount != 1:
                raise VersionError("the graph got another version meanwhile: look at its versions again")
            aside = update(graph_versions).where(graph_versions.c.id == instead_of).values(state=KEPT)
            connection.execute(aside)
            if connection.execute(select(erasures.c.id).where(erasures.c.graph_id == graph_id)).first():
                raise VersionError(
                    "an erasure from this graph is not finished: finish it with `arog graph forget` first"
                )
            vault = Vault(self._engine, self._master, VaultScope(tenant, name, version_id))
            if vault.holds_any(connection, forgotten_mids(connection, graph_id)):
                raise VersionError("that version holds something that was forgotten since, so it never comes back")

    def stored(self, tenant: str, name: str) -> list[VersionRow]:
        """Returns a graph's complete versions, current and kept, in the order in which they were loaded."""
        query = (
            select(*_FULL_ROW)
            .join(graphs, graphs.c.id == graph_versions.c.graph_id)
            .where(graphs.c.tenant == tenant, graphs.c.name == name, graph_versions.c.state.in_(_OPEN_STATES))
            .order_by(graph_versions.c.loaded_at)
        )
        with self._engine.connect() as connection:
            rows = connection.execute(query).all()
        return [VersionRow(row.id, row.tenant, row.name, row.folder_id, *row[4:]) for row in rows]

    def vault_bytes(self, version_id: str) -> int:
        """Returns the size of the encrypted names and values of a version."""
        size = func.sum(func.length(vault_entries.c.sealed))
        with self._engine.connect() as connection:
            found = connection.execute(select(size).where(vault_entries.c.version_id == version_id)).scalar()
        return int(found or 0)

    def current(self, tenant: str, name: str | None = None) -> list[VersionRow]:
        """Returns the current versions of a tenant's graphs, sorted by name, or only that of one graph."""
        query, wanted = (_CURRENT, {}) if name is None else (_CURRENT_OF_ONE, {"name": name})
        with self._engine.connect() as connection:
            rows = connection.execute(query, {"tenant": tenant, **wanted}).all()
        return [VersionRow(row.id, row.tenant, row.name, row.folder_id, *row[4:]) for row in rows]

    def report(self, row: VersionRow) -> GraphInfo:
        """Returns the report of a version. Raises MasterKeyError."""
        context = VaultScope(row.tenant, row.name, row.id).context()
        return read_info(row.tenant, row.name, row.id, self._master.open(INFO_PURPOSE, context, row.sealed_info))

    def reports(self, tenant: str) -> list[GraphInfo]:
        """Returns the reports of the tenant's current versions, sorted by graph name. Raises MasterKeyError."""
        return [self.report(row) for row in self.current(tenant)]

    def newest(self, most: int) -> list[tuple[str, str]]:
        """Returns (tenant, name) of the `most` graphs that were loaded last, the newest first."""
        query = (
            select(graphs.c.tenant, graphs.c.name)
            .join(graph_versions, graph_versions.c.id == graphs.c.current_version)
            .order_by(graph_versions.c.loaded_at.desc())
            .limit(most)
        )
        with self._engine.connect() as connection:
            return [(row.tenant, row.name) for row in connection.execute(query)]

    def is_empty(self) -> bool:
        with self._engine.connect() as connection:
            return connection.execute(select(graphs.c.id).where(graphs.c.current_version.is_not(None))).first() is None

    def key_fits(self) -> bool:
        """Returns False if there are graphs and the master key opens none of them."""
        with self._engine.connect() as connection:
            rows = connection.execute(select(graphs.c.tenant, graphs.c.name, graphs.c.sealed_mid_key)).all()
        for tenant, name, sealed in rows:
            with suppress(MasterKeyError):
                self._master.open(_MID_KEY_PURPOSE, bind(tenant, name), sealed)
                return True
        return not rows

    def delete_graph(self, tenant: str, name: str) -> None:
        """Deletes a graph. Raises UnknownGraphError if there is none with a complete version."""
        with self._engine.begin() as connection:
            graph_id = _graph_id(connection, tenant, name, graphs.c.current_version.is_not(None))
            stored = (graph_versions.c.graph_id == graph_id, graph_versions.c.state.in_(_OPEN_STATES))
            connection.execute(update(graph_versions).where(*stored).values(state=RETIRED))
            connection.execute(delete(graphs).where(graphs.c.id == graph_id))
            for table in (forgotten_things, erasures, graphs_beside):
                connection.execute(delete(table).where(table.c.graph_id == graph_id))
            connection.execute(delete(graphs_beside).where(graphs_beside.c.beside_id == graph_id))

    def forgotten(self, graph: GraphRow) -> frozenset[int]:
        """Returns the MIDs that no version of the graph may hold, because they were erased."""
        with self._engine.connect() as connection:
            return forgotten_mids(connection, graph.id)

    def mid_key(self, tenant: str, name: str) -> bytes:
        """Returns the key of a graph's MIDs. Raises UnknownGraphError."""
        with self._engine.connect() as connection:
            found = self._find(connection, tenant, name)
        if found is None:
            raise UnknownGraphError("no graph of that name")
        return found.mid_key

    def older_versions(self, tenant: str, name: str) -> list[str]:
        """Returns the ids of a graph's versions that are to be deleted, or are being built."""
        query = (
            select(graph_versions.c.id)
            .join(graphs, graphs.c.id == graph_versions.c.graph_id)
            .where(graphs.c.tenant == tenant, graphs.c.name == name, graph_versions.c.state.in_(_GOING_STATES))
        )
        with self._engine.connect() as connection:
            return list(connection.execute(query).scalars())

    def delete_records(self, tenant: str, name: str, mids: Sequence[int]) -> list[str]:
        """Deletes the vault records of `mids` from the versions that are to be deleted; returns the ids of these."""
        versions = self.older_versions(tenant, name)
        for version_id in versions:
            Vault(self._engine, self._master, VaultScope(tenant, name, version_id)).delete(frozenset(mids))
        return versions

    def retire(self, version_id: str) -> None:
        """Marks the version that a failed load has begun for deletion; a version that became current stays."""
        self._retire(version_id, BUILDING)

    def retire_kept(self, version_id: str) -> None:
        """Marks a kept version for deletion; one that is current by now stays."""
        self._retire(version_id, KEPT)

    def _retire(self, version_id: str, state: str) -> None:
        this = (graph_versions.c.id == version_id, graph_versions.c.state == state)
        with self._engine.begin() as connection:
            connection.execute(update(graph_versions).where(*this).values(state=RETIRED))

    def to_delete(self) -> list[str]:
        """Returns the ids of this folder's versions that are unfinished or retired."""
        query = select(graph_versions.c.id).where(
            graph_versions.c.folder_id == self._folder_id, graph_versions.c.state.in_(_GOING_STATES)
        )
        with self._engine.connect() as connection:
            return list(connection.execute(query).scalars())

    def current_ids(self) -> set[str]:
        query = select(graph_versions.c.id).where(graph_versions.c.state == COMPLETE)
        with self._engine.connect() as connection:
            return set(connection.execute(query).scalars())

    def stored_ids(self) -> set[str]:
        """Returns the ids of all versions that are current or kept."""
        query = select(graph_versions.c.id).where(graph_versions.c.state.in_(_OPEN_STATES))
        with self._engine.connect() as connection:
            return set(connection.execute(query).scalars())

    def is_stored(self, version_id: str) -> bool:
        """Returns True if a version is current or kept."""
        query = select(graph_versions.c.state).where(graph_versions.c.id == version_id)
        with self._engine.connect() as connection:
            return connection.execute(query).scalar() in _OPEN_STATES

    def forget(self, version_id: str) -> None:
        """Deletes a version's rows in batches, so that other writers get their turn."""
        some = (
            select(vault_entries.c.mid).where(vault_entries.c.version_id == version_id).limit(_DELETED_ROWS)
        ).scalar_subquery()
        of_version = vault_entries.c.version_id == version_id
        deleted = _DELETED_ROWS
        while deleted == _DELETED_ROWS:
            with self._engine.begin() as connection:
                found = connection.execute(delete(vault_entries).where(of_version, vault_entries.c.mid.in_(some)))
                deleted = found.rowcount
        with_versions = select(graph_versions.c.graph_id).scalar_subquery()
        is_empty = (graphs.c.current_version.is_(None), graphs.c.id.not_in(with_versions))
        with self._engine.begin() as connection:
            connection.execute(delete(graph_versions).where(graph_versions.c.id == version_id))
            # Graphs whose only load failed are deleted too.
            connection.execute(delete(graphs).where(*is_empty))

    def _find(self, connection: Connection, tenant: str, name: str) -> GraphRow | None:
        query = select(graphs.c.id, graphs.c.sealed_mid_key).where(graphs.c.tenant == tenant, graphs.c.name == name)
        row = connection.execute(query).first()
        if row is None:
            return None
        mid_key = self._master.open(_MID_KEY_PURPOSE, bind(tenant, name), row.sealed_mid_key)
        return GraphRow(row.id, tenant, name, mid_key)


def _complete(connection: Connection, version_id: str, built: SealedParts, state: str, loaded_at: datetime) -> None:
    complete = {"state": state, "loaded_at": loaded_at}
    complete |= {"sealed_info": built.sealed_info, "sealed_policy": built.sealed_policy}
    connection.execute(update(graph_versions).where(graph_versions.c.id == version_id).values(complete))


ERASURE_PURPOSE = "erasure"


@dataclass(frozen=True, slots=True)
class Erasure:
    """An unfinished erasure.

    `chosen`: the MIDs that were asked for; `mids`: all that are removed with them. `names` and `texts` are those of
    the removed things; the service searches its other data for them afterwards. They are stored, sealed, until the
    erasure is finished, because the graph has them no longer.
    """

    id: str
    tenant: str
    graph: str
    chosen: tuple[int, ...] = field(repr=False)
    mids: tuple[int, ...] = field(repr=False)
    names: tuple[str, ...] = field(repr=False)
    texts: tuple[str, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Forgetting:
    """A finished erasure: when it was, and how many things later loads leave out because of it."""

    id: str
    at: datetime
    things: int


class ForgottenRows:
    """Stores erasures.

    Promise: once `begin` returns, no load brings the chosen things back, unless the erasure is undone. Limit: this
    requires keeping the MID, a keyed hash of their id in the source; the key is stored sealed.
    """

    def __init__(self, engine: Engine, master: MasterKey) -> None:
        self._engine, self._master = engine, master

    def begin(self, tenant: str, graph: str, chosen: Sequence[int]) -> Erasure:
        """Stores a new erasure of the things in `chosen`; from then on, loads leave these things out.

        Raises UnknownGraphError.
        """
        erasure = Erasure(uuid.uuid4().hex, tenant, graph, tuple(chosen), (), (), ())
        with self._engine.begin() as connection:
            graph_id = _graph_id(connection, tenant, graph)
            known = forgotten_mids(connection, graph_id)
            now = datetime.now(UTC)
            rows = [
                {"graph_id": graph_id, "mid": mid, "erasure": erasure.id, "at": now}
                for mid in chosen if mid not in known
            ]  # fmt: skip
            if rows:
                connection.execute(insert(forgotten_things), rows)
            connection.execute(
                insert(erasures),
                {"id": erasure.id, "graph_id": graph_id, "begun_at": now, "sealed": self._sealed(erasure)},
            )
        return erasure

    def keep(self, erasure: Erasure) -> None:
        """Stores the rest of an erasure: all things that are removed, and the names and texts to search for."""
        with self._engine.begin() as connection:
            this = update(erasures).where(erasures.c.id == erasure.id)
            connection.execute(this.values(sealed=self._sealed(erasure)))

    def begun(self, tenant: str, graph: str) -> list[Erasure]:
        """Returns the unfinished erasures of a graph, oldest first."""
        query = (
            select(erasures.c.id, erasures.c.sealed)
            .join(graphs, graphs.c.id == erasures.c.graph_id)
            .where(graphs.c.tenant == tenant, graphs.c.name == graph)
            .order_by(erasures.c.begun_at)
        )
        with self._engine.connect() as connection:
            return [self._opened(tenant, graph, *row) for row in connection.execute(query).all()]

    def end(self, erasure: Erasure) -> None:
        """Finishes an erasure: deletes its names and texts; the keyed hashes stay."""
        with self._engine.begin() as connection:
            connection.execute(delete(erasures).where(erasures.c.id == erasure.id))

    def list_erasures(self, tenant: str, graph: str) -> list[Forgetting]:
        """Returns the erasures of a graph, oldest first."""
        query = (
            select(forgotten_things.c.erasure, func.min(forgotten_things.c.at), func.count())
            .join(graphs, graphs.c.id == forgotten_things.c.graph_id)
            .where(graphs.c.tenant == tenant, graphs.c.name == graph)
            .group_by(forgotten_things.c.erasure)
            .order_by(func.min(forgotten_things.c.at))
        )
        with self._engine.connect() as connection:
            return [Forgetting(*row) for row in connection.execute(query).all()]

    def undo_erasure(self, tenant: str, graph: str, erasure_id: str) -> int:
        """Lets the next load bring back the things of one erasure; returns their number. Raises UnknownGraphError."""
        with self._engine.begin() as connection:
            graph_id = _graph_id(connection, tenant, graph)
            these = (forgotten_things.c.graph_id == graph_id, forgotten_things.c.erasure == erasure_id)
            return connection.execute(delete(forgotten_things).where(*these)).rowcount

    def _sealed(self, erasure: Erasure) -> bytes:
        content = {name: getattr(erasure, name) for name in ("chosen", "mids", "names", "texts")}
        plain = json.dumps(content, ensure_ascii=False).encode("utf-8", "surrogatepass")
        return self._master.seal(ERASURE_PURPOSE, bind(erasure.tenant, erasure.graph, erasure.id), plain)

    def _opened(self, tenant: str, graph: str, erasure_id: str, sealed: bytes) -> Erasure:
        plain = self._master.open(ERASURE_PURPOSE, bind(tenant, graph, erasure_id), sealed)
        content = json.loads(plain.decode("utf-8", "surrogatepass"))
        return Erasure(erasure_id, tenant, graph, **{name: tuple(value) for name, value in content.items()})


def forgotten_mids(connection: Connection, graph_id: str) -> frozenset[int]:
    """Returns the MIDs that no version of a graph may hold."""
    query = select(forgotten_things.c.mid).where(forgotten_things.c.graph_id == graph_id)
    return frozenset(connection.execute(query).scalars())


def _graph_id(connection: Connection, tenant: str, name: str, *also: ColumnElement[bool]) -> str:
    query = select(graphs.c.id).where(graphs.c.tenant == tenant, graphs.c.name == name, *also)
    found = connection.execute(query).scalar()
    if found is None:
        raise UnknownGraphError("no graph of that name")
    return str(found)
