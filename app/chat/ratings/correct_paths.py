"""Finds the shortest relation path from what a question names to the answer that a person calls right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from app.memory.case_memory import Embed
from app.memory.cases import CaseContent, LabelPath
from kg_store.graph.blind_graph import BlindGraph
from kg_store.graph.traversal import leads_to_values, reached, steps_from
from kg_store.terms import Mids, Path
from kg_store.text.labels import typed_step

MAX_WALKED_FROM: Final = 200
"""With more things in the middle, paths of two steps are not tried, because they say little. Chosen by hand."""
MIN_REACHED: Final = 0.5
"""The least share of the right answers that a path must reach. Chosen by hand; not fitted."""


def shortest_path_to(
    graph: BlindGraph, topics: Mids, right: Sequence[Sequence[int]], asked: CaseContent, embed: Embed
) -> LabelPath | None:
    """Returns the shortest path of one or two steps that reaches at least half of `right`; None if there is none.

    Of several, the one that reaches fewest others, then the one whose words are most like the question. `right`: for
    each name, the things it may mean. A step may lead through a mediator.
    """
    if not len(topics) or not right:
        return None
    single = [(step,) for step in steps_from(graph, topics)]
    for paths in (single, _longer(graph, topics, single)):
        scored = [(_fit(reached(graph, topics, path), right), path) for path in paths]
        best = max((fit for fit, _ in scored), default=0.0)
        if best > 0:
            return _nearest(graph, [path for fit, path in scored if fit == best], asked, embed)
    return None


def _longer(graph: BlindGraph, topics: Mids, single: Sequence[Path]) -> Iterator[Path]:
    for path in single:
        middle = reached(graph, topics, path)
        if len(middle) <= MAX_WALKED_FROM and not leads_to_values(graph.schema, path[-1]):
            yield from ((*path, step) for step in steps_from(graph, middle))


def _fit(found: Mids, right: Sequence[Sequence[int]]) -> float:
    """The F1 score (0 to 1) of what a path reaches; 0 if it reaches less than MIN_REACHED of what is right."""
    held = set(found.tolist())
    met = sum(not held.isdisjoint(each) for each in right)
    if met < MIN_REACHED * len(right):
        return 0.0
    return 2 * met / (len(held) + len(right))


def _nearest(graph: BlindGraph, paths: Sequence[Path], asked: CaseContent, embed: Embed) -> LabelPath:
    labels = [tuple(graph.schema.label_step(step) for step in path) for path in paths]
    if len(labels) == 1:
        return labels[0]
    return max(labels, key=lambda path: float(embed(" ".join(typed_step(step) for step in path)) @ asked.vector))
