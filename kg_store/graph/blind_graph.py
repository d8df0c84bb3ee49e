"""BlindGraph: what strategies may know of a graph. It has MIDs and relations, and no name or value to leak."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from kg_store.terms import Edges, Hop, Mids, Schema, SignatureId


class BlindGraph(Protocol):
    """One version of one graph, immutable; safe to use from several threads.

    Promise: returns MIDs, relation ids and signature ids only. Relations that the policy hides never appear.
    """

    @property
    def schema(self) -> Schema:
        """Relations, signatures and concepts of this version."""
        ...

    def relations_of(self, mids: Mids) -> tuple[Hop, ...]:
        """Every hop that leaves at least one of `mids`, sorted; unknown MIDs add nothing."""
        ...

    def neighbours(self, mids: Mids, hop: Hop) -> Edges:
        """Every pair that `hop` joins, heads within `mids`; complete, however many there are."""
        ...

    def signatures_of(self, mids: Mids) -> npt.NDArray[np.int32]:
        """Signature id of each MID, in the order given; -1 where this version does not hold the MID."""
        ...

    def members(self, signatures: Sequence[SignatureId]) -> Mids:
        """All nodes that have one of `signatures`."""
        ...


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
