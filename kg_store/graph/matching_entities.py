"""Fitting entities: how many things of a graph fit what a prompt says of one of them.

What is said is a concept and, of paths, that they lead somewhere, that they don't, or to how many. Which things a path
leaves is worked out once for a concept and a version, over all of them at once; a question then joins flags. Concepts
with few members are shown joined to others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
import numpy.typing as npt

from kg_store.graph.adjacency import Flags, distinct_pairs, ranges
from kg_store.graph.blind_graph import BlindGraph
from kg_store.graph.traversal import mediator_flags, steps_from_each, walk
from kg_store.terms import Edges, Mids, NodeKind, Path, Schema, Step, as_mids, cached_by_version

MAX_BYTES: Final = 64 << 20  # Of flags of one version; then they are all forgotten.
MAX_PAIRS: Final = 5_000_000
"""Of a thing and an end of a path. Where there are more, ends are not counted: all sizes fit."""


@dataclass(frozen=True, slots=True)
class PathCardinality:
    """That a path leads to between `least` and `most` things; `most` None: to any number more."""

    path: Path
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class EntityDescription:
    """A description of one thing. Each of `leads` is a path in all its readings: that one of them leads somewhere.

    `steps`, where it is told, are all the single steps that leave the thing (`steps_from`), and no others do.
    """

    concept: str
    leads: frozenset[frozenset[Path]] = frozenset()
    sizes: frozenset[PathCardinality] = frozenset()
    steps: frozenset[Step] | None = None


def how_many_fit(graph: BlindGraph, said: EntityDescription) -> int:
    """Counts the things of the concept (several are joined by commas; of one that nothing has: all) that fit `said`.

    Values are none of them. Raises nothing; a path that no reading fits leads nowhere.
    """
    known, concept = _known(graph.schema), said.concept
    if concept not in known.members:
        known.members[concept] = _members_of(graph, concept)
    members = known.members[concept]
    fits = np.ones(len(members), dtype=np.bool_)
    for readings in said.leads:
        leads = np.zeros(len(members), dtype=np.bool_)
        for path in readings:
            leads |= known.flags(concept, path, partial(_having, graph, members, path))
        fits &= leads
    for sized in said.sizes:
        fits &= known.flags(concept, sized, partial(_of_size, graph, members, sized))
    if said.steps is not None:
        if concept not in known.steps:
            known.steps[concept] = steps_from_each(graph, [members])[0]
        for step in known.steps[concept]:
            leaves = known.flags(concept, step, partial(_leaving, graph, members, step))
            fits &= leaves if step in said.steps else ~leaves
        if not said.steps.issubset(known.steps[concept]):
            return 0
    return int(np.count_nonzero(fits))


class _Known:
    """Sets of one version that are worked out so far. Threads may work out the same set twice.

    `steps`: every single step that one of a concept's members has.
    """

    def __init__(self) -> None:
        self.members: dict[str, Mids] = {}
        self.steps: dict[str, Sequence[Step]] = {}
        self._flags: dict[tuple[str, Path | Step | PathCardinality], Flags] = {}
        self._bytes = 0

    def flags(self, concept: str, of: Path | Step | PathCardinality, work_out: Callable[[], Flags]) -> Flags:
        """A flag for each of the concept's members: a path leads somewhere or to so many, or a step leaves."""
        found = self._flags.get((concept, of))
        if found is None:
            found = work_out()
            if self._bytes + found.nbytes > MAX_BYTES:
                self._flags, self._bytes = {}, 0
            self._flags[concept, of] = found
            self._bytes += found.nbytes
        return found


def _members_of(graph: BlindGraph, concept: str) -> Mids:
    """All but values; a concept that holds a comma itself is taken for what it is."""
    things = [each for each in graph.schema.signatures if each.kind is not NodeKind.VALUE]
    words = {each.id: {str(graph.schema.concepts[each.id]), *each.classes} for each in things}
    wanted = {concept} if any(concept in has for has in words.values()) else {*concept.split(", ")}
    ids = [each.id for each in things if not wanted.isdisjoint(words[each.id])]
    return graph.members(ids or [each.id for each in things if each.kind is NodeKind.ENTITY])


