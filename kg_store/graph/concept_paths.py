"""The paths that all things of one concept share, which prompts offer from each of its things.

They describe a kind and not an individual: neither what is unusual about it nor what it lacks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from kg_store.graph.blind_graph import BlindGraph
from kg_store.graph.traversal import leads_to_values, members_of, reached, steps_from, walk
from kg_store.terms import NO_MIDS, Mids, Path, Schema, Step, as_mids, cached_by_version

MAX_STEPS_WALKED: Final = 2_000
"""The greatest number of things of a concept from which paths are walked; of more, a sample at even distances. By
hand.
"""

MIN_SHARE: Final = 0.01
"""A step that a smaller share of the things has does not belong to the kind, since it would single those out. The
share was chosen on the sets in docs/evaluation.md.
"""

MAX_PATHS: Final = 1_500
"""The greatest number of paths of one concept; if there are more with three steps, only those of two are used. By
hand.
"""

MAX_CACHED: Final = 2_000
"""The greatest number of concepts with cached paths in one schema, before the cache is emptied. Chosen by hand."""


@dataclass(frozen=True, slots=True)
class ConceptScope:
    """Everything that `path` reaches from all things of `concept` (several concepts are joined by commas)."""

    concept: str
    path: Path = ()

    def along(self, path: Path) -> ConceptScope:
        return ConceptScope(self.concept, (*self.path, *path))


@dataclass(frozen=True, slots=True, eq=False)
class ConceptPaths:
    """Paths that leave a concept, shorter ones first; all paths of at most `whole` steps are among them."""

    paths: tuple[Path, ...]
    whole: int


def paths_of(graph: BlindGraph, kin: ConceptScope, longest: int) -> ConceptPaths:
    """Returns the paths of at most `longest` steps that leave `kin`, a concept and a path from it; computed once for a
    version.
    """
    known = _known(graph.schema)
    found = known.get((kin, longest))
    if found is None:
        found = _paths_of(graph, kin, longest)
        if len(known) >= MAX_CACHED:
            known.clear()
        known[kin, longest] = found
    return found


def is_worked_out(graph: BlindGraph, kin: ConceptScope, longest: int) -> bool:
    """True if the result of `paths_of` is in the cache."""
    return (kin, longest) in _known(graph.schema)


def everything_of(graph: BlindGraph, kin: ConceptScope) -> Mids:
    """Returns all things of the concepts of `kin`, before its path is walked."""
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
    """The steps that at least MIN_SHARE of `mids` have, and what they reach."""
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
    """The paths of one version that have been computed so far."""
    return {}
