"""Orders the single steps from the things that a question names by a vote over the things that they lead to.

Each step votes for all its tails, with a weight that grows with how well the step covers the question.
Promise: only the embedded reasoner uses these steps, which are those of single things; no model's prompt shows them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from app.llm.confidence import confidence_of
from app.llm.in_house import ReadingScores, VotedPaths
from app.strategies.base import StrategyInput
from app.strategies.retrieval import CandidatePath, NodeSet, labels_of
from app.strategies.sets.candidates import MAX_OFFERED, CandidatePages, PathRanker
from app.strategies.sets.times import TimedPaths
from app.strategies.start import is_wide
from kg_store.graph.blind_graph import BlindGraph
from kg_store.graph.traversal import named_of, reached, steps_from_each
from kg_store.terms import Mids, NodeKind, as_mids

TEMPERATURE: Final = 0.2
"""The temperature of the softmax that turns path scores into weights; docs/performance.md says how it was chosen."""
_EQUAL: Final = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class ScoredWay:
    """A candidate path, its score, and the things with a name that it leads to (`members`)."""

    way: CandidatePath
    score: float
    members: Mids


@dataclass(frozen=True, slots=True, eq=False)
class EntityVote:
    """The result of a vote over things.

    `mids`: the things, ascending. `weights`: for each of them, the sum of the chances (softmax of the scores) of the
    paths that lead to it. `holds`: for each path, True if it leads to a winner, a thing of the greatest weight.
    `share`: the winner's weight. `margin`: its lead over the best thing that its path does not lead to.
    """

    mids: Mids
    weights: npt.NDArray[np.floating[Any]]
    holds: tuple[bool, ...]
    share: float
    margin: float

    def in_order(self, mids: Mids) -> Mids:
        """Returns `mids` sorted by falling weight; things that no path reaches come last."""
        place = np.searchsorted(self.mids, mids).clip(max=max(0, len(self.mids) - 1))
        weight = (
            np.where(self.mids[place] == mids, self.weights[place], 0.0) if len(self.mids) else np.zeros(len(mids))
        )
        return mids[np.argsort(-weight.round(9), kind="stable")]


def vote(ways: Sequence[ScoredWay]) -> EntityVote:
    """Returns the result of the vote of `ways`: at least one, each with at least one member."""
    scores = np.array([each.score for each in ways])
    chances = np.exp((scores - scores.max()) / TEMPERATURE)
    chances /= chances.sum()
    lengths = np.array([len(each.members) for each in ways])
    mids, position = np.unique(np.concatenate([each.members for each in ways]), return_inverse=True)
    weights = np.bincount(position, np.repeat(chances, lengths), len(mids)).astype(float)
    highest = float(weights.max())
    wins = weights >= highest - _EQUAL
    holds = np.logical_or.reduceat(wins[position], np.cumsum(lengths) - lengths).tolist()
    best = next(each for each, held in zip(ways, holds, strict=True) if held)
    others = weights[~np.isin(mids, best.members, assume_unique=True)]
    return EntityVote(mids, weights, tuple(holds), highest, highest - float(others.max(initial=0.0)))


def sorted_by(sorting: Sequence[ScoredWay], ways: Sequence[ScoredWay]) -> list[ScoredWay]:
    """Returns the paths of `ways` that share members with a path of `sorting`, narrowed to the shared members.

    For "lawyers born in a town", `sorting` leads to the lawyers and `ways` to those born in the town.
    """
    if not sorting:
        return []
    known = np.unique(np.concatenate([each.members for each in sorting]))
    narrowed = (replace(each, members=np.intersect1d(each.members, known)) for each in ways)
    return [each for each in narrowed if len(each.members)]


def sorter_of(sorting: Sequence[ScoredWay], way: ScoredWay) -> ScoredWay:
    """Returns the path of `sorting` that shares most members with `way`; if several do, the one of highest score."""
    return max(sorting, key=lambda each: (len(np.intersect1d(each.members, way.members)), each.score))


MAX_NARROWED: Final = 20
"""The greatest number of candidates whose dates are read, best first. Chosen by hand; not fitted."""
MAX_BEHIND: Final = 0.2
"""A candidate with fitting dates may score this much less than the best one. Chosen by hand; not fitted."""
MAX_STARTS: Final = 2_000
"""The greatest number of things with one name whose own steps are voted on; if there are more, no vote is held.
Chosen by hand; not fitted."""

MIN_SURE: Final = 0.9
"""The least confidence of the winner with which paths of several steps are not tried. Chosen by hand; not fitted."""


def may_vote(inquiry: StrategyInput, places: Sequence[NodeSet]) -> bool:
    """Returns True if the single steps from `places` are voted on: no model is asked, and the schema is wide.

    A wide schema has many relations, but each thing has few of them; so the steps of a thing are found faster than
    those of its kind. Each place must be a thing that the question names.
    """
    named = [place for place in places if len(place.mids) and not place.reached]
    return (
        is_wide(inquiry.graph.schema)
        and not inquiry.reasoner.is_model
        and 0 < len(named) == len(places)
        and all(place.kind is not NodeKind.MEDIATOR and len(place.mids) <= MAX_STARTS for place in named)
    )


class WalkedWay(NamedTuple):
    """A candidate path, and the things with a name that it leads to (`members`)."""

    way: CandidatePath
    members: Mids


@dataclass(frozen=True, slots=True, eq=False)
class VotedWays:
    """The candidate paths of one question with the result of their vote; `vote` is None if there are no candidates.

    `sorting`: the path to things of the asked kind, if the question narrows its answer to a kind ("lawyers born in").
    """

    ways: tuple[ScoredWay, ...] = ()
    vote: EntityVote | None = None
    sorting: CandidatePath | None = None

    @classmethod
    def of(
        cls, inquiry: StrategyInput, ranker: PathRanker, walked: Sequence[WalkedWay], timed: TimedPaths | None = None
    ) -> VotedWays:
        """Holds the vote over the `walked` paths. `timed`: if given, the paths are narrowed to the asked time."""
        ways = _scored(inquiry, ranker, walked)
        kinds = {topic.pseudonym for topic in inquiry.dialogue.topics if topic.sorts}
        sorting = [each for each in ways if each.way.start.pseudonym in kinds]
        held = sorted_by(sorting, [each for each in ways if each.way.start.pseudonym not in kinds])
        sorts = bool(held)
        if timed is not None:
            held = _in_time(inquiry, held or ways, timed)
        elif not sorts:
            held = ways
        if not held:
            return cls()
        voted = vote(held)
        if not sorts:
            return cls(tuple(held), voted)
        best = next(each for each, holds in zip(held, voted.holds, strict=True) if holds)
        chosen = sorter_of(sorting, best)
        return cls((*held, chosen), replace(voted, holds=(*voted.holds, True)), chosen.way)

    @property
    def is_unsure(self) -> bool:
        """True if the winner's confidence is below MIN_SURE, so that the question may ask for more than one step."""
        if self.vote is None:
            return True
        best = next(each for each, holds in zip(self.ways, self.vote.holds, strict=True) if holds)
        scores = ReadingScores("vote", best.score, self.vote.margin, steps=1, share=self.vote.share)
        return confidence_of(scores, doubtful_names=False) < MIN_SURE

    @property
    def page(self) -> CandidatePages:
        """All candidates on one page of at most MAX_OFFERED, those that lead to the winner first."""
        holds = self.vote.holds if self.vote else ()
        ranked = sorted(zip(holds, self.ways, strict=True), key=lambda each: not each[0])
        ways = tuple(each.way for _, each in ranked)
        return CandidatePages((ways[:MAX_OFFERED],), len(ways[MAX_OFFERED:]))

    @property
    def in_order(self) -> Callable[[Mids], Mids] | None:
        """A function that sorts things by their weight in the vote; None without a vote."""
        return self.vote.in_order if self.vote else None

    def shown(self, inquiry: StrategyInput) -> VotedPaths | None:
        """Returns the vote for the embedded reasoner, in pseudonyms, relation labels and numbers; None without one."""
        if self.vote is None:
            return None
        held = [each.way for each, holds in zip(self.ways, self.vote.holds, strict=True) if holds]
        paths = frozenset((way.start.pseudonym, *labels_of(inquiry, way.path)) for way in held)
        sorting = (self.sorting.start.pseudonym, *labels_of(inquiry, self.sorting.path)) if self.sorting else ()
        return VotedPaths(paths=paths, share=self.vote.share, margin=self.vote.margin, sorting=sorting)


