"""Fits the ranker of readings: a conditional logit whose choices are the readings of a question and "none of these".

The likelihood is that of the right readings together, so that it need not be known which of them was meant. Each graph
weighs as the root of its number of questions. Numbers are standardised; pairs count if enough questions of enough
graphs have them; a ridge penalty keeps weights small.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.optimize import minimize

from app.graphs.markdown_table import markdown_table
from app.reader.ranking.clues import ReadingFeatures
from app.reader.ranking.ranker import MIN_ANSWERED, MIN_CHANCE, MIN_SURE, FittedRanker, ranked_readings, ranked_results
from app.reader.step import MAX_OFFERED
from evaluation.understanding.examples import RankingExample

PENALTY, PENALTY_OF_PAIRS = 1.0, 3.0
MIN_QUESTIONS, MIN_GRAPHS = 5, 3
"""A pair is weighed if so many questions of so many graphs have it, so that no weight tells of one graph's words."""
LEAST: Final = (0.6, MIN_ANSWERED, 0.8, 0.9, 1.1)
"""The least chances of a result that the words don't decide for, at which the table of left-out graphs is given."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of the design matrix: numbers with their means and spreads, then pairs."""

    numbers: tuple[str, ...]
    mean: Floats
    spread: Floats
    pairs: Mapping[str, int]

    @classmethod
    def of(cls, examples: Sequence[RankingExample]) -> Columns:
        """Chooses the columns for some examples."""
        numbers = sorted({name for each in examples for one in each.features for name in one.numbers})
        every = np.concatenate([_numbers(each.features, numbers) for each in examples])
        counts, graphs = Counter[str](), defaultdict[str, set[str]](set)
        for each in examples:
            for pair in {pair for one in each.features for pair in one.pairs}:
                counts[pair] += 1
                graphs[pair].add(each.group)
        kept = sorted(p for p, n in counts.items() if n >= MIN_QUESTIONS and len(graphs[p]) >= MIN_GRAPHS)
        pairs = {pair: at for at, pair in enumerate(kept)}
        return cls(tuple(numbers), every.mean(axis=0), every.std(axis=0) + 1e-6, pairs)

    @property
    def penalties(self) -> Floats:
        """The penalty of each weight; that of the bias, which comes last, is 0."""
        return np.array([*[PENALTY] * len(self.numbers), *[PENALTY_OF_PAIRS] * len(self.pairs), 0.0])

    def matrix(self, readings: Sequence[ReadingFeatures]) -> sparse.csr_matrix:
        """Returns the standardised features of some readings, shape (readings, columns); the last column is 1."""
        numbers = (_numbers(readings, self.numbers) - self.mean) / self.spread
        own = [sorted({self.pairs[pair] for pair in each.pairs if pair in self.pairs}) for each in readings]
        begins = np.cumsum([0, *map(len, own)])
        flat = np.array([at for each in own for at in each], dtype=np.int64)
        pairs = sparse.csr_matrix((np.ones(len(flat)), flat, begins), shape=(len(readings), len(self.pairs)))
        return sparse.hstack([sparse.csr_matrix(numbers), pairs, np.ones((len(readings), 1))]).tocsr()

    def ranker(self, weights: Floats) -> FittedRanker:
        """Returns the ranker with these weights, for features that are not standardised."""
        count = len(self.numbers)
        plain = weights[:count] / self.spread
        named = dict(zip(self.numbers, plain.tolist(), strict=True))
        named |= {pair: float(weights[count + at]) for pair, at in self.pairs.items()}
        return FittedRanker(named, float(weights[-1] - plain @ self.mean))


def _numbers(readings: Sequence[ReadingFeatures], names: Sequence[str]) -> Floats:
    return np.array([[each.numbers.get(name, 0.0) for name in names] for each in readings]).reshape(-1, len(names))


@dataclass(frozen=True, slots=True)
class Prepared:
    """All readings of all questions as one matrix, shape (readings, columns), and which are right, shape (readings,).

    `begins`: the first row of each question; `weights`: how much each question weighs.
    """

    features: sparse.csr_matrix
    is_right: npt.NDArray[np.bool_]
    begins: npt.NDArray[np.int64]
    weights: Floats

    @classmethod
    def of(cls, examples: Sequence[RankingExample], columns: Columns) -> Prepared:
        """Prepares examples that have readings."""
        counts = Counter(each.group for each in examples)
        weights = np.array([counts[each.group] ** -0.5 for each in examples])
        begins = np.cumsum([0, *(len(each.features) for each in examples[:-1])])
        right = np.array([right for each in examples for right in each.is_right])
        features = columns.matrix([one for each in examples for one in each.features])
        return cls(features, right, begins, weights / weights.mean())


