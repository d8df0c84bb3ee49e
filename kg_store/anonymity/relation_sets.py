"""StepSets: of every entity the set of steps that leave it, and of paths of two steps, as numbers to compare."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from kg_store.anonymity.array_sets import (
    Flags,
    Numbers,
    distinct,
    lengths_between,
    number_sets,
    running_total,
    stretches,
    sums_between,
    tally,
    weights_of,
)
from kg_store.anonymity.path_sets import PathSets
from kg_store.errors import StoreError
from kg_store.graph.adjacency import Adjacency
from kg_store.graph.index_ranges import ranges
from kg_store.graph.steps import MAX_MEDIATORS, ending_hops
from kg_store.terms import NodeKind, Schema

MAX_ROWS = 2_000_000
"""Rows that are worked on at once; one thing's own steps are never parted."""

MAX_STEPS = 200_000_000


@dataclass(frozen=True, slots=True)
class StepSets:
    """One row for each entity: `concepts` are positions in `names`; two entities of the same number in `one_hop` have
    the same set of steps, of the same in `two_hops` the same set of paths of two.

    `having_step` and `having_path` are about the pairs of a concept and a step (a path) that some entity of it has:
    how many pairs there are that just so many entities have.
    """

    names: tuple[str, ...] = field(repr=False)
    concepts: Numbers = field(repr=False)
    one_hop: Numbers = field(repr=False)
    two_hops: Numbers = field(repr=False)
    having_step: Mapping[int, int] = field(repr=False)
    having_path: Mapping[int, int] = field(repr=False)


def find_step_sets(adjacency: Adjacency, schema: Schema) -> StepSets:
    """Steps are those of `walking`: hops, and hops through mediators that lead to something else than back.

    Memory grows with the steps and with MAX_ROWS, not with the number of paths. StoreError where mediators join so
    many things that there are more than MAX_STEPS pairs of them.
    """
    steps = _Steps(adjacency, schema)
    entities, concepts, names = _concepts(adjacency, schema)
    concept_of = np.full(len(adjacency.mids), -1, dtype=np.int64)
    concept_of[entities] = concepts
    owners, numbers = steps.of_all()
    known, ids = np.unique(numbers, return_inverse=True)
    starts = np.searchsorted(owners, np.arange(len(adjacency.mids) + 1))
    one_hop, examples = number_sets(sums_between(weights_of(len(known))[:, ids], starts))
    of_entity = concept_of[owners] >= 0
    having = concept_of[owners[of_entity]] * max(1, len(known)) + ids[of_entity]
    paths = PathSets(concept_of, one_hop, ids, starts[examples], lengths_between(starts)[examples], len(known))
    for some_owners, some_numbers, tails in steps.rows():
        paths.add(some_owners, np.searchsorted(known, some_numbers), tails)
    two_hops, having_path = paths.found(MAX_ROWS)
    having_step = tally(np.unique(having, return_counts=True)[1])
    return StepSets(names, concepts, one_hop[entities], two_hops[entities], having_step, having_path)


class _Steps:
    """The steps of a graph as rows: whose, the step's number, and where it ends."""

    def __init__(self, adjacency: Adjacency, schema: Schema) -> None:
        kinds = [signature.kind for signature in schema.signatures]
        mediators = np.array([kind is NodeKind.MEDIATOR for kind in kinds] or [False])
        self._is_mediator: Flags = mediators[adjacency.signatures]
        self._may_end = ending_hops(schema)
        reached = [
            any(self._may_end[2 * hop.relation + (not hop.inverse)] for hop in s.hops) for s in schema.signatures
        ]
        self._is_reached = np.array(reached or [False])[adjacency.signatures]
        self._starts = adjacency.target_starts[adjacency.group_starts].astype(np.int64)
        self._tails = adjacency.targets
        self._base = 2 * len(schema.relations) + 1
        signatures = adjacency.signatures.astype(np.int64)
        groups = lengths_between(adjacency.group_starts)
        hops = adjacency.hops[ranges(adjacency.hop_starts[signatures].astype(np.int64), groups)]
        self._hops = np.repeat(hops, lengths_between(adjacency.target_starts))

    def of_all(self) -> tuple[Numbers, Numbers]:
        """Each thing where a step may begin with each of its steps, once, in order."""
        found = [_distinct(owners, numbers) for owners, numbers, _ in self.rows()]
        nothing = [(np.empty(0, np.int64), np.empty(0, np.int64))]
        owners, numbers = zip(*(found or nothing), strict=True)
        return np.concatenate(owners), np.concatenate(numbers)

    def rows(self) -> Iterator[tuple[Numbers, Numbers, Numbers]]:
        """Owners, step numbers and ends, of as many things at a time as have MAX_ROWS together."""
        costs = np.cumsum(self._costs())
        if costs[-1:].sum() > MAX_STEPS:
            raise StoreError(
                f"more than {MAX_STEPS:,} pairs of things are joined by a step: its mediators join too many"
            )
        for first, last in stretches(costs // MAX_ROWS):
            yield self._leaving(np.flatnonzero(self._is_reached[first:last]) + first)

    def _costs(self) -> Numbers:
        """The rows of each thing, those of the mediators that its steps run through among them."""
        of_depth = lengths_between(self._starts)
        costs = of_depth.copy()
        on = self._is_mediator[self._tails]
        for _ in range(MAX_MEDIATORS if on.any() else 0):
            running = running_total(np.where(on, of_depth[self._tails], 0))
            of_depth = running[self._starts[1:]] - running[self._starts[:-1]]
            costs += of_depth
        return costs

    def _leaving(self, begins: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        found: list[tuple[Numbers, Numbers, Numbers]] = []
        owners, nodes, begun = begins, begins, np.zeros(len(begins), dtype=np.int64)
        for depth in range(MAX_MEDIATORS + 1):
            lengths = self._starts[nodes + 1] - self._starts[nodes]
            places = ranges(self._starts[nodes], lengths)
            owners, tails = np.repeat(owners, lengths), self._tails[places].astype(np.int64)
            hops = self._hops[places]
            numbers = np.repeat(begun, lengths) * self._base + hops + 1
            # Through a mediator everything meets itself again, as walking has it.
            ends = self._may_end[hops] & (owners != tails) if depth else self._may_end[hops]
            found.append((owners[ends], numbers[ends], tails[ends]))
            on = self._is_mediator[tails]
            if not on.any():
                break
            owners, nodes, begun = owners[on], tails[on], numbers[on]
        whole = [np.concatenate(part) for part in zip(*found, strict=True)]
        return whole[0], whole[1], whole[2]


def _distinct(owners: Numbers, numbers: Numbers) -> tuple[Numbers, Numbers]:
    known, ids = np.unique(numbers, return_inverse=True)
    count = max(1, len(known))
    keys = distinct(owners * count + ids)
    return keys // count, known[keys % count] if len(known) else known


def _concepts(adjacency: Adjacency, schema: Schema) -> tuple[Numbers, Numbers, tuple[str, ...]]:
    names = sorted({str(concept) for concept in schema.concepts})
    place = {name: position for position, name in enumerate(names)}
    of_signature = np.array([place[str(concept)] for concept in schema.concepts] or [0], dtype=np.int64)
    kinds = np.array([signature.kind is NodeKind.ENTITY for signature in schema.signatures] or [False])
    entities = np.flatnonzero(kinds[adjacency.signatures])
    return entities, of_signature[adjacency.signatures[entities]], tuple(names)
