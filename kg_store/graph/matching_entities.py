"""Counts the entities of a graph that fit what a prompt says of one of them.

A description gives a concept and, for some paths, that they lead somewhere, that they do not, or to how many nodes.
Which members of a concept a path leaves is computed once for a version and kept as flags; a question only combines
flags. Concepts with few members are shown joined with others (`wider_kinds`).
"""

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

MAX_BYTES: Final = 64 << 20  # The greatest size of the flags of one version; then the cache is emptied.
MAX_PAIRS: Final = 5_000_000
"""The greatest number of (node, end of a path) pairs that are counted; above it, every size counts as fitting."""


@dataclass(frozen=True, slots=True)
class PathCardinality:
    """The statement that a path leads to between `least` and `most` nodes; `most` None means no upper limit."""

    path: Path
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class EntityDescription:
    """The statements of a prompt about one entity.

    `leads`: for each path that the prompt describes, the set of paths that its words may mean; at least one of the set
    leads somewhere. `sizes`: to how many nodes paths lead. `steps`, if given: all single steps that leave the entity;
    no other step does (`steps_from`).
    """

    concept: str
    leads: frozenset[frozenset[Path]] = frozenset()
    sizes: frozenset[PathCardinality] = frozenset()
    steps: frozenset[Step] | None = None


def how_many_fit(graph: BlindGraph, said: EntityDescription) -> int:
    """Returns the number of entities and mediators of the concept in `said` that fit the description.

    `said.concept` may be several concepts joined by commas. If no node has it, all entities are counted that fit the
    rest. A path that the graph does not have leads nowhere. Raises nothing.
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
    """A cache of results for one version. Two threads may compute the same result.

    `members`: the nodes of each concept. `steps`: for each concept, every single step that a member has.
    """

    def __init__(self) -> None:
        self.members: dict[str, Mids] = {}
        self.steps: dict[str, Sequence[Step]] = {}
        self._flags: dict[tuple[str, Path | Step | PathCardinality], Flags] = {}
        self._bytes = 0

    def flags(self, concept: str, of: Path | Step | PathCardinality, work_out: Callable[[], Flags]) -> Flags:
        """Returns a flag for each member of `concept`: `of` holds for it.

        Calls `work_out` if the flags are not cached. A path or step holds if it leads somewhere, a PathCardinality if
        its path leads to that many nodes.
        """
        found = self._flags.get((concept, of))
        if found is None:
            found = work_out()
            if self._bytes + found.nbytes > MAX_BYTES:
                self._flags, self._bytes = {}, 0
            self._flags[concept, of] = found
            self._bytes += found.nbytes
        return found


def _members_of(graph: BlindGraph, concept: str) -> Mids:
    """Returns all nodes of `concept` except values; a concept whose own word holds a comma is not split."""
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
    """Returns a flag for each member: `step` leaves it, even if it only leads back to itself."""
    here, walked = members, list[Edges]()
    for at, hop in enumerate(step):
        on = here[mediator_flags(graph.schema)[graph.signatures_of(here)]] if at else here
        walked.append(graph.neighbours(on, hop))
        here = as_mids(walked[-1].tails)
    return _whose_walk_ends(members, here, walked)


def _whose_walk_ends(members: Mids, ends: Mids, walked: Sequence[Edges]) -> Flags:
    """Returns a flag for each of `members`: a walk that began there reached `ends`.

    `walked` holds the pairs of each step in order; they are followed backwards from `ends`.
    """
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
    """Returns the number of nodes that `path` reaches from each of `members`; None beyond MAX_PAIRS pairs in all."""
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
    """Returns a flag for each of `mids`: it is in `some`, which is sorted."""
    if not len(some):
        return np.zeros(len(mids), dtype=np.bool_)
    found: Flags = some.take(np.searchsorted(some, mids), mode="clip") == mids
    return found


@cached_by_version
def wider_kinds(schema: Schema, k: int) -> Mapping[str, str]:
    """Returns, for each concept with fewer than `k` entities, the words that a prompt shows instead of it.

    The words name several concepts, joined by commas, that have at least `k` entities together. All of these concepts
    show the same words, so a prompt does not tell which one is meant. Small concepts are joined with small ones, since
    the paths of a small one would be lost among those of a large one. Only if all small ones together have fewer than
    `k` entities does the smallest large one join them. A concept that finds no other to join is left out.
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
    # Concepts that are left over are too few for a cell of their own.
    left = cells.pop()
    if left and not cells:
        cells = [ranked[: len(small) + 1]]
    elif left:
        cells[-1] += left
    shown = {concept: ", ".join(sorted(cell)) for cell in cells for concept in cell}
    return {concept: words for concept, words in shown.items() if words != concept}