def fitted(examples: Sequence[RankingExample]) -> FittedRanker:
    """Returns the ranker with the greatest penalised likelihood."""
    examples = [each for each in examples if each.features]
    columns = Columns.of(examples)
    given = Prepared.of(examples, columns), columns.penalties
    begin = np.zeros(len(columns.penalties))
    return columns.ranker(minimize(loss_of, begin, given, jac=True, method="L-BFGS-B", options={"maxiter": 200}).x)


def loss_of(weights: Floats, examples: Prepared, penalties: Floats) -> tuple[float, Floats]:
    """Returns the penalised negative logarithm of the likelihood, and its gradient."""
    begins, right = examples.begins, examples.is_right
    utilities = examples.features @ weights
    question = np.repeat(np.arange(len(begins)), np.diff([*begins, len(utilities)]))
    most = np.maximum(np.maximum.reduceat(utilities, begins), 0.0)
    odds, none = np.exp(utilities - most[question]), np.exp(-most)
    total = np.add.reduceat(odds, begins) + none
    has_right = np.logical_or.reduceat(right, begins)
    of_right = np.add.reduceat(np.where(right, odds, 0.0), begins)
    together = np.maximum(np.where(has_right, of_right, none), 1e-300)
    wanted = np.where(right, odds / np.maximum(of_right, 1e-300)[question], 0.0)
    pull = examples.weights[question] * (odds / total[question] - wanted)
    loss = -float(examples.weights @ np.log(together / total)) + 0.5 * float(penalties @ weights**2)
    return loss, examples.features.T @ pull + penalties * weights


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A question of a graph that was left out of the fit.

    `sure`: the chance of the result of a reading that the words decide for, and if it is right; None without one.
    `best`: the same of the likeliest result; its chance is 0 if it may not be answered. `has_offer`: a right reading
    is among those that would be offered.
    """

    group: str
    can_be: bool
    sure: tuple[float, bool] | None
    best: tuple[float, bool]
    has_offer: bool

    def given(self, least_sure: float, least: float) -> bool | None:
        """Returns True or False if the answer that is given is right or wrong, None if none is given."""
        if self.sure is not None and self.sure[0] >= least_sure:
            return self.sure[1]
        return self.best[1] if self.best[0] >= least else None


def left_out(examples: Sequence[RankingExample]) -> list[LeftOut]:
    """Returns each question as it would be answered by a fit to all graphs but its own."""
    found: list[LeftOut] = []
    for group in sorted({each.group for each in examples}):
        ranker = fitted([each for each in examples if each.group != group])
        found += [ranked(ranker, each) for each in examples if each.group == group]
    return found


def ranked(ranker: FittedRanker, example: RankingExample) -> LeftOut:
    """Returns how a question would be answered by a ranker."""
    readings = ranked_readings(ranker, example.features)
    results = ranked_results(readings, lambda at: example.results[at] if example.results[at] >= 0 else None)
    sure = next((each for each in results if each.is_sure), None)
    best = results[0] if results and results[0].is_answerable else None
    return LeftOut(
        example.group,
        any(example.is_right),
        (sure.chance, example.is_right[sure.at]) if sure else None,
        (best.chance, example.is_right[best.at]) if best else (0.0, False),
        any(example.is_right[each.at] for each in readings[:MAX_OFFERED] if each.chance >= MIN_CHANCE),
    )


def fit_markdown(outcomes: Sequence[LeftOut]) -> str:
    """Returns a table over all questions of left-out graphs, by the least chance of a result that words don't decide
    for: how many answers are right and wrong, and for how many a right reading is answered or among those offered.

    Its first row is what the words alone would answer.
    """
    rows = list[tuple[object, ...]]()
    for name, least_sure, least in (("words alone", 0.0, 1.1), *((each, MIN_SURE, each) for each in LEAST)):
        given = [each.given(least_sure, least) for each in outcomes]
        helped = sum(right or (right is None and each.has_offer) for right, each in zip(given, outcomes, strict=True))
        can = sum(each.can_be for each in outcomes)
        rows.append((name, len(outcomes), can, given.count(True), given.count(False), helped))
    head = ("least chance", "questions", "with a right reading", "right", "wrong", "right or offered")
    return markdown_table(head, rows)


def as_toml(ranker: FittedRanker) -> str:
    """Returns the weights as the service reads them."""
    lines = [
        "# Written by `arog train ranker --write`: not to be edited.",
        f"bias = {ranker.bias:.4f}",
        "",
        "[weights]",
    ]
    told = {name: f"{weight:.3f}" for name, weight in ranker.weights.items()}
    kept = (f'"{name}" = {told[name]}' for name in sorted(told) if float(told[name]))
    return "\n".join([*lines, *kept]) + "\n"
