"""Shelf: the ways on of one round, nearest first, shown page by page to a model that is paid by tokens."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from app.llm.coverage import Scores, coverage
from app.llm.embedder import Embedder
from app.strategies.base import Inquiry
from app.strategies.retrieval import Place, WayOn
from app.strategies.sets.ways import MAX_OFFERED, WaysOn
from kg_store.terms import Path
from kg_store.walking import tail_concept

EXTENDED = 8  # so many of the best paths of two are offered with a third step too
SECOND_PAGE = 12
# A first page holds ways that score little less than the best; three steps only where they cover more than two.
_MOST_FIRST = 12
_WORSE = {1: 0.5, 2: 0.5, 3: 0.2}


@dataclass(frozen=True, slots=True)
class Trail:
    """How a place was reached: from where the question sets out, along `path`."""

    root: str
    path: Path


@dataclass(frozen=True, slots=True)
class Shelf:
    """A page is shown where no way of those before it fits. `cut`: how many ways no page holds."""

    pages: tuple[tuple[WayOn, ...], ...]
    cut: int = 0

    def behind(self, page: int) -> int:
        """How many ways on the pages after `page` hold."""
        return sum(len(each) for each in self.pages[page + 1 :])


class Shelves:
    """Ranks ways on by how well the whole path, from where the question sets out, covers the question."""

    def __init__(
        self, inquiry: Inquiry, embedder: Embedder, trails: Mapping[str, Trail], generous: bool = False
    ) -> None:
        """`generous`: a first page did not hold what was needed, so the next ones hold the most."""
        self._inquiry, self._embedder, self._trails = inquiry, embedder, trails
        self._generous = generous

    def of(self, frontier: list[Place], earlier: list[Place], walked: Collection[tuple[str, Path]]) -> Shelf:
        """The first page holds the nearest ways from each thing that the question sets out from."""
        ways, scores = self._all(frontier, earlier)
        fresh = [i for i, way in enumerate(ways) if (way.start.pseudonym, way.path) not in walked]
        ranked = sorted(fresh, key=lambda i: (self._is_behind(ways[i]), -scores[i]))
        first = self._first_page(ways, scores, ranked)
        rest = [i for i in ranked if i not in set(first)]
        border = max(0, MAX_OFFERED - len(first))
        # Later rounds have no third page: three hops take four calls at most, but for a long way round.
        second = border if self._trails else min(border, SECOND_PAGE)
        parts = (first, rest[:second], rest[second:border])
        return Shelf(tuple(tuple(ways[i] for i in part) for part in parts if part), max(0, len(rest) - border))

    def _all(self, frontier: list[Place], earlier: list[Place]) -> tuple[list[WayOn], Scores]:
        found = WaysOn(self._inquiry, self._embedder)
        single = found.single(frontier)
        pairs = found.longer(single)
        best = [pairs[i] for i in np.argsort(-self._scores(pairs), kind="stable")[:EXTENDED]]
        ways = [*single, *pairs, *found.longer(best), *found.single(earlier)]
        return ways, self._scores(ways)

    def _first_page(self, ways: Sequence[WayOn], scores: Scores, ranked: list[int]) -> list[int]:
        page: list[int] = []
        for root in dict.fromkeys(self._root(ways[i]) for i in ranked):
            mine = [i for i in ranked if self._root(ways[i]) == root]
            walked = self._scores_of(root, [trail.path for trail in self._trails.values() if trail.root == root])
            short = sum(len(ways[i].path) < 3 for i in mine)
            size = _size(short, len(walked) > 0, max(walked, default=-np.inf) >= scores[mine[0]])
            near = [i for i in mine if scores[i] >= scores[mine[0]] - _WORSE[len(ways[i].path)]]
            shown = mine[:_MOST_FIRST] if self._generous else near[:size]
            page += self._with_beginnings(ways, shown, mine)
        # Nearest first over all that the question names: what a budget cuts, it cuts from the end.
        on_page = set(page[:MAX_OFFERED])
        return [i for i in ranked if i in on_page]

    def _with_beginnings(self, ways: Sequence[WayOn], kept: list[int], mine: list[int]) -> list[int]:
        """Beside three steps stand the first two, which an answer may have to take something out of on the way; and
        the best single step, where nothing was walked: one step too many can't be undone."""
        position = {(ways[i].start.pseudonym, ways[i].path): i for i in mine}
        wanted = [(ways[i].start.pseudonym, ways[i].path[:2]) for i in kept if len(ways[i].path) > 2]
        if not self._trails:
            wanted += [(ways[i].start.pseudonym, ways[i].path) for i in mine if len(ways[i].path) == 1][:1]
        return list(dict.fromkeys([*kept, *(position[each] for each in wanted if each in position)]))

    def _is_behind(self, way: WayOn) -> bool:
        """Whether a walked path began with it: what is asked for lies further on, or elsewhere."""
        whole = self._whole(way)
        return any(trail.path[: len(whole)] == whole for trail in self._trails.values())

    def _root(self, way: WayOn) -> str:
        trail = self._trails.get(way.start.pseudonym)
        return trail.root if trail else way.start.pseudonym

    def _whole(self, way: WayOn) -> Path:
        trail = self._trails.get(way.start.pseudonym)
        return (*(trail.path if trail else ()), *way.path)

    def _scores(self, ways: Sequence[WayOn]) -> Scores:
        scores = np.zeros(len(ways))
        for root in dict.fromkeys(self._root(way) for way in ways):
            mine = [i for i, way in enumerate(ways) if self._root(way) == root]
            scores[mine] = self._scores_of(root, [self._whole(ways[i]) for i in mine])
        return scores

    def _scores_of(self, root: str, paths: Sequence[Path]) -> Scores:
        schema = self._inquiry.graph.schema
        steps = {step for path in paths for step in path}
        worded = {step: (schema.described(step), tail_concept(schema, step)) for step in steps}
        ways = [[worded[step] for step in path] for path in paths]
        return coverage(self._embedder, self._inquiry.dialogue.question, root, ways)


def _size(ways: int, has_walked: bool, covered: bool) -> int:
    """How many of `ways` a first page holds at most: few once something was walked, fewest where that covers best.

    Its recall is measured in docs/evaluation.md.
    """
    if not has_walked:
        return min(_MOST_FIRST, 3 + ways // 5)
    return 1 if covered else min(_MOST_FIRST, 2 + ways // 16)
