"""Adjacency: a graph as arrays, built at load: its nodes, the hops of each node, and the nodes that each hop reaches.

Also the array operations that it is built with: ranges, runs, and numbering equal sets without comparing members.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kg_store.errors import LoadError
from kg_store.terms import Edges, Hop, Mids, NodeKind, RelationId, Signature, SignatureId

Longs = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.uint32]
Sums = npt.NDArray[np.uint64]

KINDS = (NodeKind.ENTITY, NodeKind.VALUE, NodeKind.MEDIATOR)  # Node kinds by code.
_MAX_TARGETS = 0xFFFF_FFFF
_MAX_PACKED = 1 << 62


def ranges(starts: Longs, lengths: Longs) -> Longs:
    """Returns the whole numbers from start to before start + length, for one pair (start, length) after the other.

    Starts [5, 0] and lengths [2, 3] give [5, 6, 0, 1, 2].
    """
    stops = lengths.cumsum()
    total = int(stops[-1]) if len(stops) else 0
    positions: Longs = np.arange(total, dtype=np.int64) + (starts - stops + lengths).repeat(lengths)
    return positions


def differs(*columns: npt.NDArray[Any]) -> Flags:
    """Returns True for the first row and for each row that differs from the one before it in one of `columns`."""
    fresh = np.zeros(len(columns[0]), dtype=np.bool_)
    fresh[:1] = True
    for column in columns:
        fresh[1:] |= column[1:] != column[:-1]
    return fresh


def distinct_rows(*columns: Longs) -> tuple[Longs, ...]:
    """Returns every row of `columns` once, sorted by the first column, then by the next ones."""
    widths = [int(column.max(initial=0)) + 1 for column in columns]
    if prod(widths) < _MAX_PACKED and all(column.min(initial=0) >= 0 for column in columns):
        # Each row as one number, which sorts in a fraction of the time; MIDs are too long for that.
        packed = np.sort(np.ravel_multi_index(columns, widths))
        return tuple(np.unravel_index(packed[differs(packed)], widths))
    order = np.lexsort(columns[::-1])
    ordered = [column[order] for column in columns]
    fresh = differs(*ordered)
    return tuple(column[fresh] for column in ordered)


def distinct_pairs(heads: Mids, tails: Mids) -> Edges:
    """Returns every pair (`heads[i]`, `tails[i]`) once, sorted by head, then tail."""
    return Edges(*distinct_rows(heads, tails))


def lengths_between(starts: npt.NDArray[Any]) -> Longs:
    """Returns the length of each stretch between consecutive `starts`: [2, 1] for [0, 2, 3]."""
    wide = starts.astype(np.int64)
    return wide[1:] - wide[:-1]


def running_total(values: npt.NDArray[Any]) -> Longs:
    """Returns 0, and then the sum of all values up to each one: [0, 2, 5] for [2, 3]."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(values, dtype=np.int64)])


def weights_of(count: int) -> Sums:
    """Returns two random odd numbers for each of `count` members, shape (2, count).

    They tell sets apart without comparing members: two sets count as equal if the sums of their members' numbers
    (modulo 2^64) are equal in both rows.
    """
    drawn = np.random.default_rng().integers(1, 1 << 63, size=(2, max(1, count)), dtype=np.uint64)
    odd: Sums = drawn | np.uint64(1)
    return odd


def sums_between(weights: Sums, starts: npt.NDArray[Any]) -> Sums:
    """Returns, for each row of `weights`, the sum of each stretch between consecutive `starts`.

    The row [2, 3, 4] and starts [0, 2, 3] give [5, 4].
    """
    nothing = np.zeros((len(weights), 1), np.uint64)
    running = np.concatenate([nothing, np.cumsum(weights, axis=1, dtype=np.uint64)], axis=1)
    sums: Sums = running[:, starts[1:]] - running[:, starts[:-1]]
    return sums


def number_sets(sums: Sums, first: Longs | None = None) -> tuple[Longs, Longs]:
    """Returns (numbers, examples): a number for each set, equal for equal sets, and one row for each number.

    `sums` has the two sums of each set (`weights_of`); sets with equal sums count as equal. With `first`, sets get the
    same number only if their values in `first` are equal too, and numbers ascend with `first`.
    """
    columns = [*([] if first is None else [first]), *sums]
    order = np.lexsort(columns[::-1])
    fresh = differs(*(column[order] for column in columns))
    numbers = np.empty(len(order), dtype=np.int64)
    numbers[order] = np.cumsum(fresh) - 1
    return numbers, order[fresh]


