"""Shelf: the ways on of one round, nearest first, shown page by page to a model that is paid by tokens.

They are those of the kind of thing that a place is (`kg_store.graph.concept_paths`): one page for all of a kind.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from app.strategies.base import StrategyInput
from app.strategies.retrieval import CandidatePath, NodeSet
from app.strategies.sets.candidate_paths import MAX_OFFERED
from app.strategies.sets.path_ranking import PathPrefix, PathRanker, RankedPaths
from kg_store.terms import Path

MAX_LENGTH = 3
SECOND_PAGE = 12
# A first page holds ways that score little less than the best: fewer once something was walked, one alone where what
# was walked covers best. Their recall is measured in docs/results.md.
MOST_FIRST, MOST_LATER = 4, 2
WORSE = 0.75


@dataclass(frozen=True, slots=True)
class CandidatePages:
    """A page is shown where no way of those before it fits. `cut`: how many ways no page holds."""

    pages: tuple[tuple[CandidatePath, ...], ...]
    cut: int = 0

    def behind(self, page: int) -> int:
        """The number of ways on that the pages after `page` hold."""
        return sum(len(each) for each in self.pages[page + 1 :])


class Paginator:
    """Lays out what is known of a question: `trails` say how the places were reached, `roots` where it sets out.

    `generous`: a first page did not hold what was needed, so the next ones hold more.
    """

    def __init__(
        self,
        inquiry: StrategyInput,
        ways: PathRanker,
        roots: Mapping[str, NodeSet],
        trails: Mapping[str, PathPrefix],
        generous: bool = False,
    ) -> None:
        self._inquiry, self._ways, self._roots, self._trails = inquiry, ways, roots, trails
        self._generous = generous

    def is_ready(self, frontier: list[NodeSet], earlier: list[NodeSet]) -> bool:
        """True where laying out takes milliseconds."""
        return all(self._ways.is_ready(self._inquiry, *each) for each in _lengths(frontier, earlier))

    def of(
        self, frontier: list[NodeSet], earlier: list[NodeSet], walked: Collection[tuple[str, Path]]
    ) -> CandidatePages:
        """The first page holds the nearest ways from each thing that the question sets out from."""
        found = self._ranked(frontier, earlier)
        ways, scores = [way for each in found for way in each.ways], [s for each in found for s in each.scores]
        fresh = [i for i, way in enumerate(ways) if (way.start.pseudonym, way.path) not in walked]
        order = sorted(fresh, key=lambda i: (self._is_behind(ways[i]), -scores[i]))
        first = self._first_page(ways, scores, order)
        rest = [i for i in order if i not in set(first)]
        # Behind the nearest come all single steps, so that any path can be gone step by step.
        rest[SECOND_PAGE:] = sorted(rest[SECOND_PAGE:], key=lambda i: len(ways[i].path) > 1)
        border = max(0, MAX_OFFERED - len(first))
        # Later rounds have no third page: three hops take four calls at most, but for a long way round.
        second = border if self._trails else min(border, SECOND_PAGE)
        parts = (first, rest[:second], rest[second:border])
        cut = max(0, len(rest) - border) + sum(each.cut for each in found)
        return CandidatePages(tuple(tuple(ways[i] for i in part) for part in parts if part), cut)

    def _ranked(self, frontier: list[NodeSet], earlier: list[NodeSet]) -> list[RankedPaths]:
        return [
            self._ways.from_place(self._inquiry, place, self._trail(place), longest, MAX_OFFERED)
            for place, longest in _lengths(frontier, earlier)
        ]

    def _first_page(self, ways: list[CandidatePath], scores: list[float], order: list[int]) -> list[int]:
        page: list[int] = []
        for root in dict.fromkeys(self._trail(ways[i].start).root for i in order):
            mine = [i for i in order if self._trail(ways[i].start).root == root]
            near = [i for i in mine if scores[i] >= scores[mine[0]] - WORSE]
            page += self._with_beginnings(ways, near[: self._size(root, scores[mine[0]])], mine)
        # Nearest first over all that the question names: what a budget cuts, it cuts from the end.
        on_page = set(page[:MAX_OFFERED])
        return [i for i in order if i in on_page]

    def _size(self, root: str, best: float) -> int:
        paths = [trail.path for trail in self._trails.values() if trail.root == root]
        if self._generous:
            return SECOND_PAGE
        if not paths:
            return MOST_FIRST
        return 1 if self._ways.of_walked(self._inquiry, self._roots[root], paths).max() >= best else MOST_LATER

    def _with_beginnings(self, ways: list[CandidatePath], kept: list[int], mine: list[int]) -> list[int]:
        """Beside three steps stand the first two, which an answer may have to take something out of on the way."""
        position = {(ways[i].start.pseudonym, ways[i].path): i for i in mine}
        wanted = [(ways[i].start.pseudonym, ways[i].path[:2]) for i in kept if len(ways[i].path) > 2]
        return list(dict.fromkeys([*kept, *(position[each] for each in wanted if each in position)]))

    def _is_behind(self, way: CandidatePath) -> bool:
        """True where a walked path began with it: what is asked for lies further on, or elsewhere."""
        whole = (*self._trail(way.start).path, *way.path)
        return any(trail.path[: len(whole)] == whole for trail in self._trails.values())

    def _trail(self, place: NodeSet) -> PathPrefix:
        return self._trails.get(place.pseudonym) or PathPrefix(place.pseudonym)


def _lengths(frontier: list[NodeSet], earlier: list[NodeSet]) -> list[tuple[NodeSet, int]]:
    """The greatest length of ways from each place; from earlier ones a single step."""
    return [(place, MAX_LENGTH) for place in frontier] + [(place, 1) for place in earlier]
