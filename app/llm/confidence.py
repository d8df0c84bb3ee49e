"""The confidence of an answer: the chance that it is right, by the scores of the reading that it follows.

A logistic formula for each road; `arog eval confidence` fits its coefficients to questions whose answers are known.
Promise: it is worked out from scores and counts alone; no word of the question or of the graph goes in. Limit: it
holds for questions like those that it was fitted to.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from app.llm.in_house import ReadingScores

COEFFICIENTS: Final = Path(__file__).with_name("confidence.toml")
INTERCEPT: Final = "intercept"
MIN_CONFIDENCE, MAX_CONFIDENCE = 0.01, 0.99
"""Nothing is known for certain."""
MAX_SILENT, MAX_STEPS = 3, 6
MIN_SCORE, MAX_SCORE = -1.0, 5.0
MIN_LIKELY, MIN_OF_SAID, MIN_VOTED = 0.75, 0.7, 0.15
"""Below it a question is asked back, and not answered; of readings whose every step the question's words say outright
the second. The third is of votes, in graphs of so many relations that a question seldom says the right one's words."""


def features_of(scores: ReadingScores, *, doubtful_names: bool) -> dict[str, float]:
    """The figures that the formula weighs. `doubtful_names`: a name was read that is spelt otherwise, or is shared."""
    found = {"margin": min(1.0, max(0.0, scores.margin)), "doubtful_names": float(doubtful_names)}
    if scores.road != "meaning":
        found |= {"score": min(1.0, max(-1.0, scores.score))}
        return found | ({"share": scores.share} if scores.road == "vote" else {})
    in_context = scores.likeness > 0
    found |= {"weakest": min(1.0, scores.weakest), "silent": float(min(MAX_SILENT, scores.silent))}
    found |= {"score": min(MAX_SCORE, max(MIN_SCORE, scores.score)), "steps": float(min(MAX_STEPS, scores.steps))}
    # Where single words did not decide, their margin is none, and the whole question's is another measure.
    found |= {"in_context": float(in_context), "likeness": scores.likeness}
    return found | ({"margin": 0.0} if in_context else {})


def confidence_of(scores: ReadingScores, *, doubtful_names: bool) -> float:
    """Between 0.01 and 0.99, to two places."""
    return chance(features_of(scores, doubtful_names=doubtful_names), weights_of(scores.road))


def is_likely(scores: ReadingScores) -> bool:
    """True where a reading with these scores is right often enough to be answered."""
    if scores.road == "vote":
        return confidence_of(scores, doubtful_names=False) >= MIN_VOTED
    is_said = scores.road == "meaning" and not (scores.silent or scores.likeness) and scores.weakest >= 1
    return confidence_of(scores, doubtful_names=False) >= (MIN_OF_SAID if is_said else MIN_LIKELY)


def chance(features: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """The logistic function of the weighted sum, rounded; a figure without a weight counts for nothing."""
    total = weights[INTERCEPT] + sum(weights.get(name, 0.0) * value for name, value in features.items())
    # By its half that can't overflow.
    odds = math.exp(-abs(total))
    return as_confidence((1.0 if total >= 0 else odds) / (1 + odds))


def as_confidence(share: float) -> float:
    return round(min(MAX_CONFIDENCE, max(MIN_CONFIDENCE, share)), 2)


def weights_of(road: str) -> Mapping[str, float]:
    """The coefficients of one road, by the names of its figures."""
    return _coefficients()[road]


@cache
def _coefficients() -> dict[str, dict[str, float]]:
    return tomllib.loads(COEFFICIENTS.read_text("utf-8"))
