"""The ranker is fitted by the likelihood of right readings, "none of these" among the choices."""

from __future__ import annotations

import math
import random
import tomllib
from pathlib import Path

import numpy as np
import pytest

from app.reader.ranking.ranker import WEIGHTS, FittedRanker
from evaluation.understanding.examples import RankingExample, read, written
from evaluation.understanding.fitting import _loss, _Prepared, as_toml, fit_markdown, fitted, left_out


def made(group: str, seed: int, count: int = 60) -> list[RankingExample]:
    """Questions whose right reading is the most alike; with none that is alike, none is right."""
    drawn, found = random.Random(seed), []
    for _ in range(count):
        alike = [drawn.random() for _ in range(4)]
        is_right = tuple(each == max(alike) and each > 0.6 for each in alike)
        features = tuple({"like": each, "noise": drawn.random()} for each in alike)
        found.append(RankingExample(group, features, is_right))
    return found


def test_what_tells_right_readings_gets_the_weight() -> None:
    ranker = fitted([*made("a", 1), *made("b", 2)])
    assert ranker.weights["like"] > 5 * abs(ranker.weights["noise"])
    high, low = ranker.chances([{"like": 0.95, "noise": 0.5}, {"like": 0.1, "noise": 0.5}])
    assert high > 0.5 > low
    assert sum(ranker.chances([{"like": 0.1, "noise": 0.5}])) < 0.2


def test_a_left_out_graph_is_ranked_by_the_others() -> None:
    outcomes = left_out([*made("a", 1), *made("b", 2)])
    assert len(outcomes) == 120
    first = [each.likeliest[0] for each in outcomes if each.likeliest[0][0] >= 0.7]
    assert len(first) > 20
    assert sum(is_right for _, is_right in first) > 0.9 * len(first)
    assert "| 0.2 | 120 |" in fit_markdown(outcomes)


def test_questions_that_are_read_surely_are_offered_nothing() -> None:
    sure = RankingExample("a", ({"like": 0.9, "sure": 1.0},), (True,))
    assert "| 0.2 | 5 |" in fit_markdown(left_out([sure, *made("b", 1, 5)]))


def test_the_gradient_is_that_of_the_loss() -> None:
    drawn = np.random.default_rng(3)
    examples = [
        _Prepared(drawn.normal(size=(3, 2)), np.array([True, True, False]), 1.0),
        _Prepared(drawn.normal(size=(2, 2)), np.array([False, False]), 0.5),
    ]
    weights, step = drawn.normal(size=3), 1e-6
    _, gradient = _loss(weights, examples)
    for at in range(3):
        moved = np.eye(3)[at] * step
        slope = (_loss(weights + moved, examples)[0] - _loss(weights - moved, examples)[0]) / (2 * step)
        assert gradient[at] == pytest.approx(slope, rel=1e-4)


def test_examples_and_weights_can_be_kept(tmp_path: Path) -> None:
    examples = made("a", 1, 3)
    written(examples, tmp_path / "examples.json")
    assert read(tmp_path / "examples.json") == examples
    told = tomllib.loads(as_toml(FittedRanker({"like": 1.25}, -0.5)))
    assert (told["bias"], told["weights"]) == (-0.5, {"like": 1.25})


def test_the_weights_in_the_box_are_finite_numbers() -> None:
    ranker = FittedRanker.boxed()
    assert ranker.weights
    assert all(math.isfinite(each) for each in (*ranker.weights.values(), ranker.bias))
    assert WEIGHTS.read_text("utf-8").startswith("# Written by `arog train ranker --write`")