@dataclass(frozen=True, slots=True)
class Nodes:
    """The nodes of a graph as arrays, sorted by MID.

    `kinds[i]` is the position of node i's kind in KINDS; `class_sets[i]` is the position of its classes in `classes`.
    """

    mids: Mids
    kinds: npt.NDArray[np.uint8]
    class_sets: npt.NDArray[np.int32]
    classes: Sequence[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts of a graph as arrays; each fact occurs once.

    `heads` and `tails` are positions in Nodes, `relations` are positions in the schema's relations.
    """

    heads: npt.NDArray[np.int32]
    relations: npt.NDArray[np.int32]
    tails: npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Adjacency:
    """A graph as arrays, with both directions of each fact.

    A hop is one relation in one direction, coded as `2 * relation + inverse`. A signature is the kind, classes and
    hops that nodes share. A group is the targets that one hop of one node reaches. A node's groups are in the order of
    its signature's hops, so a group is found by the hop's position in the signature. Node `n` has groups
    `group_starts[n]` to `group_starts[n + 1]`; group `g` has the sorted targets `target_starts[g]` to `target_starts[g
    + 1]`. In the same way `hop_starts` and `member_starts` delimit the hops and the members of each signature.
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

    def hops_of_targets(self) -> Numbers:
        """Returns, for each entry of `targets`, the code of the hop that leads to it."""
        starts = self.hop_starts[self.signatures].astype(np.int64)
        hops = self.hops[ranges(starts, lengths_between(self.group_starts))]
        return np.repeat(hops, lengths_between(self.target_starts))

    def save(self, folder: Path) -> None:
        for part in fields(self):
            np.save(folder / f"{part.name}.npy", getattr(self, part.name), allow_pickle=False)

    @staticmethod
    def map_from(folder: Path) -> Adjacency:
        """Returns the arrays as memory maps: a page is read from disk when a question needs it."""
        maps = (np.load(folder / f"{part.name}.npy", mmap_mode="r", allow_pickle=False) for part in fields(Adjacency))
        # Views as plain arrays, because slices of a memmap object are several times slower.
        return Adjacency(*(np.asarray(array) for array in maps))


def build_adjacency(nodes: Nodes, facts: Facts, relations: int) -> tuple[Adjacency, tuple[Signature, ...]]:
    """Returns (arrays, signatures) of a graph.

    A signature is a combination of kind, classes and hops that at least one node has.
    """
    group_nodes, group_hops, target_starts, targets = _groups(nodes, facts, relations)
    group_starts = np.searchsorted(group_nodes, np.arange(len(nodes.mids) + 1)).astype(np.uint32)
    kinds = nodes.kinds.astype(np.int64) * max(1, len(nodes.classes)) + nodes.class_sets
    # One row of weights at a time saves memory, because each takes eight bytes for every group.
    sums = [sums_between(row[None, group_hops], group_starts) for row in weights_of(2 * relations)]
    signature_of, examples = number_sets(np.concatenate(sums), kinds)
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
    adjacency = Adjacency(
        nodes.mids,
        signature_of.astype(np.int32),
        group_starts,
        target_starts,
        targets,
        running_total(np.array([len(row) for row in hop_rows], dtype=np.int64)).astype(np.uint32),
        np.concatenate([*hop_rows, np.empty(0, np.uint32)]).astype(np.uint32),
        running_total(sizes).astype(np.uint32),
        np.argsort(signature_of, kind="stable").astype(np.uint32),
    )
    return adjacency, signatures


def _groups(nodes: Nodes, facts: Facts, relations: int) -> tuple[Longs, Numbers, Numbers, Numbers]:
    """Returns the node of each group, the hop of each group, the start of each group's targets, and all targets."""
    hops = max(1, relations * 2)
    heads, tails, relation = (each.astype(np.int64) for each in (facts.heads, facts.tails, facts.relations))
    keys = np.concatenate([heads * hops + 2 * relation, tails * hops + 2 * relation + 1])
    pairs = distinct_pairs(keys, np.concatenate([tails, heads]))
    if len(pairs.tails) > _MAX_TARGETS or len(nodes.mids) > _MAX_TARGETS:
        raise LoadError("the graph is too large: at most 2,147,483,647 facts")
    group_keys, starts = np.unique(pairs.heads, return_index=True)
    target_starts = np.append(starts, len(pairs.tails)).astype(np.uint32)
    return group_keys // hops, (group_keys % hops).astype(np.uint32), target_starts, pairs.tails.astype(np.uint32)
