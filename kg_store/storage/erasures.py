"""ForgottenRows: who was taken out of a graph, by keyed hash alone, and erasures that are not through yet."""

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
    """One erasure under way. `chosen` was asked for, `mids` is all that goes; `texts` are what is looked for after.

    Names and texts stand here, sealed, until the erasure is through: nothing else knows them any more.
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
    """One erasure of the past: when, and how many things of a source are left out for it."""

    id: str
    at: datetime
    things: int


class ForgottenRows:
    """Promise: once `begin` returns, no load brings the chosen things into the graph again, unless they are lifted.

    Limit: what is kept of them for that is the MID, a keyed hash of their id in the source; the key lies sealed.
    """

    def __init__(self, engine: Engine, master: MasterKey) -> None:
        self._engine, self._master = engine, master

    def begin(self, tenant: str, graph: str, chosen: Sequence[int]) -> Erasure:
        """Writes down who is to go. Raises UnknownGraphError."""
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
        """Writes down what more was found to go."""
        with self._engine.begin() as connection:
            this = update(erasures).where(erasures.c.id == erasure.id)
            connection.execute(this.values(sealed=self._sealed(erasure)))

    def begun(self, tenant: str, graph: str) -> list[Erasure]:
        """Those that are not through yet, oldest first."""
        query = (
            select(erasures.c.id, erasures.c.sealed)
            .join(graphs, graphs.c.id == erasures.c.graph_id)
            .where(graphs.c.tenant == tenant, graphs.c.name == graph)
            .order_by(erasures.c.begun_at)
        )
        with self._engine.connect() as connection:
            return [self._opened(tenant, graph, *row) for row in connection.execute(query).all()]

    def end(self, erasure: Erasure) -> None:
        """Forgets names and texts; the keyed hashes stay."""
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
        """Lets the things of one erasure in again, with the next load; how many. Raises UnknownGraphError."""
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
