"""Votes over things: each path gives its weight to everything it reaches, so a thing that many likely paths reach
wins.

p(path) = softmax(score / TEMPERATURE), over the paths from all things that the question names. Votes are counted by
ids inside the service; the reasoner sees which paths hold the winner, and no id.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from app.strategies.retrieval import CandidatePath
from kg_store.terms import Mids

TEMPERATURE: Final = 0.2
"""The temperature of the softmax, in units of a path's score; docs/performance.md says how it was chosen."""
_EQUAL: Final = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class ScoredWay:
    """A candidate, its score, and the named things that it leads to."""

    way: CandidatePath
    score: float
    members: Mids


@dataclass(frozen=True, slots=True, eq=False)
class EntityVote:
    """The result of a vote: `mids`, ascending, with their `weights`; the weights of one path add up to its chance.

    `holds`: which paths lead to the winner. `share`: the winner's weight. `margin`: its lead over the next thing that
    another path would answer with.
    """

    mids: Mids
    weights: npt.NDArray[np.floating[Any]]
    holds: tuple[bool, ...]
    share: float
    margin: float

    def in_order(self, mids: Mids) -> Mids:
        """`mids` by falling weight; things that no path reaches come last."""
        place = np.searchsorted(self.mids, mids).clip(max=max(0, len(self.mids) - 1))
        weight = (
            np.where(self.mids[place] == mids, self.weights[place], 0.0) if len(self.mids) else np.zeros(len(mids))
        )
        return mids[np.argsort(-weight.round(9), kind="stable")]


def vote(ways: Sequence[ScoredWay]) -> EntityVote:
    """Counts the votes of `ways`: at least one, each with at least one member."""
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
    """Returns those of `ways` that share members with `sorting`, narrowed to these: of those born in a town, the
    lawyers.
    """
    if not sorting:
        return []
    known = np.unique(np.concatenate([each.members for each in sorting]))
    narrowed = (replace(each, members=np.intersect1d(each.members, known)) for each in ways)
    return [each for each in narrowed if len(each.members)]


def sorter_of(sorting: Sequence[ScoredWay], way: ScoredWay) -> ScoredWay:
    """Returns the one of `sorting` that shares most members with `way`; of equals the likeliest."""
    return max(sorting, key=lambda each: (len(np.intersect1d(each.members, way.members)), each.score))
