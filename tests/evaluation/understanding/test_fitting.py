"""The ranker is fitted by the likelihood of right readings, "none of these" among the choices."""

from __future__ import annotations

import math
import random
import tomllib
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from app.reader.ranking.clues import ReadingFeatures
from app.reader.ranking.ranker import WEIGHTS, FittedRanker
from evaluation.understanding.examples import RankingExample, read, written
from evaluation.understanding.fitting import (
    MIN_QUESTIONS,
    Prepared,
    as_toml,
    fit_markdown,
    fitted,
    left_out,
    loss_of,
    ranked,
)


def reading(*pairs: str, **numbers: float) -> ReadingFeatures:
    return ReadingFeatures(numbers, pairs)


def made(group: str, seed: int, count: int = 60) -> list[RankingExample]:
    """Questions whose right reading is the most alike; with none that is alike, none is right."""
    drawn, found = random.Random(seed), []
    for _ in range(count):
        alike = [drawn.random() for _ in range(4)]
        is_right = tuple(each == max(alike) and each > 0.6 for each in alike)
        features = tuple(reading(like=each, noise=drawn.random()) for each in alike)
        found.append(RankingExample(group, features, is_right, tuple(range(4))))
    return found


def test_what_tells_right_readings_gets_the_weight() -> None:
    ranker = fitted([*made("a", 1), *made("b", 2)])
    assert ranker.weights["like"] > 5 * abs(ranker.weights["noise"])
    high, low = ranker.chances([reading(like=0.95, noise=0.5), reading(like=0.1, noise=0.5)])
    assert high > 0.5 > low
    assert sum(ranker.chances([reading(like=0.1, noise=0.5)])) < 0.2


def test_a_pair_is_weighed_where_enough_graphs_have_it() -> None:
    def told(group: str, seed: int) -> list[RankingExample]:
        return [
            RankingExample(
                group,
                (reading("most|w=often", f"own|w={group}", like=0.5), reading("count|w=often", like=0.5)),
                (True, False),
                (0, 1),
            )
            for _ in range(MIN_QUESTIONS + seed)
        ]

    ranker = fitted([*told("a", 1), *told("b", 2), *told("c", 3)])
    assert ranker.weights["most|w=often"] > 0 > ranker.weights["count|w=often"]
    assert not [name for name in ranker.weights if name.startswith("own")]


def test_a_left_out_graph_is_ranked_by_the_others() -> None:
    outcomes = left_out([*made("a", 1), *made("b", 2)])
    assert len(outcomes) == 120
    given = [each.given(0.4, 0.7) for each in outcomes]
    assert given.count(True) > 20
    assert given.count(False) < 0.1 * given.count(True)
    assert "| 0.8 | 120 |" in fit_markdown(outcomes)


def test_results_that_are_the_same_count_together() -> None:
    """Of a question whose readings agree, each is half as likely as their result."""
    ranker = FittedRanker({"like": 1.0}, 0.0)
    alike = (reading(like=3.0), reading(like=3.0), reading(like=0.0))
    (apart,) = [ranked(ranker, RankingExample("a", alike, (True, True, False), (0, 1, 2)))]
    (same,) = [ranked(ranker, RankingExample("a", alike, (True, True, False), (0, 0, 2)))]
    assert same.best == pytest.approx((2 * apart.best[0], True))
    (empty,) = [ranked(ranker, RankingExample("a", alike, (True, True, False), (-1, -2, 2)))]
    assert empty.best[1] is False


def test_a_sure_reading_is_answered_unless_it_is_unlikely() -> None:
    ranker = FittedRanker({"like": 1.0}, 0.0)
    example = RankingExample("a", (reading(like=0.0, sure=1.0), reading(like=2.0)), (False, True), (0, 1))
    outcome = ranked(ranker, example)
    assert (outcome.given(0.0, 1.1), outcome.given(0.4, 1.1), outcome.given(0.4, 0.5)) == (False, None, True)
    assert outcome.has_offer


def test_the_gradient_is_that_of_the_loss() -> None:
    drawn = np.random.default_rng(3)
    features = sparse.csr_matrix(drawn.normal(size=(5, 3)))
    right = np.array([True, True, False, False, False])
    given = Prepared(features, right, np.array([0, 3]), np.array([1.0, 0.5])), np.array([1.0, 3.0, 0.0])
    weights, step = drawn.normal(size=3), 1e-6
    _, gradient = loss_of(weights, *given)
    for at in range(3):
        moved = np.eye(3)[at] * step
        slope = (loss_of(weights + moved, *given)[0] - loss_of(weights - moved, *given)[0]) / (2 * step)
        assert gradient[at] == pytest.approx(slope, rel=1e-4)


def test_examples_and_weights_can_be_kept(tmp_path: Path) -> None:
    examples = [*made("a", 1, 3), RankingExample("b", (reading("most|w=often", like=1.0),), (True,), (0,))]
    written(examples, tmp_path / "examples.json")
    assert read(tmp_path / "examples.json") == examples
    told = tomllib.loads(as_toml(FittedRanker({"like": 1.25, "most|w=often": -2.0, "noise": 0.0001}, -0.5)))
    assert (told["bias"], told["weights"]) == (-0.5, {"like": 1.25, "most|w=often": -2.0})


def test_the_weights_in_the_box_are_finite_numbers() -> None:
    ranker = FittedRanker.boxed()
    assert ranker.weights
    assert all(math.isfinite(each) for each in (*ranker.weights.values(), ranker.bias))
    assert WEIGHTS.read_text("utf-8").startswith("# Written by `arog train ranker --write`")
