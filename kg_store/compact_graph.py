"""CompactGraph: the embedded BlindGraph, over memory-mapped arrays that never change."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from kg_store.adjacency import Adjacency
from kg_store.terms import NO_MIDS, Edges, Hop, Mids, RelationId, Schema, SignatureId

_Positions = npt.NDArray[np.int64]
_MANY = 500
"""Signatures of fewer nodes are not worth being made distinct."""


class CompactGraph:
    """One version of a graph. Holds MIDs, relation ids and signature ids; names and values are elsewhere.

    Answers for thousands of MIDs at once, without a Python loop over them; safe to use from several threads.
    """

    def __init__(self, adjacency: Adjacency, schema: Schema) -> None:
        self._arrays, self._schema = adjacency, schema
        self._hop_count = max(1, len(schema.relations) * 2)
        self._all_hops = tuple(Hop(RelationId(code >> 1), bool(code & 1)) for code in range(len(schema.relations) * 2))
        starts = adjacency.hop_starts.astype(np.int64)
        owners = np.repeat(np.arange(len(starts) - 1, dtype=np.int64), starts[1:] - starts[:-1])
        # Sorted: signatures in order, and the hops of each in order; the last one is never asked for.
        self._hop_keys = np.append(owners * self._hop_count + adjacency.hops, np.iinfo(np.int64).max)

    @staticmethod
    def open(folder: Path, schema: Schema) -> CompactGraph:
        return CompactGraph(Adjacency.map_from(folder), schema)

    @property
    def schema(self) -> Schema:
        return self._schema

    def relations_of(self, mids: Mids) -> tuple[Hop, ...]:
        """Every hop that leaves at least one of `mids`: a node's signature lists its hops."""
        nodes = self._nodes(mids)
        if len(nodes) == 1:
            return self._schema.signatures[int(self._arrays.signatures[nodes[0]])].hops
        signatures = self._arrays.signatures[nodes]
        if len(signatures) > _MANY:
            signatures = np.unique(signatures)
        starts, ends = self._arrays.hop_starts[signatures], self._arrays.hop_starts[signatures + 1]
        seen = np.zeros(self._hop_count, dtype=bool)
        seen[self._arrays.hops[_ranges(starts, ends)]] = True
        return tuple(self._all_hops[code] for code in np.flatnonzero(seen).tolist())

    def neighbours(self, mids: Mids, hop: Hop) -> Edges:
        """Every pair that `hop` joins, heads within `mids`."""
        code = hop.relation * 2 + hop.inverse
        if not 0 <= code < len(self._all_hops):
            return Edges(NO_MIDS, NO_MIDS)
        arrays = self._arrays
        nodes = self._nodes(mids)
        signatures = arrays.signatures[nodes].astype(np.int64)
        wanted = signatures * self._hop_count + code
        places = np.searchsorted(self._hop_keys, wanted)
        has = self._hop_keys[places] == wanted
        nodes, signatures, places = nodes[has], signatures[has], places[has]
        groups = arrays.group_starts[nodes] + (places - arrays.hop_starts[signatures])
        starts, ends = arrays.target_starts[groups], arrays.target_starts[groups + 1]
        tails = arrays.mids[arrays.targets[_ranges(starts, ends)]]
        return Edges(np.repeat(arrays.mids[nodes], ends - starts), tails)

    def signatures_of(self, mids: Mids) -> npt.NDArray[np.int32]:
        """Signature id of each MID; -1 where this version does not hold it."""
        places, found = self._places(mids)
        return np.where(found, self._arrays.signatures[places], np.int32(-1)).astype(np.int32)

    def members(self, signatures: Sequence[SignatureId]) -> Mids:
        """All nodes that have one of `signatures`."""
        wanted = np.unique(np.asarray(signatures, dtype=np.int64))
        wanted = wanted[(wanted >= 0) & (wanted < len(self._schema.signatures))]
        starts, ends = self._arrays.member_starts[wanted], self._arrays.member_starts[wanted + 1]
        # Positions follow the order of MIDs, so sorting them sorts the MIDs.
        return self._arrays.mids[np.sort(self._arrays.members[_ranges(starts, ends)])]

    def _places(self, mids: Mids) -> tuple[_Positions, npt.NDArray[np.bool_]]:
        wanted = np.asarray(mids, dtype=np.int64)
        places = np.minimum(np.searchsorted(self._arrays.mids, wanted), len(self._arrays.mids) - 1)
        return places, self._arrays.mids[places] == wanted

    def _nodes(self, mids: Mids) -> _Positions:
        """Positions of those of `mids` that this version holds, sorted, each once."""
        places, found = self._places(mids)
        nodes = places[found]
        if len(nodes) > 1 and not (nodes[1:] > nodes[:-1]).all():
            nodes = np.unique(nodes)
        return nodes


def _ranges(starts: npt.NDArray[np.uint32], ends: npt.NDArray[np.uint32]) -> _Positions:
    """All whole numbers of [start, end) for each pair, one after the other."""
    begins, sizes = starts.astype(np.int64), ends.astype(np.int64) - starts
    total = int(sizes.sum())
    offsets = np.cumsum(sizes) - sizes
    positions: _Positions = np.arange(total, dtype=np.int64) + np.repeat(begins - offsets, sizes)
    return positions
