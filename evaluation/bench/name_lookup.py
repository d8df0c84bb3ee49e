"""The names of a loaded graph, as a run looks them up: in a text, by a whole name, by concept."""

from __future__ import annotations

from kg_store.catalog import PrivateGraph
from kg_store.graph.traversal import members_of


class NameLookup:
    """Finds names in a text by a graph's own linker, and looks up the names that the graph has."""

    def __init__(self, graph: PrivateGraph) -> None:
        self._graph = graph

    def names_in(self, text: str) -> frozenset[str]:
        linker = self._graph.linker
        mentions = linker.find_mentions(text) or linker.find_unmarked(text, self._graph.public)
        mids = [mid for mention in mentions for mid in mention.mids]
        records = self._graph.vault.records(mids)
        return frozenset(
            name for record in records.values() for name in (*record.names, record.lexical) if name is not None
        )

    def has(self, name: str) -> bool:
        """True where anything in the graph has exactly this name."""
        return any(hit.start == 0 and hit.end == len(name) for hit in self._graph.names.find(name))

    def of_kind(self, concept: str) -> list[str]:
        """The first name of everything of one concept."""
        mids = members_of(self._graph.blind, concept).tolist()
        records = self._graph.vault.records(mids)
        return [records[mid].names[0] for mid in mids if mid in records and records[mid].names]
