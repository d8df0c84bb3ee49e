"""Ranks the candidate paths of one round by how well each covers the question's words, and lays them out on pages.

To save tokens, the model sees a page only if it chose nothing on the pages before. If prompts must not show which
relations a single thing has, the candidates are the paths of its kind (`kg_store.graph.traversal`).
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np

from app.language.protocol import PathRanking, ReadPaths, Scores
from app.language.readings import WordedPath
from app.llm.in_house import gains_of
from app.retriever.features import EntityProfile, Fact, RetrievalQuery
from app.retriever.retriever import Retriever
from app.strategies.base import StrategyInput
from app.strategies.retrieval import CandidatePath, NodeSet, labels_of, relation_words, utterances_of
from kg_store.graph.traversal import (
    ConceptScope,
    is_worked_out,
    leads_to_values,
    paths_of,
    reached,
    steps_from_each,
    tail_concept,
)
from kg_store.terms import Path, Schema
from kg_store.text.labels import worded

RETRIEVED: Final = 6
"""One of this many offered candidates is chosen by the trained retriever, the others by likeness to the question.

The retriever ranks better in dialogue and worse on plain questions. The share was chosen on the question sets in
docs/results.md, "Dialogue" (relations of a hub).
"""


class WaySelector(Protocol):
    """Chooses which candidates are offered if there are more than a prompt may show."""

    def chosen(self, inquiry: StrategyInput, ranked: Sequence[CandidatePath], most: int) -> list[int]:
        """Returns at most `most` positions in `ranked`, best first; `ranked` begins with the candidate most like the
        question."""
        ...


class NearestWays:
    """Chooses the candidates most like the question; needs no trained retriever."""

    def chosen(self, inquiry: StrategyInput, ranked: Sequence[CandidatePath], most: int) -> list[int]:  # noqa: ARG002
        return list(range(min(most, len(ranked))))


class RetrievedWays:
    """Chooses the candidates most like the question, except for one in `share`, which the trained retriever chooses.

    The retriever's choices come last. Promise: it reads only relation words and the dialogue with every pseudonym
    hidden, so the choice depends on the facts of a thing only through the candidates in `ranked`.
    """

    def __init__(self, retriever: Retriever, share: int = RETRIEVED) -> None:
        self._retriever, self._share = retriever, share

    def chosen(self, inquiry: StrategyInput, ranked: Sequence[CandidatePath], most: int) -> list[int]:
        nearest = range(min(most, len(ranked)))
        if len(ranked) <= most:
            return list(nearest)
        kept = most - most // self._share
        retrieved = [at for at in self._ranked(inquiry, ranked) if at >= kept]
        return list(dict.fromkeys([*nearest[:kept], *retrieved[: most - kept], *nearest]))[:most]

    def _ranked(self, inquiry: StrategyInput, ways: Sequence[CandidatePath]) -> list[int]:
        """Returns the positions in `ways` of the single steps from things that the dialogue names, best first."""
        said = {topic.pseudonym for topic in inquiry.dialogue.topics}
        steps = [at for at, way in enumerate(ways) if len(way.path) == 1 and way.start.pseudonym in said]
        scores = self._retriever.scores(_query(inquiry, [ways[at] for at in steps]))
        return [steps[at] for at in np.argsort(-scores, kind="stable")]


def _query(inquiry: StrategyInput, ways: Sequence[CandidatePath]) -> RetrievalQuery:
    """Returns a retriever query with one fact for each candidate step.

    Each fact leads to a new thing, of which the query says nothing else.
    """
    starts = list(dict.fromkeys(way.start.pseudonym for way in ways))
    told = [
        (starts.index(way.start.pseudonym), relation_words(inquiry.graph.schema, way.path[0]), way.path[0][0].inverse)
        for way in ways
    ]
    hubs = [
        EntityProfile(*(tuple(sorted({words for at, words, inverse in told if at == hub and inverse is against}))
                        for against in (False, True)))
        for hub in range(len(starts))
    ]  # fmt: skip
    ends = [EntityProfile((words,), ()) if inverse else EntityProfile((), (words,)) for _, words, inverse in told]
    facts = [
        Fact(end, words, hub) if inverse else Fact(hub, words, end)
        for end, (hub, words, inverse) in enumerate(told, start=len(hubs))
    ]
    history = utterances_of(inquiry.dialogue, {word: (at,) for at, word in enumerate(starts)})
    return RetrievalQuery(history, [*hubs, *ends], facts)


MAX_OFFERED = 60  # Candidates are numbered, and the guard lets only numbers up to 99 pass as public words.
MAX_COMPOSED_FROM = 2_000  # From a set with more members, only single steps are candidates; longer paths wait a round.


@dataclass(frozen=True, slots=True)
class CandidateList:
    """Candidate paths, and the number `cut` of those that ranked too low to be offered; the asker is told it."""

    ways: list[CandidatePath]
    cut: int


class CandidateFinder:
    """Finds all candidate paths from the frontier, and keeps the best MAX_OFFERED of them."""

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
        """Returns at most MAX_OFFERED candidates: single steps of the frontier first, then the others.

        Both groups are sorted by likeness to the question if they have to be cut.
        """
        if len(single) + len(further) <= MAX_OFFERED:
            return CandidateList([*single, *further], 0)
        nearest = self._ranked(single)
        kept = [nearest[at] for at in self._selector.chosen(self._inquiry, nearest, MAX_OFFERED)]
        kept += self._ranked(further)[: MAX_OFFERED - len(kept)]
        return CandidateList(kept, len(single) + len(further) - len(kept))

    def _ranked(self, ways: list[CandidatePath]) -> list[CandidatePath]:
        """Returns the candidates sorted by likeness to the question, best first."""
        schema = self._inquiry.graph.schema
        told = {step: (worded(schema, step), tail_concept(schema, step)) for way in ways for step in way.path}
        steps = [[told[step] for step in way.path] for way in ways]
        near = self._inquiry.language.paths.nearness(self._inquiry.asked, steps)
        if cases := self._inquiry.cases:
            near = near + gains_of(cases, [labels_of(self._inquiry, way.path) for way in ways], or_begins=True)
        return [ways[int(i)] for i in np.argsort(-near, kind="stable")]


EXTENDED: Final = 8
"""The number of the best shorter paths that are extended by one step if a kind has too many long paths to list. Chosen
by hand.
"""

MAX_CACHED: Final = 256
"""The greatest number of path lists, read and ready to be scored, in the cache. Chosen by hand."""


@dataclass(frozen=True, slots=True)
class PathPrefix:
    """The path along which a set was reached. `root`: the pseudonym from which the question starts."""

    root: str
    path: Path = ()


@dataclass(frozen=True, slots=True)
class RankedPaths:
    """Candidates with one score each, best first, and the number `cut` of those left out.

    A score is that of the whole path: from the thing where the question starts to the candidate's end.
    """

    ways: list[CandidatePath]
    scores: list[float]
    cut: int = 0


class PathRanker:
    """Ranks candidates by how well their whole paths, from where the question starts, cover the question's words.

    Thread-safe. It caches data of schemas, never of questions.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: OrderedDict[tuple[PathRanking, Schema, ConceptScope, int], ReadPaths] = OrderedDict()

    def from_place(
        self, inquiry: StrategyInput, place: NodeSet, trail: PathPrefix, longest: int, most: int
    ) -> RankedPaths:
        """Returns the `most` best candidates of at most `longest` steps, plus all single steps.

        They are the paths of the kind of `place`; `trail` is the path by which `place` was reached.
        """
        known = paths_of(inquiry.graph, place.kin, longest)
        if not known.paths:
            return RankedPaths([], [])
        read = self._read(inquiry, place.kin, longest, known.paths)
        paths, scores = known.paths, self._scores(inquiry, trail, read, known.paths)
        if known.whole < longest:
            paths, scores = self._gone_on(inquiry, place, trail, paths, scores)
        order = np.argsort(-scores, kind="stable").tolist()
        best = order[:most] + [i for i in order[most:] if len(paths[i]) == 1]
        return RankedPaths(
            [CandidatePath(place, paths[i]) for i in best], scores[best].tolist(), len(paths) - len(best)
        )

    def is_ready(self, inquiry: StrategyInput, place: NodeSet, longest: int) -> bool:
        """Returns True if `from_place` takes only milliseconds, because the paths of the place's kind are cached."""
        return (inquiry.language.paths, inquiry.graph.schema, place.kin, longest) in self._held and is_worked_out(
            inquiry.graph, place.kin, longest
        )

    def of_walked(self, inquiry: StrategyInput, root: NodeSet, paths: Sequence[Path]) -> Scores:
        """Returns how well each walked path from `root` covers the question; shape (paths,)."""
        if not paths:
            return np.zeros(0)
        read = inquiry.language.paths.read(_worded(inquiry.graph.schema, root.kin, paths))
        return self._scores(inquiry, PathPrefix(root.pseudonym), read, paths, is_answer=True)

    def _scores(
        self,
        inquiry: StrategyInput,
        trail: PathPrefix,
        read: ReadPaths,
        paths: Sequence[Path],
        *,
        is_answer: bool = False,
    ) -> Scores:
        """Returns the score of each path, raised if a case (an earlier answered question) has the same path.

        Unless `is_answer`, the score is also raised for a path that is only the beginning of a case's path. See
        `app.memory`.
        """
        asked = inquiry.language.read_form(inquiry.asked, topics=1).rest
        scores = read.scores(asked, trail.root, by_words=True)
        if not inquiry.cases:
            return scores
        wholes = [labels_of(inquiry, (*trail.path, *path)) for path in paths]
        gains = gains_of(inquiry.cases, wholes, or_begins=not is_answer)
        return scores + read.cosine_unit * gains

    def _gone_on(
        self, inquiry: StrategyInput, place: NodeSet, trail: PathPrefix, paths: tuple[Path, ...], scores: Scores
    ) -> tuple[tuple[Path, ...], Scores]:
        """Extends the EXTENDED best of the longest paths by one step; returns old and new paths with their scores."""
        longest = max(map(len, paths))
        best = [paths[i] for i in np.argsort(-scores, kind="stable").tolist() if len(paths[i]) == longest][:EXTENDED]
        steps = [paths_of(inquiry.graph, place.kin.along(path), 1).paths for path in best]
        further = [(*path, *step) for path, on in zip(best, steps, strict=True) for step in on]
        every = (*paths, *further)
        read = inquiry.language.paths.read(_worded(inquiry.graph.schema, place.kin, every))
        return every, self._scores(inquiry, trail, read, every)

    def _read(self, inquiry: StrategyInput, kin: ConceptScope, longest: int, paths: Sequence[Path]) -> ReadPaths:
        ranking, schema = inquiry.language.paths, inquiry.graph.schema
        key = ranking, schema, kin, longest
        with self._lock:
            if found := self._held.get(key):
                self._held.move_to_end(key)
                return found
        found = ranking.read(_worded(schema, kin, paths))
        with self._lock:
            self._held[key] = found
            while len(self._held) > MAX_CACHED:
                self._held.popitem(last=False)
        return found


