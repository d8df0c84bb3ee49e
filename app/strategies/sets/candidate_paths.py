"""Finds the candidates of a round: single steps and paths of two, ranked by likeness to the question."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from app.llm.in_house import gains_of
from app.strategies.base import StrategyInput
from app.strategies.retrieval import CandidatePath, NodeSet, labels_of
from app.strategies.sets.offered_ways import WaySelector
from kg_store.graph.traversal import leads_to_values, reached, steps_from_each, tail_concept
from kg_store.text.labels import worded

MAX_OFFERED = 60  # candidates are numbered, and numbers up to 99 are public words
MAX_COMPOSED_FROM = 2_000  # members of a place; if it has more, paths of two steps wait a round


@dataclass(frozen=True, slots=True)
class CandidateList:
    """Candidates, and the number that was cut by rank, which is always reported."""

    ways: list[CandidatePath]
    cut: int


class CandidateFinder:
    """Finds every candidate from a frontier; only the cut by rank leaves some out."""

    def __init__(self, inquiry: StrategyInput, selector: WaySelector) -> None:
        self._inquiry, self._selector = inquiry, selector

    def of(self, frontier: list[NodeSet], earlier: list[NodeSet]) -> CandidateList:
        single, further = self.single(frontier), self.single(earlier)
        return self._nearest(single, [*self.longer(single), *further])

    def single(self, places: list[NodeSet]) -> list[CandidatePath]:
        """Returns every single step that leaves one of `places`."""
        steps = steps_from_each(self._inquiry.graph, [place.mids for place in places])
        return [CandidatePath(place, (step,)) for place, on in zip(places, steps, strict=True) for step in on]

    def longer(self, ways: list[CandidatePath]) -> list[CandidatePath]:
        """Returns every path that extends one of `ways` by one step."""
        graph = self._inquiry.graph
        short = [way for way in ways if len(way.start.mids) <= MAX_COMPOSED_FROM]
        able = [way for way in short if not leads_to_values(graph.schema, way.path[-1])]
        steps = steps_from_each(graph, [reached(graph, way.start.mids, way.path) for way in able])
        return [
            CandidatePath(way.start, (*way.path, step)) for way, on in zip(able, steps, strict=True) for step in on
        ]

    def _nearest(self, single: list[CandidatePath], further: list[CandidatePath]) -> CandidateList:
        """At most MAX_OFFERED candidates: single steps of the frontier first, then the others, each by likeness."""
        if len(single) + len(further) <= MAX_OFFERED:
            return CandidateList([*single, *further], 0)
        nearest = self._ranked(single)
        kept = [nearest[at] for at in self._selector.chosen(self._inquiry, nearest, MAX_OFFERED)]
        kept += self._ranked(further)[: MAX_OFFERED - len(kept)]
        return CandidateList(kept, len(single) + len(further) - len(kept))

    def _ranked(self, ways: list[CandidatePath]) -> list[CandidatePath]:
        """Candidates by likeness to the question; each step is embedded once."""
        schema = self._inquiry.graph.schema
        told = {step: (worded(schema, step), tail_concept(schema, step)) for way in ways for step in way.path}
        steps = [[told[step] for step in way.path] for way in ways]
        near = self._inquiry.language.paths.nearness(self._inquiry.asked, steps)
        if cases := self._inquiry.cases:
            near = near + gains_of(cases, [labels_of(self._inquiry, way.path) for way in ways], or_begins=True)
        return [ways[int(i)] for i in np.argsort(-near, kind="stable")]
