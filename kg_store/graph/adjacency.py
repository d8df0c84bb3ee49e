"""Adjacency: the arrays of a graph, built at load: nodes, the hops of each node, and what each hop reaches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
import numpy.typing as npt

from kg_store.errors import LoadError
from kg_store.terms import Hop, Mids, NodeKind, RelationId, Signature, SignatureId

Numbers = npt.NDArray[np.uint32]
KINDS = (NodeKind.ENTITY, NodeKind.VALUE, NodeKind.MEDIATOR)
"""Node kinds by code."""

_MAX_TARGETS = 0xFFFF_FFFF


@dataclass(frozen=True, slots=True)
class Nodes:
    """Nodes sorted by MID; `kinds` are codes of KINDS, `class_sets` positions in `classes`."""

    mids: Mids
    kinds: npt.NDArray[np.uint8]
    class_sets: npt.NDArray[np.int32]
    classes: Sequence[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts as positions: head and tail in Nodes, relation in the schema. Duplicates are kept once."""

    heads: npt.NDArray[np.int32]
    relations: npt.NDArray[np.int32]
    tails: npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Adjacency:
    """A graph in arrays, both directions in one. A hop is `2 * relation + inverse`; a group is one hop of one node.

    A node's groups are in the order of its signature's hops, so a group is found by the hop's rank in the signature.
    Node `n` has groups `group_ends[n-1]` to `group_ends[n]`, group `g` has targets `target_ends[g-1]` to
    `target_ends[g]`, sorted; signature `s` has members and hops in the same way.
    """

    mids: Mids
    signatures: npt.NDArray[np.int32]
    group_starts: Numbers
    target_starts: Numbers
    targets: Numbers
    hop_starts: Numbers
    hops: Numbers
    member_starts: Numbers
    members: Numbers

    def save(self, folder: Path) -> None:
        for part in fields(self):
            np.save(folder / f"{part.name}.npy", getattr(self, part.name), allow_pickle=False)

    @staticmethod
    def map_from(folder: Path) -> Adjacency:
        """The arrays as memory maps: pages are read when a question needs them."""
        maps = (np.load(folder / f"{part.name}.npy", mmap_mode="r", allow_pickle=False) for part in fields(Adjacency))
        # Plain views of the maps: a memmap object makes every slice several times slower.
        return Adjacency(*(np.asarray(array) for array in maps))


def build_adjacency(nodes: Nodes, facts: Facts, relations: int) -> tuple[Adjacency, tuple[Signature, ...]]:
    """Returns the arrays and the signatures: every combination of kind, classes and hops that some node has."""
    group_nodes, group_hops, target_starts, targets = _groups(nodes, facts, relations)
    group_starts = np.searchsorted(group_nodes, np.arange(len(nodes.mids) + 1)).astype(np.uint32)
    signature_of, examples = _signature_ids(nodes, group_starts, group_hops, relations)
    hop_rows = [group_hops[group_starts[node] : group_starts[node + 1]] for node in examples]
    sizes = np.bincount(signature_of, minlength=len(examples))
    signatures = tuple(
        Signature(
            SignatureId(position),
            KINDS[nodes.kinds[node]],
            nodes.classes[nodes.class_sets[node]],
            tuple(Hop(RelationId(hop >> 1), bool(hop & 1)) for hop in row.tolist()),
            size,
        )
        for position, (node, row, size) in enumerate(zip(examples.tolist(), hop_rows, sizes.tolist(), strict=True))
    )
    members = np.argsort(signature_of, kind="stable").astype(np.uint32)
    adjacency = Adjacency(
        nodes.mids,
        signature_of,
        group_starts,
        target_starts,
        targets,
        _starts(np.array([len(row) for row in hop_rows], dtype=np.int64)),
        np.concatenate([*hop_rows, np.empty(0, np.uint32)]).astype(np.uint32),
        _starts(sizes),
        members,
    )
    return adjacency, signatures


def _groups(nodes: Nodes, facts: Facts, relations: int) -> tuple[npt.NDArray[np.int64], Numbers, Numbers, Numbers]:
    """Node and hop of each group, where its targets start, and all targets."""
    hops = max(1, relations * 2)
    heads, tails, hop = (
        facts.heads.astype(np.int64),
        facts.tails.astype(np.int64),
        facts.relations.astype(np.int64) * 2,
    )
    keys = np.concatenate([heads * hops + hop, tails * hops + hop + 1])
    targets = np.concatenate([tails, heads])
    order = np.lexsort((targets, keys))
    keys, targets = keys[order], targets[order]
    fresh = np.ones(len(keys), dtype=bool)
    fresh[1:] = (keys[1:] != keys[:-1]) | (targets[1:] != targets[:-1])
    keys, targets = keys[fresh], targets[fresh]
    if len(targets) > _MAX_TARGETS or len(nodes.mids) > _MAX_TARGETS:
        raise LoadError("the graph is too large: at most 2,147,483,647 facts")
    group_keys, starts = np.unique(keys, return_index=True)
    target_starts = np.append(starts, len(targets)).astype(np.uint32)
    return group_keys // hops, (group_keys % hops).astype(np.uint32), target_starts, targets.astype(np.uint32)


def _signature_ids(
    nodes: Nodes, group_starts: Numbers, group_hops: Numbers, relations: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """The signature of each node, and one node of each signature.

    Each hop has two random numbers and a set of hops is their sums, so that equal sets are found without comparison.
    """
    weights = np.random.default_rng().integers(1, 1 << 63, size=(2, max(1, relations * 2)), dtype=np.uint64)
    columns = [nodes.kinds.astype(np.int64), nodes.class_sets.astype(np.int64)]
    for weight in weights:
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(weight[group_hops], dtype=np.uint64)])
        columns.append((sums[group_starts[1:]] - sums[group_starts[:-1]]).astype(np.int64))
    order = np.lexsort(columns[::-1])
    rows = np.stack(columns, axis=1)[order]
    fresh = np.ones(len(rows), dtype=bool)
    fresh[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    signature_of = np.empty(len(rows), dtype=np.int32)
    signature_of[order] = np.cumsum(fresh) - 1
    return signature_of, order[fresh]


def _starts(counts: npt.NDArray[np.int64]) -> Numbers:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]).astype(np.uint32)
