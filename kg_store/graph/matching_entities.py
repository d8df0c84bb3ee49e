"""Fitting entities: how many things of a graph fit what a prompt says of one of them.

What is said is a concept and, of paths, that they lead somewhere, that they don't, or to how many. Which things a path
leaves is worked out once for a concept and a version, over all of them at once; a question then joins flags. Concepts
with few members are shown joined to others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
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
    known = _known(graph.schema)
    members = known.members(graph, said.concept)
    fits = np.ones(len(members), dtype=np.bool_)
    for readings in said.leads:
        fits &= _any_of([_having(graph, known, said.concept, path) for path in readings], len(members))
    for sized in said.sizes:
        fits &= _of_size(graph, known, said.concept, sized)
    if said.steps is not None:
        fits &= _leaving_exactly(graph, known, said.concept, said.steps)
    return int(np.count_nonzero(fits))


@dataclass(frozen=True, slots=True)
class _Leaves:
    """That a step leaves a thing, be it only back to itself."""

    step: Step


_Trait = Path | PathCardinality | _Leaves


class _Known:
    """Sets of one version that are worked out so far. Threads may work out the same set twice."""

    def __init__(self) -> None:
        self._members: dict[str, Mids] = {}
        self._steps: dict[str, Sequence[Step]] = {}
        self._flags: dict[tuple[str, _Trait], Flags] = {}
        self._bytes = 0

    def members(self, graph: BlindGraph, concept: str) -> Mids:
        found = self._members.get(concept)
        if found is None:
            found = self._members[concept] = _members_of(graph, concept)
        return found

    def steps(self, graph: BlindGraph, concept: str) -> Sequence[Step]:
        """Every single step that one of its members has."""
        found = self._steps.get(concept)
        if found is None:
            found = self._steps[concept] = steps_from_each(graph, [self.members(graph, concept)])[0]
        return found

    def flags(self, concept: str, of: _Trait) -> Flags | None:
        return self._flags.get((concept, of))

    def keep(self, concept: str, of: _Trait, flags: Flags) -> None:
        if self._bytes + flags.nbytes > MAX_BYTES:
            self._flags, self._bytes = {}, 0
        self._flags[concept, of] = flags
        self._bytes += flags.nbytes


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


def _having(graph: BlindGraph, known: _Known, concept: str, path: Path) -> Flags:
    """A flag for each of the concept's members: `path` leads somewhere from it."""
    found = known.flags(concept, path)
    if found is None:
        here = members = known.members(graph, concept)
        walked = list[Edges]()
        for step in path:
            walked.append(walk(graph, here, (step,)))
            here = as_mids(walked[-1].tails)
        found = _whose_walk_ends(members, here, walked)
        known.keep(concept, path, found)
    return found


def _leaving_exactly(graph: BlindGraph, known: _Known, concept: str, steps: frozenset[Step]) -> Flags:
    there = known.steps(graph, concept)
    fits = np.full(len(known.members(graph, concept)), steps <= set(there), dtype=np.bool_)
    for step in there:
        leaves = _leaving(graph, known, concept, step)
        fits &= leaves if step in steps else ~leaves
    return fits


def _leaving(graph: BlindGraph, known: _Known, concept: str, step: Step) -> Flags:
    found = known.flags(concept, _Leaves(step))
    if found is None:
        here = members = known.members(graph, concept)
        walked = list[Edges]()
        for at, hop in enumerate(step):
            on = here[mediator_flags(graph.schema)[graph.signatures_of(here)]] if at else here
            walked.append(graph.neighbours(on, hop))
            here = as_mids(walked[-1].tails)
        found = _whose_walk_ends(members, here, walked)
        known.keep(concept, _Leaves(step), found)
    return found


def _whose_walk_ends(members: Mids, ends: Mids, walked: Sequence[Edges]) -> Flags:
    """Back from `ends` over what was walked, the last first: which of `members` a whole walk set out from."""
    here = ends
    for edges in reversed(walked):
        here = as_mids(edges.heads[_among(edges.tails, here)])
    return _among(members, here)


def _of_size(graph: BlindGraph, known: _Known, concept: str, sized: PathCardinality) -> Flags:
    found = known.flags(concept, sized)
    if found is None:
        members = known.members(graph, concept)
        counts = _ends(graph, members, sized.path)
        if counts is None:
            found = np.ones(len(members), dtype=np.bool_)
        else:
            found = (counts >= sized.least) & (counts <= (sized.most if sized.most is not None else counts))
        known.keep(concept, sized, found)
    return found


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


def _any_of(flags: Iterable[Flags], size: int) -> Flags:
    """Of no flags: nothing."""
    whole = np.zeros(size, dtype=np.bool_)
    for each in flags:
        whole |= each
    return whole


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