def walked_ways(graph: BlindGraph, places: Sequence[NodeSet]) -> list[WalkedWay]:
    """Returns every single step from `places` that leads to something with a name, other than the named things."""
    named = np.unique(np.concatenate([place.mids for place in places]))
    found: list[WalkedWay] = []
    for place, steps in zip(places, steps_from_each(graph, [place.mids for place in places]), strict=True):
        for step in steps:
            ends = named_of(graph, reached(graph, place.mids, (step,)))
            others = ends[ends != named[0]] if len(named) == 1 else np.setdiff1d(ends, named, assume_unique=True)
            if len(others):
                found.append(WalkedWay(CandidatePath(place, (step,)), others))
    return found


def _scored(inquiry: StrategyInput, ranker: PathRanker, walked: Sequence[WalkedWay]) -> list[ScoredWay]:
    found: list[ScoredWay] = []
    for place, group in groupby(walked, key=lambda each: each.way.start):
        ways = list(group)
        scores = ranker.of_walked(inquiry, place, [each.way.path for each in ways])
        found += [ScoredWay(each.way, float(score), each.members) for each, score in zip(ways, scores, strict=True)]
    return sorted(found, key=lambda each: -each.score)


def _in_time(inquiry: StrategyInput, ways: list[ScoredWay], timed: TimedPaths) -> list[ScoredWay]:
    """Returns the candidates that lead to the winner of the vote, narrowed to the asked time.

    If none of these has fitting dates and the question states no time, all candidates are returned as they are. If it
    states one, the candidates that score at most MAX_BEHIND less than the best are narrowed and returned, maybe none.
    """
    if not ways:
        return ways
    holds = vote(ways).holds
    found = _narrowed(inquiry, [each for each, is_held in zip(ways, holds, strict=True) if is_held], timed)
    if found or not timed.asked.is_stated:
        return found or ways
    return _narrowed(inquiry, [each for each in ways if each.score >= ways[0].score - MAX_BEHIND], timed)


def _narrowed(inquiry: StrategyInput, ways: Sequence[ScoredWay], timed: TimedPaths) -> list[ScoredWay]:
    found: list[ScoredWay] = []
    for each in ways[:MAX_NARROWED]:
        narrowed = timed.narrowed(each.way.start.pseudonym, labels_of(inquiry, each.way.path))
        members = np.intersect1d(each.members, narrowed.mids) if narrowed is not None else ()
        if len(members):
            found.append(replace(each, members=as_mids(members)))
    return found