def _worded(schema: Schema, kin: ConceptScope, paths: Sequence[Path]) -> list[WordedPath]:
    wholes = [(*kin.path, *path) for path in paths]
    steps = {step: (worded(schema, step), tail_concept(schema, step)) for whole in wholes for step in whole}
    told = [[steps[step] for step in whole] for whole in wholes]
    return [WordedPath(tuple(label for label, _ in way), tuple(concept for _, concept in way)) for way in told]


# A candidate has at most MAX_LENGTH steps; a second page holds at most SECOND_PAGE candidates. Chosen by hand.
MAX_LENGTH = 3
SECOND_PAGE = 12
# The first page holds, for each starting thing, at most MAX_FIRST candidates that score at most WORSE less than the
# best one. Once a path was walked, it holds MAX_LATER of them, and only one if a walked path covers the question at
# least as well. Chosen by hand; docs/results.md has their recall.
MAX_FIRST, MAX_LATER = 4, 2
WORSE = 0.75


@dataclass(frozen=True, slots=True)
class CandidatePages:
    """Candidates in pages. A page is shown only if nothing was chosen on the pages before it.

    `cut`: the number of candidates that are on no page.
    """

    pages: tuple[tuple[CandidatePath, ...], ...]
    cut: int = 0

    def behind(self, page: int) -> int:
        """Returns the number of candidates on the pages after page number `page` (from 0)."""
        return sum(len(each) for each in self.pages[page + 1 :])


