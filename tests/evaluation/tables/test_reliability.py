"""Thresholds: what each would refuse and cost, and the lowest one that refuses enough."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.llm.embeddings.embedder import Embedder
from app.llm.tasks import Candidate, StepInput, StepReply, Thing
from app.reader.scoring.path_scoring import PathScorer
from evaluation.cli import app
from evaluation.fakes.recording_reasoner import Step
from evaluation.tables.reliability import Point, at, least_score, least_threshold, reliability_markdown

ABLE = [Point("pq", score, hit, answerable=True) for score, hit in [(0.8, 1.0), (0.4, 0.5), (-0.2, 1.0), (-0.5, 0.0)]]
UNABLE = [Point("foreign", score, 0.0, answerable=False) for score in (-math.inf, -0.6, -0.3, 0.45)]
REFUSES = StepReply(action="not_in_graph")


def test_a_threshold_costs_right_answers_and_refuses_wrong_ones() -> None:
    points = [*ABLE, *UNABLE]
    assert (at(points, -math.inf).hits, at(points, -math.inf).refused) == (0.625, 0.25)
    assert (at(points, -0.25).hits, at(points, -0.25).refused) == (0.625, 0.75)
    assert (at(points, 0.4).hits, at(points, 0.4).refused) == (0.375, 0.75)
    assert (at(points, 0.9).hits, at(points, 0.9).refused) == (0.0, 1.0)


def test_the_lowest_threshold_that_refuses_enough() -> None:
    assert least_threshold(UNABLE, 0.25) == -math.inf
    for share, highest in ((0.5, -0.6), (0.75, -0.3), (0.76, 0.45)):
        threshold = least_threshold(UNABLE, share)
        assert threshold == math.nextafter(highest, math.inf)
        assert at(UNABLE, threshold).refused >= share > at(UNABLE, highest).refused
    assert least_threshold(ABLE, 0.9) == -math.inf


def test_the_tables_tell_right_shares_by_score_and_by_set() -> None:
    text = reliability_markdown([*ABLE, *UNABLE], present=-0.07, refusals=0.75)
    assert "| 0.3 to 0.5 | 1 | 1 | 0.50 | 0.25 |" in text
    assert "| below -0.4 | 1 | 1 | 0.00 | 0.00 |" in text
    assert "| 0.9 and more | 0 | 0 |  |  |" in text
    assert "| -0.07 (present) | 0.375 | 0.750 |" in text
    assert "| -0.3 (least for the bound) | 0.625 | 0.750 |" in text
    assert "| pq | 4 | hits@1 | 0.375 | 0.625 |" in text
    assert "| foreign | 4 | refused | 0.750 | 0.750 |" in text


def test_the_score_of_a_question_is_the_least_of_its_steps(embedder: Embedder) -> None:
    def step(*paths: str) -> Step:
        ways = [Candidate(number=n, start="Ea1b2c", path=[p], concept="thing") for n, p in enumerate(paths)]
        thing = Thing(name="Ea1b2c", concept="person", size="1")
        shared = {"dialogue": [], "path": [], "evidence": [], "round": 1, "last_round": False, "width": 3}
        asked = {"question": "who is Ea1b2c's wife", "things": [thing], "candidates": ways, **shared}
        return Step(StepInput.model_validate(asked), REFUSES)

    scorer = PathScorer(embedder)
    good, poor = least_score(scorer, [step("wife")]), least_score(scorer, [step("postal code")])
    assert good > poor
    assert least_score(scorer, [step("wife"), step("postal code")]) == poor
    assert least_score(scorer, [step()]) == -math.inf
    assert least_score(scorer, []) == -math.inf


@pytest.mark.model
def test_the_command_asks_without_a_threshold(tmp_path: Path) -> None:
    out = tmp_path / "curve.md"
    arguments = ["reliability", "--data", str(tmp_path), "--only", "demo", "--out", str(out)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    text = out.read_text("utf-8")
    assert text in result.output
    assert "| demo | 35 | hits@1 |" in text
    assert "| demo | 5 | refused | 1.000 |" in text
