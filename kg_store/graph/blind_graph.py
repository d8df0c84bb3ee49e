"""BlindGraph: the view of a graph that strategies get: MIDs and relations, but no name or value that could leak.

One implementation reads memory-mapped arrays, another caches results for a single question.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from kg_store.graph.adjacency import Adjacency, ranges
from kg_store.terms import NO_MIDS, Edges, Hop, Mids, RelationId, Schema, SignatureId


class BlindGraph(Protocol):
    """One version of one graph without names and values, immutable and thread-safe.

    Promise: returns only MIDs (the opaque ids of nodes) and ids of relations and signatures (the kind, classes and
    hops that nodes share). Relations that the policy hides never appear.
    """

    @property
    def schema(self) -> Schema:
        """Relations, signatures and concepts of this version."""
        ...

    def relations_of(self, mids: Mids) -> tuple[Hop, ...]:
        """Returns every hop that leaves at least one of `mids`, sorted; unknown MIDs add nothing."""
        ...

    def neighbours(self, mids: Mids, hop: Hop) -> Edges:
        """Returns every (head, tail) pair that `hop` joins with heads in `mids`; complete, whatever the number."""
        ...

    def signatures_of(self, mids: Mids) -> npt.NDArray[np.int32]:
        """Returns the signature id of each MID, in order; -1 if this version does not hold the MID."""
        ...

    def members(self, signatures: Sequence[SignatureId]) -> Mids:
        """Returns all nodes that have one of `signatures`."""
        ...


_Positions = npt.NDArray[np.int64]
_MANY = 500  # Signatures of fewer nodes are not made distinct first, because that would be slower.


class CompactGraph:
    """One version of a graph; it holds MIDs, relation ids and signature ids, but no names or values.

    Answers for thousands of MIDs at once without a Python loop. Thread-safe.
    """

    def __init__(self, adjacency: Adjacency, schema: Schema) -> None:
        self._arrays, self._schema = adjacency, schema
        self._hop_count = max(1, len(schema.relations) * 2)
        self._all_hops = tuple(Hop(RelationId(code >> 1), bool(code & 1)) for code in range(len(schema.relations) * 2))
        starts = adjacency.hop_starts.astype(np.int64)
        owners = np.repeat(np.arange(len(starts) - 1, dtype=np.int64), starts[1:] - starts[:-1])
        # Sorted by signature, then hop. The last key is a sentinel, so that a search never ends behind the array.
        self._hop_keys = np.append(owners * self._hop_count + adjacency.hops, np.iinfo(np.int64).max)

    @staticmethod
    def open(folder: Path, schema: Schema) -> CompactGraph:
        return CompactGraph(Adjacency.map_from(folder), schema)

    @property
    def schema(self) -> Schema:
        return self._schema

    def relations_of(self, mids: Mids) -> tuple[Hop, ...]:
        """Returns every hop (a relation in one direction) that leaves at least one of `mids`.

        It looks only at the signatures of the nodes, which list their hops.
        """
        nodes = self._nodes(mids)
        if len(nodes) == 1:
            return self._schema.signatures[int(self._arrays.signatures[nodes[0]])].hops
        signatures = self._arrays.signatures[nodes]
        if len(signatures) > _MANY:
            signatures = np.unique(signatures)
        starts, ends = self._arrays.hop_starts[signatures], self._arrays.hop_starts[signatures + 1]
        seen = np.zeros(self._hop_count, dtype=bool)
        seen[self._arrays.hops[_between(starts, ends)]] = True
        return tuple(self._all_hops[code] for code in np.flatnonzero(seen).tolist())

    def neighbours(self, mids: Mids, hop: Hop) -> Edges:
        """Returns every (head, tail) pair that `hop` joins with heads in `mids`."""
        code = hop.relation * 2 + hop.inverse
        if not 0 <= code < len(self._all_hops):
            return Edges(NO_MIDS, NO_MIDS)
        if len(mids) == 1:
            return self._neighbours_of_one(mids, code)
        arrays = self._arrays
        nodes = self._nodes(mids)
        signatures = arrays.signatures[nodes].astype(np.int64)
        wanted = signatures * self._hop_count + code
        places = self._hop_keys.searchsorted(wanted)
        has = self._hop_keys[places] == wanted
        if not has.all():
            nodes, signatures, places = nodes[has], signatures[has], places[has]
        groups = arrays.group_starts[nodes] + (places - arrays.hop_starts[signatures])
        starts, ends = arrays.target_starts[groups], arrays.target_starts[groups + 1]
        tails = arrays.mids[arrays.targets[_between(starts, ends)]]
        return Edges(arrays.mids[nodes].repeat(ends - starts), tails)

    def _neighbours_of_one(self, mids: Mids, code: int) -> Edges:
        """Returns the same as `neighbours` for a single MID; it is faster, and most questions start from one node."""
        arrays = self._arrays
        node = self._node(int(mids[0]))
        if node is None:
            return Edges(NO_MIDS, NO_MIDS)
        signature = int(arrays.signatures[node])
        wanted = signature * self._hop_count + code
        place = int(self._hop_keys.searchsorted(wanted))
        if self._hop_keys[place] != wanted:
            return Edges(NO_MIDS, NO_MIDS)
        group = int(arrays.group_starts[node]) + place - int(arrays.hop_starts[signature])
        start, end = int(arrays.target_starts[group]), int(arrays.target_starts[group + 1])
        tails = arrays.mids[arrays.targets[start:end]]
        return Edges(np.full(len(tails), mids[0], dtype=np.int64), tails)

    def signatures_of(self, mids: Mids) -> npt.NDArray[np.int32]:
        """Returns the signature id of each MID; -1 if this version does not hold it."""
        if len(mids) == 1:
            node = self._node(int(mids[0]))
            return np.array([-1 if node is None else self._arrays.signatures[node]], dtype=np.int32)
        if not len(self._arrays.mids):
            return np.full(len(mids), -1, dtype=np.int32)
        places, found = self._places(mids)
        signatures = self._arrays.signatures.take(places, mode="clip")
        return signatures if found.all() else np.where(found, signatures, np.int32(-1))

    def fact_counts(self, mids: Mids) -> npt.NDArray[np.int64]:
        """Returns the number of facts about each MID, in order; 0 if this version does not hold it."""
        if not len(self._arrays.mids):
            return np.zeros(len(mids), dtype=np.int64)
        places, found = self._places(mids)
        nodes = np.where(found, places, 0)
        starts = self._arrays.target_starts[self._arrays.group_starts[np.stack((nodes, nodes + 1))]].astype(np.int64)
        return np.where(found, starts[1] - starts[0], 0)

    def members(self, signatures: Sequence[SignatureId]) -> Mids:
        """Returns all nodes that have one of `signatures`."""
        wanted = np.unique(np.asarray(signatures, dtype=np.int64))
        wanted = wanted[(wanted >= 0) & (wanted < len(self._schema.signatures))]
        starts, ends = self._arrays.member_starts[wanted], self._arrays.member_starts[wanted + 1]
        # Positions follow the order of MIDs, so sorting them sorts the MIDs.
        return self._arrays.mids[np.sort(self._arrays.members[_between(starts, ends)])]

    def _node(self, mid: int) -> int | None:
        """Returns the position of a MID; None if this version does not hold it."""
        known = self._arrays.mids
        place = int(known.searchsorted(mid))
        return place if place < len(known) and known[place] == mid else None

    def _places(self, mids: Mids) -> tuple[_Positions, npt.NDArray[np.bool_]]:
        """Returns (positions, flags): where each MID stands in the arrays, and True if it is there.

        For a missing MID the position means nothing, and may lie behind the end.
        """
        places = self._arrays.mids.searchsorted(mids)
        return places, self._arrays.mids.take(places, mode="clip") == mids

    def _nodes(self, mids: Mids) -> _Positions:
        """Returns the positions of those `mids` that this version holds, sorted and distinct."""
        if not len(self._arrays.mids):
            return np.empty(0, dtype=np.int64)
        places, found = self._places(mids)
        nodes = places if found.all() else places[found]
        if len(nodes) > 1 and not (nodes[1:] > nodes[:-1]).all():
            nodes = np.unique(nodes)
        return nodes


def _between(starts: npt.NDArray[np.uint32], ends: npt.NDArray[np.uint32]) -> _Positions:
    begins = starts.astype(np.int64)
    return ranges(begins, ends.astype(np.int64) - begins)


MAX_CACHED = 5_000
"""The greatest number of MIDs, and of pairs, in a cached result, so that a question holds little memory."""


class RememberedGraph:
    """Wraps `graph` for one question, and caches each result of `neighbours`. It holds MIDs only.

    `schema`: given instead of the graph's own, it has the same relations and signatures, with the real names of masked
    relations, for reading the question (`read_in_house`).
    """

    def __init__(self, graph: BlindGraph, schema: Schema | None = None) -> None:
        self._graph, self._schema = graph, schema or graph.schema
        self._edges: dict[tuple[Hop, bytes], Edges] = {}

    @property
    def schema(self) -> Schema:
        return self._schema

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
