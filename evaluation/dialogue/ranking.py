"""Mean reciprocal rank and Hits@k of the first gold fact, where facts of one score stand in a random order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

CUTS: Final = (1, 3, 5, 10, 100)
# Scores that differ by rounding alone are the same: the order of the candidates must not matter.
_PLACES = 5


@dataclass(frozen=True, slots=True)
class RankingFigures:
    """Means over `turns`, between 0 and 1; `hits` in the order of CUTS."""

    turns: int
    mrr: float
    hits: tuple[float, ...]


def figures(scores: Sequence[npt.NDArray[np.floating[Any]]], gold: Sequence[npt.NDArray[np.bool_]]) -> RankingFigures:
    """One array of scores a turn, higher is better; every turn has a gold fact."""
    rows = np.array([_expected(each, right) for each, right in zip(scores, gold, strict=True)])
    means = rows.mean(axis=0)
    return RankingFigures(len(rows), float(means[0]), tuple(float(mean) for mean in means[1:]))


def _expected(scores: npt.NDArray[np.floating[Any]], gold: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """Reciprocal rank and hits of the best-placed gold fact, in expectation over the orders of equal scores."""
    scores = np.round(scores, _PLACES)
    best = scores[gold].max()
    above, equal = int((scores > best).sum()), int((scores == best).sum())
    right = int(((scores == best) & gold).sum())
    result = np.zeros(1 + len(CUTS))
    none_yet = 1.0
    for place in range(equal - right + 1):
        here = none_yet * right / (equal - place)
        rank = above + place + 1
        result += here * np.array([1 / rank, *(float(rank <= cut) for cut in CUTS)])
        none_yet -= here
    return result
