"""Fits the ranker of readings: a conditional logit whose choices are the readings of a question and "none of these".

The likelihood is that of the right readings together, so that it need not be known which of them was meant. Each graph
weighs as the root of its number of questions. The features are standardised, and a ridge penalty keeps weights small.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from app.graphs.markdown_table import markdown_table
from app.reader.ranking.ranker import MAX_LIKELY, FittedRanker
from app.reader.step import MAX_OFFERED
from evaluation.understanding.examples import RankingExample

PENALTY: Final = 1.0
LEAST: Final = (0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8)
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
    """A question of a graph that was left out of the fit: the chance of each of its likeliest readings, and if it is
    right.

    `can_be`: some reading is right. `is_sure`: the words decide for one, so that nothing is offered.
    """

    group: str
    likeliest: tuple[tuple[float, bool], ...]
    can_be: bool
    is_sure: bool


def left_out(examples: Sequence[RankingExample]) -> list[LeftOut]:
    """Returns each question as it would be answered by a fit to all graphs but its own."""
    found: list[LeftOut] = []
    for group in sorted({each.group for each in examples}):
        ranker = fitted([each for each in examples if each.group != group])
        found += [_ranked(ranker, each) for each in examples if each.group == group]
    return found


def _ranked(ranker: FittedRanker, example: RankingExample) -> LeftOut:
    ranked = sorted(zip(ranker.chances(example.features), example.is_right, strict=True), key=lambda each: -each[0])
    return LeftOut(example.group, tuple(ranked[:MAX_LIKELY]), any(example.is_right), _is_sure(example))


def _is_sure(example: RankingExample) -> bool:
    return any(each.get("sure") for each in example.features)


def fit_markdown(outcomes: Sequence[LeftOut]) -> str:
    """Returns a table over questions of left-out graphs that are not read surely, by the least chance of a reading.

    For how many one or two readings are offered, and for how many the right one is among them; and how often the
    likeliest one alone would be right or wrong.
    """
    rows, unsure = list[tuple[object, ...]](), [each for each in outcomes if not each.is_sure]
    for least in LEAST:
        offers = [[right for chance, right in each.likeliest[:MAX_OFFERED] if chance >= least] for each in unsure]
        given = [each.likeliest[0][1] for each in unsure if each.likeliest and each.likeliest[0][0] >= least]
        can = sum(each.can_be for each in unsure)
        found = sum(map(any, offers))
        rows.append((least, len(unsure), can, sum(map(bool, offers)), found, sum(given), len(given) - sum(given)))
    head = (
        "least chance",
        "questions",
        "with a right reading",
        "offered",
        "right among these",
        "first right",
        "first wrong",
    )
    return markdown_table(head, rows)


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
