"""Fits the formula of the confidence to answers that are known to be right or wrong, and tests it on other graphs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from app.graphs.markdown_table import markdown_table
from app.llm.confidence import INTERCEPT, chance
from evaluation.checks.metrics import calibration_error
from evaluation.natural.confidence_examples import ConfidenceExample

STRENGTHS: Final = (0.1, 0.3, 1.0, 3.0, 10.0)
"""Room for weights to grow (scikit-learn's C); the one is taken that predicts best on graphs left out."""
LOWERING: Final = frozenset({"doubtful_names", "silent", "steps"})
"""Figures that never speak for an answer."""

_Examples = Sequence[ConfidenceExample]


@dataclass(frozen=True, slots=True)
class ConfidenceFit:
    """The weights of one road. `given` and `share_right` are of the answers to the questions as they are, `error` is
    the calibration error of these, over ten bins; `error_elsewhere` that of all that the service would give, of each
    graph or set by a fit without it."""

    road: str
    weights: Mapping[str, float]
    strength: float
    given: int
    share_right: float
    error: float
    error_elsewhere: float


def fit(road: str, examples: _Examples) -> ConfidenceFit:
    """The best fit to the examples of `road`. Raises ValueError where they are all right, or all wrong."""
    own = [each for each in examples if each.road == road]
    strength = min(STRENGTHS, key=lambda each: _loss(_elsewhere(own, each)))
    weights = _weights(own, strength)
    given = [each for each in own if each.is_given and each.is_intact]
    told = [(chance(each.features, weights), each.is_right) for each in given]
    apart = _elsewhere(own, strength)
    elsewhere = calibration_error([(o, e.is_right) for o, e in apart], weights=[e.weight for _, e in apart])
    right = sum(each.is_right for each in given) / len(given)
    return ConfidenceFit(road, weights, strength, len(given), right, calibration_error(told), elsewhere)


def _elsewhere(examples: _Examples, strength: float) -> list[tuple[float, ConfidenceExample]]:
    """Each answer that would be given, with its confidence by a fit to the other groups."""
    found = []
    for group in dict.fromkeys(each.group for each in examples):
        weights = _weights([each for each in examples if each.group != group], strength)
        found += [(chance(e.features, weights), e) for e in examples if e.group == group and e.is_given]
    return found


def _loss(told: Sequence[tuple[float, ConfidenceExample]]) -> float:
    """The mean logarithmic loss."""
    total = sum(-each.weight * math.log(one if each.is_right else 1 - one) for one, each in told)
    return total / sum(each.weight for _, each in told)


def _weights(examples: _Examples, strength: float) -> dict[str, float]:
    # Takes a second to load: only whoever fits waits for it.
    from sklearn.linear_model import LogisticRegression

    return _signed(LogisticRegression, examples, sorted(examples[0].features), strength)


def _signed(regression: Any, examples: _Examples, names: list[str], strength: float) -> dict[str, float]:
    """Fitted without the figures of LOWERING that would come out as raising it: few examples have them."""
    found = _fitted(regression, examples, names, strength)
    wrong = {name for name in LOWERING.intersection(names) if found[name] > 0}
    if not wrong:
        return found
    return dict.fromkeys(wrong, 0.0) | _signed(
        regression, examples, [name for name in names if name not in wrong], strength
    )


def _fitted(regression: Any, examples: _Examples, names: list[str], strength: float) -> dict[str, float]:
    model = regression(C=strength, max_iter=1000)
    model.fit(
        [[each.features[name] for name in names] for each in examples],
        [each.is_right for each in examples],
        sample_weight=[each.weight for each in examples],
    )
    found = {INTERCEPT: float(model.intercept_[0])}
    return found | {name: float(weight) for name, weight in zip(names, model.coef_[0], strict=True)}


def as_toml(fits: Sequence[ConfidenceFit]) -> str:
    """The weights as app/llm/confidence.toml has them."""
    parts = ["# Written by `arog eval confidence --write`: not to be edited."]
    for each in fits:
        parts += ["", f"[{each.road}]", *(f"{name} = {weight:.3f}" for name, weight in each.weights.items())]
    return "\n".join(parts) + "\n"


def markdown(fits: Sequence[ConfidenceFit]) -> str:
    """A Markdown table, a row for each road."""
    head = ("read as", "answers given", "share right", "calibration error", "of all, on graphs left out", "weights")
    rows = [
        (
            f"a {each.road}",
            str(each.given),
            f"{each.share_right:.3f}",
            f"{each.error:.3f}",
            f"{each.error_elsewhere:.3f}",
            ", ".join(f"{name.replace('_', ' ')} {weight:+.2f}" for name, weight in each.weights.items()),
        )
        for each in fits
    ]
    return markdown_table(head, rows)