@cached_by_version
def _known(schema: Schema) -> _Known:  # noqa: ARG001
    return _Known()


def _having(graph: BlindGraph, members: Mids, path: Path) -> Flags:
    here, walked = members, list[Edges]()
    for step in path:
        walked.append(walk(graph, here, (step,)))
        here = as_mids(walked[-1].tails)
    return _whose_walk_ends(members, here, walked)


def _leaving(graph: BlindGraph, members: Mids, step: Step) -> Flags:
    """That a step leaves a thing, be it only back to itself."""
    here, walked = members, list[Edges]()
    for at, hop in enumerate(step):
        on = here[mediator_flags(graph.schema)[graph.signatures_of(here)]] if at else here
        walked.append(graph.neighbours(on, hop))
        here = as_mids(walked[-1].tails)
    return _whose_walk_ends(members, here, walked)


def _whose_walk_ends(members: Mids, ends: Mids, walked: Sequence[Edges]) -> Flags:
    """Back from `ends` over what was walked, the last first: which of `members` a whole walk set out from."""
    here = ends
    for edges in reversed(walked):
        here = as_mids(edges.heads[_among(edges.tails, here)])
    return _among(members, here)


def _of_size(graph: BlindGraph, members: Mids, sized: PathCardinality) -> Flags:
    counts = _ends(graph, members, sized.path)
    if counts is None:
        return np.ones(len(members), dtype=np.bool_)
    return (counts >= sized.least) & (counts <= (sized.most if sized.most is not None else counts))


def _ends(graph: BlindGraph, members: Mids, path: Path) -> npt.NDArray[np.int64] | None:
    """The number of things that `path` leads to from each of `members`; None where that is too many to count."""
    here = Edges(members, members)
    for step in path:
        last = walk(graph, as_mids(here.tails), (step,))
        starts = np.searchsorted(last.heads, here.tails, side="left")
        lengths = np.searchsorted(last.heads, here.tails, side="right") - starts
        if int(lengths.sum()) > MAX_PAIRS:
            return None
        here = distinct_pairs(np.repeat(here.heads, lengths), last.tails[ranges(starts, lengths)])
    counts: npt.NDArray[np.int64] = np.bincount(np.searchsorted(members, here.heads), minlength=len(members))
    return counts


def _among(mids: Mids, some: Mids) -> Flags:
    """A flag for each of `mids`: it is in `some`, which are sorted."""
    if not len(some):
        return np.zeros(len(mids), dtype=np.bool_)
    found: Flags = some.take(np.searchsorted(some, mids), mode="clip") == mids
    return found


@cached_by_version
def wider_kinds(schema: Schema, k: int) -> Mapping[str, str]:
    """The words that a thing of each small concept is shown by: several concepts, joined by commas, of at least `k`
    entities together. A concept that nobody shares a cell with is left out.

    Cells are the same for all of their members, or the words of a cell would tell the concept. Small concepts share
    cells with small ones, so that the ways of none are lost among those of a large one; where all small ones together
    are fewer than `k`, the least of the large ones joins them.
    """
    sizes: Counter[str] = Counter()
    for signature in schema.signatures:
        if signature.kind is NodeKind.ENTITY:
            sizes[str(schema.concepts[signature.id])] += signature.size
    ranked = sorted(sizes, key=lambda concept: (sizes[concept], concept))
    small = [concept for concept in ranked if sizes[concept] < k]
    cells: list[list[str]] = [[]]
    for concept in small:
        cells[-1].append(concept)
        if sum(sizes[each] for each in cells[-1]) >= k:
            cells.append([])
    # What is left over is no cell of its own.
    left = cells.pop()
    if left and not cells:
        cells = [ranked[: len(small) + 1]]
    elif left:
        cells[-1] += left
    shown = {concept: ", ".join(sorted(cell)) for cell in cells for concept in cell}
    return {concept: words for concept, words in shown.items() if words != concept}
