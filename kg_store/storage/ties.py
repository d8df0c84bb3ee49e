"""Stores which public graphs an owner has put beside which graphs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from sqlalchemy import Connection, Engine, delete, insert, select
from sqlalchemy.exc import IntegrityError

from kg_store.errors import UnknownGraphError
from kg_store.storage.tables import graphs, graphs_beside
from kg_store.storage.version_reports import GraphInfo

_BESIDE = graphs.alias("beside")


class GraphTies:
    """The ties of all tenants. A tie joins two graphs of one tenant, whatever versions they have."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def put(self, tenant: str, graph: str, beside: str) -> None:
        """Puts the graph `beside` beside `graph`; a tie that is there stays. Raises UnknownGraphError."""
        with self._engine.connect() as connection:
            pair = self._pair(connection, tenant, graph, beside)
        try:
            with self._engine.begin() as connection:
                connection.execute(insert(graphs_beside).values(pair))
        except IntegrityError:
            return

    def remove(self, tenant: str, graph: str, beside: str) -> None:
        """Takes the graph `beside` away from `graph`, if it stands there. Raises UnknownGraphError."""
        with self._engine.begin() as connection:
            pair = self._pair(connection, tenant, graph, beside)
            connection.execute(delete(graphs_beside).filter_by(**pair))

    def of_tenant(self, tenant: str, reports: Iterable[GraphInfo]) -> dict[str, tuple[str, ...]]:
        """Returns the names of the public graphs that stand beside each graph of the tenant, sorted.

        `reports` are those of the tenant's graphs: one that is no longer public stands beside none.
        """
        public = {each.name for each in reports if each.is_public}
        return {
            graph: tuple(each for each in beside if each in public) for graph, beside in self._tied(tenant).items()
        }

    def of_graph(self, tenant: str, graph: str) -> list[str]:
        """Returns the names of the graphs that were put beside a graph, whether they are still public or not."""
        return self._tied(tenant).get(graph, [])

    def _tied(self, tenant: str) -> dict[str, list[str]]:
        query = (
            select(graphs.c.name, _BESIDE.c.name)
            .join(graphs_beside, graphs_beside.c.graph_id == graphs.c.id)
            .join(_BESIDE, _BESIDE.c.id == graphs_beside.c.beside_id)
            .where(graphs.c.tenant == tenant, _BESIDE.c.tenant == tenant)
            .order_by(_BESIDE.c.name)
        )
        found: defaultdict[str, list[str]] = defaultdict(list)
        with self._engine.connect() as connection:
            for graph, beside in connection.execute(query):
                found[graph].append(beside)
        return found

    def _pair(self, connection: Connection, tenant: str, graph: str, beside: str) -> dict[str, str]:
        query = select(graphs.c.name, graphs.c.id).where(
            graphs.c.tenant == tenant, graphs.c.name.in_((graph, beside)), graphs.c.current_version.is_not(None)
        )
        ids = {row.name: row.id for row in connection.execute(query)}
        if not {graph, beside} <= ids.keys():
            raise UnknownGraphError("no graph of that name")
        return {"graph_id": ids[graph], "beside_id": ids[beside]}
