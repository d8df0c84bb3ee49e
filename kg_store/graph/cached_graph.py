"""RememberedGraph: a BlindGraph for one question, which walks the same hops from the same things again and again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kg_store.graph.blind_graph import BlindGraph
from kg_store.terms import Edges, Hop, Mids, Schema, SignatureId

MAX_CACHED = 5_000
"""Things, and pairs, of one hop; larger ones are found again, so that a question holds little memory."""


class RememberedGraph:
    """Gives what `graph` gives, and asks it for the neighbours of a set by one hop once. MIDs alone are kept, and
    only as long as the object is: it belongs to one question."""

    def __init__(self, graph: BlindGraph) -> None:
        self._graph = graph
        self._edges: dict[tuple[Hop, bytes], Edges] = {}

    @property
    def schema(self) -> Schema:
        return self._graph.schema

    def relations_of(self, mids: Mids) -> tuple[Hop, ...]:
        return self._graph.relations_of(mids)

    def neighbours(self, mids: Mids, hop: Hop) -> Edges:
        if len(mids) > MAX_CACHED:
            return self._graph.neighbours(mids, hop)
        key = hop, mids.tobytes()
        edges = self._edges.get(key)
        if edges is None:
            edges = self._graph.neighbours(mids, hop)
            if len(edges.tails) <= MAX_CACHED:
                self._edges[key] = edges
        return edges

    def signatures_of(self, mids: Mids) -> npt.NDArray[np.int32]:
        return self._graph.signatures_of(mids)

    def members(self, signatures: Sequence[SignatureId]) -> Mids:
        return self._graph.members(signatures)
