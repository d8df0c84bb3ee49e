"""ForgottenRows: what was erased from a graph, as keyed hashes, and erasures that are not finished."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from sqlalchemy import Connection, Engine, delete, func, insert, select, update

from kg_store.errors import UnknownGraphError
from kg_store.storage.master_key import MasterKey, bind
from kg_store.storage.tables import erasures, forgotten_things, graphs

ERASURE_PURPOSE = "erasure"


@dataclass(frozen=True, slots=True)
class Erasure:
    """An unfinished erasure. `chosen` was asked for, `mids` is everything removed; `names` and `texts` are looked for
    afterwards.

    These are stored here, sealed, until the erasure is finished, because nothing else holds them any more.
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
    """A finished erasure: its time, and the number of things of a source that are left out because of it."""

    id: str
    at: datetime
    things: int


class ForgottenRows:
    """Stores erasures.

    Promise: once `begin` returns, no load brings the chosen things back, unless the erasure is undone. Limit: for that
    the MID is kept, a keyed hash of their id in the source; the key is stored sealed.
    """

    def __init__(self, engine: Engine, master: MasterKey) -> None:
        self._engine, self._master = engine, master

    def begin(self, tenant: str, graph: str, chosen: Sequence[int]) -> Erasure:
        """Stores which things are to be erased. Raises UnknownGraphError."""
        erasure = Erasure(uuid.uuid4().hex, tenant, graph, tuple(chosen), (), (), ())
        with self._engine.begin() as connection:
            graph_id = _graph_id(connection, tenant, graph)
            known = set(_mids(connection, graph_id))
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
        """Stores what else was found to be erased."""
        with self._engine.begin() as connection:
            this = update(erasures).where(erasures.c.id == erasure.id)
            connection.execute(this.values(sealed=self._sealed(erasure)))

    def begun(self, tenant: str, graph: str) -> list[Erasure]:
        """Returns the unfinished erasures, oldest first."""
        query = (
            select(erasures.c.id, erasures.c.sealed)
            .join(graphs, graphs.c.id == erasures.c.graph_id)
            .where(graphs.c.tenant == tenant, graphs.c.name == graph)
            .order_by(erasures.c.begun_at)
        )
        with self._engine.connect() as connection:
            return [self._opened(tenant, graph, *row) for row in connection.execute(query).all()]

    def end(self, erasure: Erasure) -> None:
        """Finishes an erasure: deletes names and texts, and keeps the keyed hashes."""
        with self._engine.begin() as connection:
            connection.execute(delete(erasures).where(erasures.c.id == erasure.id))

    def list_erasures(self, tenant: str, graph: str) -> list[Forgetting]:
        """The erasures of this graph, oldest first."""
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
        """Allows the next load to bring back the things of one erasure; returns how many. Raises UnknownGraphError."""
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
    """The MIDs that no version of a graph may hold."""
    return frozenset(_mids(connection, graph_id))


def _mids(connection: Connection, graph_id: str) -> Sequence[int]:
    query = select(forgotten_things.c.mid).where(forgotten_things.c.graph_id == graph_id)
    return connection.execute(query).scalars().all()


def _graph_id(connection: Connection, tenant: str, name: str) -> str:
    found = connection.execute(select(graphs.c.id).where(graphs.c.tenant == tenant, graphs.c.name == name)).scalar()
    if found is None:
        raise UnknownGraphError("no graph of that name")
    return str(found)
