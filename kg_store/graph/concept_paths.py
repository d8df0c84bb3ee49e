"""The paths that all of one concept share: what a prompt offers from a thing is what its whole concept leaves by.

It is the same for all of them, so it shows a kind and not an individual: neither what is unusual about it nor what it
lacks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from kg_store.graph.blind_graph import BlindGraph
from kg_store.graph.traversal import leads_to_values, members_of, reached, steps_from, walk
from kg_store.terms import NO_MIDS, Mids, Path, Schema, Step, as_mids, cached_by_version

MAX_STEPS_WALKED: Final = 2_000
"""Kin that are walked from; of more, so many at even distances."""

MIN_SHARE: Final = 0.01
"""A step that fewer of the kin have is none of the kind: it would tell the few that have it from the many."""

MAX_PATHS: Final = 1_500
"""Paths of one kin. Where there were more of three steps, those of two are all."""

MAX_CACHED: Final = 2_000
"""Kin of one schema whose paths are remembered; then they are all forgotten."""


@dataclass(frozen=True, slots=True)
class ConceptScope:
    """Whatever `path` reaches from everything of `concept` (several are joined by commas, as prompts show them)."""

    concept: str
    path: Path = ()

    def along(self, path: Path) -> ConceptScope:
        return ConceptScope(self.concept, (*self.path, *path))


@dataclass(frozen=True, slots=True, eq=False)
class ConceptPaths:
    """Paths that leave some kin, shorter ones first; all of at most `whole` steps are among them."""

    paths: tuple[Path, ...]
    whole: int


def paths_of(graph: BlindGraph, kin: ConceptScope, longest: int) -> ConceptPaths:
    """The paths of at most `longest` steps that leave `kin`. Worked out once for a version of a graph."""
    known = _known(graph.schema)
    found = known.get((kin, longest))
    if found is None:
        found = _paths_of(graph, kin, longest)
        if len(known) >= MAX_CACHED:
            known.clear()
        known[kin, longest] = found
    return found


def is_worked_out(graph: BlindGraph, kin: ConceptScope, longest: int) -> bool:
    """True where `paths_of` has its answer ready."""
    return (kin, longest) in _known(graph.schema)


def everything_of(graph: BlindGraph, kin: ConceptScope) -> Mids:
    """All that is of the concepts of `kin`, before its path is walked."""
    members = [members_of(graph, concept) for concept in kin.concept.split(", ")]
    return np.unique(np.concatenate(members)) if members else NO_MIDS


def _paths_of(graph: BlindGraph, kin: ConceptScope, longest: int) -> ConceptPaths:
    start = _spread(reached(graph, _spread(everything_of(graph, kin)), kin.path))
    level: list[tuple[Path, Mids]] = [((), start)]
    paths: list[Path] = []
    for length in range(longest):
        longer: list[tuple[Path, Mids]] = []
        for path, mids in level:
            longer += [((*path, step), tails) for step, tails in _common_steps(graph, mids)]
            if len(paths) + len(longer) > MAX_PATHS and length:
                return ConceptPaths(tuple(paths), length)
        paths += [path for path, _ in longer]
        level = [(path, tails) for path, tails in longer if not leads_to_values(graph.schema, path[-1])]
    return ConceptPaths(tuple(paths), longest)


def _common_steps(graph: BlindGraph, mids: Mids) -> list[tuple[Step, Mids]]:
    """The steps that enough of `mids` have, and what they reach."""
    least = MIN_SHARE * len(mids)
    found = []
    for step in steps_from(graph, mids):
        edges = walk(graph, mids, (step,))
        if len(np.unique(edges.heads)) >= least:
            found.append((step, _spread(as_mids(edges.tails))))
    return found


def _spread(mids: Mids) -> Mids:
    if len(mids) <= MAX_STEPS_WALKED:
        return mids
    return mids[np.linspace(0, len(mids) - 1, MAX_STEPS_WALKED).astype(np.int64)]


@cached_by_version
def _known(schema: Schema) -> dict[tuple[ConceptScope, int], ConceptPaths]:  # noqa: ARG001
    """The paths of one version that are worked out so far."""
    return {}
