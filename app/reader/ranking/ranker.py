"""Chooses among the readings of a question by a fitted formula, which also knows how likely none of them is right.

Each reading has a utility, the weighted sum of its features; "none of these" has the utility 0. The chance of a
reading is its share of the exponentials (a conditional logit, McFadden 1974). `arog train ranker` fits the weights.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from app.llm.confidence import is_likely
from app.llm.tasks import StepInput
from app.reader.meaning.read_meaning import read_meaning
from app.reader.ranking.candidates import candidates_of
from app.reader.ranking.features import features_of
from app.reader.scoring.path_scoring import PathScorer

WEIGHTS: Final = Path(__file__).with_name("weights.toml")
MIN_CHANCE, MAX_LIKELY = 0.15, 3
"""The least chance of a reading that is offered, and the greatest number of them. Chosen by hand on graphs that were
left out of the fit: of 378 questions that were not read surely 228 had such a reading, and for 107 of these one of the
first two was right (of 156 with a right reading at all).
"""


@dataclass(frozen=True, slots=True)
class FittedRanker:
    """The ranker with the weights in the box, or with others."""

    weights: Mapping[str, float]
    bias: float

    @classmethod
    @cache
    def boxed(cls) -> FittedRanker:
        """Reads the weights in the box."""
        told = tomllib.loads(WEIGHTS.read_text("utf-8"))
        return cls(told["weights"], told["bias"])

    def chances(self, features: Sequence[Mapping[str, float]]) -> list[float]:
        """Returns the chance (0 to 1) of each reading by its features; together they are at most 1."""
        utilities = [
            self.bias + sum(self.weights.get(name, 0.0) * value for name, value in each.items()) for each in features
        ]
        most = max([0.0, *utilities])
        odds = [math.exp(each - most) for each in utilities]
        total = math.exp(-most) + sum(odds)
        return [each / total for each in odds]


def likely_readings(scorer: PathScorer, given: StepInput, ranker: FittedRanker | None = None) -> tuple[str, ...]:
    """Returns the expressions of the likeliest readings, at most MAX_LIKELY; empty if none is likely enough."""
    candidates, read = candidates_of(scorer, given), read_meaning(scorer, given)
    sure = read.meaning.expression if read is not None and read.is_sure and is_likely(read.scores) else ""
    chances = (ranker or FittedRanker.boxed()).chances(features_of(scorer, candidates, sure))
    ranked = sorted(zip(chances, range(len(candidates)), strict=True), key=lambda each: (-each[0], each[1]))
    return tuple(candidates[at].meaning.expression for chance, at in ranked[:MAX_LIKELY] if chance >= MIN_CHANCE)
