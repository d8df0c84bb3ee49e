"""Computes the confidence of an answer: the chance that it is right, from the scores of the reading behind it.

Each way of reading a question has its own logistic formula; `arog eval confidence` fits the coefficients to questions
with known answers. Promise: only scores and counts go in, no word of the question or of the graph. Limit: the chance
holds for questions like those that the formula was fitted to.
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
MAX_LEAD = 0.3
"""A greater lead over the next reading, in units of a cosine, counts as this much."""
MIN_CONFIDENCE, MAX_CONFIDENCE = 0.01, 0.99
"""Confidence is never reported as 0 or 1, because nothing is certain."""
MAX_SILENT, MAX_STEPS = 3, 6
"""Counts above these count as these."""
MIN_SCORE, MAX_SCORE = -1.0, 5.0
MIN_LIKELY, MIN_OF_WHOLE, MIN_VOTED = 0.86, 0.77, 0.15
"""The least confidence with which the service answers; below it, it asks back instead.

MIN_LIKELY applies in general, MIN_OF_WHOLE if the whole question was compared with readings, and MIN_VOTED to votes:
on graphs with very many relations, a question rarely uses the words of the right one. Chosen by hand on the questions
of `arog eval confidence`.
"""


BY_HAND: Final[Mapping[str, Mapping[str, float]]] = {
    "other": {"intercept": 2.2, "silent": -0.7},
    "ranked": {"intercept": 0.0, "logit": 1.0, "doubtful_names": -0.7},
}
"""Coefficients that are not fitted here. Questions in other languages: no answer to the seen half of `arog eval
languages` was wrong; by hand, and lower where a step was not said. A ranked reading has its chance already."""


def features_of(scores: ReadingScores, *, doubtful_names: bool) -> dict[str, float]:
    """Returns the numbers that the formula weighs, by name.

    `doubtful_names`: a name in the question was misspelt, or several things share it.
    """
    found = {"margin": min(1.0, max(0.0, scores.margin)), "doubtful_names": float(doubtful_names)}
    if scores.road == "ranked":
        share = min(MAX_CONFIDENCE, max(MIN_CONFIDENCE, scores.share))
        return {"logit": math.log(share / (1 - share)), "doubtful_names": found["doubtful_names"]}
    if scores.road == "other":
        return {"silent": float(min(MAX_SILENT, scores.silent)), "doubtful_names": found["doubtful_names"]}
    if scores.road == "whole":
        return found | {
            "margin": min(MAX_LEAD, found["margin"]),
            "likeness": scores.likeness,
            "pull": scores.pull,
            "fits": float(scores.fits),
            "accounted": float(scores.accounted),
            "steps": float(min(MAX_STEPS, scores.steps)),
        }
    if scores.road != "meaning":
        found |= {"score": min(1.0, max(-1.0, scores.score))}
        return found | ({"share": scores.share} if scores.road == "vote" else {})
    # Each step counts the same, so that a long question is no more doubtful than a short one.
    score = scores.score / max(1, scores.steps)
    return found | {"weakest": min(1.0, scores.weakest), "score": min(MAX_SCORE, max(MIN_SCORE, score))}


def confidence_of(scores: ReadingScores, *, doubtful_names: bool) -> float:
    """Returns the confidence of an answer by its reading's scores, from 0.01 to 0.99, rounded to two places."""
    return chance(features_of(scores, doubtful_names=doubtful_names), weights_of(scores.road))


def is_likely(scores: ReadingScores) -> bool:
    """Returns True if readings with such scores are right often enough to give their answer without asking back."""
    least = {"vote": MIN_VOTED, "whole": MIN_OF_WHOLE, "ranked": 0.0}.get(scores.road, MIN_LIKELY)
    return confidence_of(scores, doubtful_names=False) >= least


def chance(features: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """Returns the logistic function of the weighted sum of the features, as a confidence.

    A feature without a weight is ignored.
    """
    total = weights[INTERCEPT] + sum(weights.get(name, 0.0) * value for name, value in features.items())
    # The logistic function is computed in a form that cannot overflow.
    odds = math.exp(-abs(total))
    return as_confidence((1.0 if total >= 0 else odds) / (1 + odds))


def as_confidence(share: float) -> float:
    return round(min(MAX_CONFIDENCE, max(MIN_CONFIDENCE, share)), 2)


@cache
def weights_of(road: str) -> Mapping[str, float]:
    """Returns the coefficients of a way of reading ("meaning", "whole", "path", "vote", "other"), by feature."""
    if road in BY_HAND:
        return BY_HAND[road]
    weights: dict[str, float] = tomllib.loads(COEFFICIENTS.read_text("utf-8"))[road]
    return weights
