"""Fits the ranker of readings: a conditional logit whose choices are the readings of a question and "none of these".

The likelihood is that of the right readings together, so that it need not be known which of them was meant. Each graph
weighs as the root of its number of questions. The features are standardised, and a ridge penalty keeps weights small.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from app.graphs.markdown_table import markdown_table
from app.reader.ranking.ranker import FittedRanker
from evaluation.understanding.examples import RankingExample

PENALTY: Final = 1.0
LEAST: Final = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9)
"""The chances at which the table of left-out graphs is given."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Prepared:
    """One example as arrays: standardised features (readings, features), and which readings are right (readings,)."""

    features: Floats
    is_right: npt.NDArray[np.bool_]
    weight: float


def fitted(examples: Sequence[RankingExample]) -> FittedRanker:
    """Returns the ranker with the greatest penalised likelihood."""
    names = sorted({name for each in examples for reading in each.features for name in reading})
    rows = [np.array([[reading.get(name, 0.0) for name in names] for reading in each.features]) for each in examples]
    every = np.concatenate(rows)
    mean, spread = every.mean(axis=0), every.std(axis=0) + 1e-9
    counts = Counter(each.group for each in examples)
    weights = np.array([counts[each.group] ** -0.5 for each in examples])
    prepared = [
        _Prepared((row - mean) / spread, np.array(each.is_right), float(weight))
        for row, each, weight in zip(rows, examples, weights / weights.mean(), strict=True)
    ]
    begin = np.zeros(len(names) + 1)
    found = minimize(_loss, begin, (prepared,), jac=True, method="L-BFGS-B", options={"maxiter": 300}).x
    plain = found[:-1] / spread
    return FittedRanker(dict(zip(names, plain.tolist(), strict=True)), float(found[-1] - plain @ mean))


def _loss(weights: Floats, examples: Sequence[_Prepared]) -> tuple[float, Floats]:
    """Returns the penalised negative logarithm of the likelihood, and its gradient; the last weight is the bias."""
    loss = 0.5 * PENALTY * float(weights[:-1] @ weights[:-1])
    gradient = np.append(PENALTY * weights[:-1], 0.0)
    for each in examples:
        utilities = np.append(each.features @ weights[:-1] + weights[-1], 0.0)
        chances = np.exp(utilities - utilities.max())
        chances /= chances.sum()
        right = np.append(each.is_right, not each.is_right.any())
        together = max(float(chances[right].sum()), 1e-12)
        pull = (np.where(right, chances / together, 0.0) - chances)[:-1]
        loss -= each.weight * float(np.log(together))
        gradient -= each.weight * np.append(each.features.T @ pull, pull.sum())
    return loss, gradient


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A question of a graph that was left out of the fit: the chance of its likeliest answer, and if that is right."""

    group: str
    chance: float
    is_right: bool
    can_be: bool
    """Some reading is right."""


def left_out(examples: Sequence[RankingExample]) -> list[LeftOut]:
    """Returns each question as it would be answered by a fit to all graphs but its own."""
    found: list[LeftOut] = []
    for group in sorted({each.group for each in examples}):
        ranker = fitted([each for each in examples if each.group != group])
        found += [_answered(ranker, each) for each in examples if each.group == group]
    return found


def _answered(ranker: FittedRanker, example: RankingExample) -> LeftOut:
    together: defaultdict[int, float] = defaultdict(float)
    chances = ranker.chances((), example.features)
    for result, chance in zip(example.results, chances, strict=True):
        together[result] += chance
    best = max(together, key=together.__getitem__)
    is_right = example.is_right[example.results.index(best)]
    return LeftOut(example.group, together[best], is_right, any(example.is_right))


def fit_markdown(outcomes: Sequence[LeftOut]) -> str:
    """Returns a table: right and wrong answers over left-out graphs, by the least chance of an answer given."""
    rows = []
    for least in LEAST:
        given = [each for each in outcomes if each.chance >= least]
        right = sum(each.is_right for each in given)
        rows.append((least, len(outcomes), sum(each.can_be for each in outcomes), right, len(given) - right))
    return markdown_table(("least chance", "questions", "with a right reading", "right", "wrong"), rows)


def as_toml(ranker: FittedRanker) -> str:
    """Returns the weights as the service reads them."""
    lines = [
        "# Written by `arog train ranker --write`: not to be edited.",
        f"bias = {ranker.bias:.4f}",
        "",
        "[weights]",
    ]
    told: Mapping[str, float] = ranker.weights
    return "\n".join([*lines, *(f"{name} = {told[name]:.4f}" for name in sorted(told))]) + "\n"