class Paginator:
    """Lays out the candidates of one question in pages.

    `trails`: for each set, by its pseudonym, the path by which it was reached. `roots`: the sets from which the
    question starts. `generous`: a later page was needed in an earlier round, so first pages hold SECOND_PAGE
    candidates.
    """

    def __init__(
        self,
        inquiry: StrategyInput,
        ways: PathRanker,
        selector: WaySelector,
        roots: Mapping[str, NodeSet],
        trails: Mapping[str, PathPrefix],
        generous: bool = False,
    ) -> None:
        self._inquiry, self._ways, self._roots, self._trails = inquiry, ways, roots, trails
        self._selector, self._generous = selector, generous

    def is_ready(self, frontier: list[NodeSet], earlier: list[NodeSet]) -> bool:
        """Returns True if `of` will take only milliseconds for these sets."""
        return all(self._ways.is_ready(self._inquiry, *each) for each in _lengths(frontier, earlier))

    def of(
        self, frontier: list[NodeSet], earlier: list[NodeSet], walked: Collection[tuple[str, Path]]
    ) -> CandidatePages:
        """Returns the pages; the first one holds the best candidates for each thing that the question starts from.

        `walked`: candidates already followed; they are not offered again.
        """
        found = [
            self._ways.from_place(self._inquiry, place, self._trail(place), longest, MAX_OFFERED)
            for place, longest in _lengths(frontier, earlier)
        ]
        ways, scores = [way for each in found for way in each.ways], [s for each in found for s in each.scores]
        fresh = [i for i, way in enumerate(ways) if (way.start.pseudonym, way.path) not in walked]
        order = sorted(fresh, key=lambda i: (self._is_behind(ways[i]), -scores[i]))
        first = self._first_page(ways, scores, order)
        rest = [i for i in order if i not in set(first)]
        # Single steps come right after the best SECOND_PAGE, so that any path can be followed step by step.
        rest[SECOND_PAGE:] = sorted(rest[SECOND_PAGE:], key=lambda i: len(ways[i].path) > 1)
        border = max(0, MAX_OFFERED - len(first))
        # Later rounds have no third page, which saves calls: three hops take at most four, except for detours.
        second = border if self._trails else min(border, SECOND_PAGE)
        chosen = self._selector.chosen(self._inquiry, [ways[i] for i in rest], border)
        offered = [rest[at] for at in chosen]
        parts = (first, offered[:second], offered[second:])
        cut = len(rest) - len(offered) + sum(each.cut for each in found)
        return CandidatePages(tuple(tuple(ways[i] for i in part) for part in parts if part), cut)

    def _first_page(self, ways: list[CandidatePath], scores: list[float], order: list[int]) -> list[int]:
        page: list[int] = []
        for root in dict.fromkeys(self._trail(ways[i].start).root for i in order):
            mine = [i for i in order if self._trail(ways[i].start).root == root]
            near = [i for i in mine if scores[i] >= scores[mine[0]] - WORSE]
            page += self._with_beginnings(ways, near[: self._size(root, scores[mine[0]])], mine)
        # Sorted best first over all starting things, because the token budget cuts candidates from the end.
        on_page = set(page[:MAX_OFFERED])
        return [i for i in order if i in on_page]

    def _size(self, root: str, best: float) -> int:
        paths = [trail.path for trail in self._trails.values() if trail.root == root]
        if self._generous:
            return SECOND_PAGE
        if not paths:
            return MAX_FIRST
        return 1 if self._ways.of_walked(self._inquiry, self._roots[root], paths).max() >= best else MAX_LATER

    def _with_beginnings(self, ways: list[CandidatePath], kept: list[int], mine: list[int]) -> list[int]:
        """Returns `kept` plus, for each path of three steps, the path of its first two.

        An answer may need that middle set, for example to leave something out of it.
        """
        position = {(ways[i].start.pseudonym, ways[i].path): i for i in mine}
        wanted = [(ways[i].start.pseudonym, ways[i].path[:2]) for i in kept if len(ways[i].path) > 2]
        return list(dict.fromkeys([*kept, *(position[each] for each in wanted if each in position)]))

    def _is_behind(self, way: CandidatePath) -> bool:
        """Returns True if a walked path begins with this candidate, so the answer must lie further on or elsewhere."""
        whole = (*self._trail(way.start).path, *way.path)
        return any(trail.path[: len(whole)] == whole for trail in self._trails.values())

    def _trail(self, place: NodeSet) -> PathPrefix:
        return self._trails.get(place.pseudonym) or PathPrefix(place.pseudonym)


def _lengths(frontier: list[NodeSet], earlier: list[NodeSet]) -> list[tuple[NodeSet, int]]:
    """Returns each set with the most steps that a path offered from it may have.

    That is MAX_LENGTH for sets of the frontier, and one for earlier sets.
    """
    return [(place, MAX_LENGTH) for place in frontier] + [(place, 1) for place in earlier]
