"""The formula of the confidence is fitted to answers of known worth, and tested on graphs that it has not seen."""

from __future__ import annotations

import random
import tomllib
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from app.llm.confidence import COEFFICIENTS, INTERCEPT, chance, weights_of
from evaluation.cli import app
from evaluation.natural import confidence
from evaluation.natural.confidence import ConfidenceExample, as_toml, fit, fits_markdown, natural_examples


def examples(*, right: float, groups: int = 4, count: int = 400, flip: str = "") -> list[ConfidenceExample]:
    """Answers that are right the more often the greater their margin; in the group `flip` it is the other way."""
    drawn = random.Random(1)
    found = []
    for at in range(count):
        margin, group = drawn.random(), f"g{at % groups}"
        is_right = drawn.random() < right * (margin if group != flip else 1 - margin)
        found.append(ConfidenceExample("meaning", group, {"margin": margin}, is_right))
    return found


def test_a_fit_tells_the_share_that_is_right() -> None:
    found = fit("meaning", examples(right=1.0))
    assert found.weights["margin"] > 0
    assert found.given == 400
    assert found.error < 0.08
    assert chance({"margin": 1.0}, found.weights) > chance({"margin": 0.0}, found.weights)


def test_a_graph_that_is_unlike_the_others_shows_where_it_is_left_out() -> None:
    alike, unlike = fit("meaning", examples(right=1.0)), fit("meaning", examples(right=1.0, flip="g0"))
    assert unlike.error_elsewhere > alike.error_elsewhere + 0.05


def test_answers_that_would_not_be_given_teach_and_are_not_counted() -> None:
    given = examples(right=1.0)
    refused = [ConfidenceExample("meaning", "g0", {"margin": 0.9}, is_right=False, is_given=False)] * 200
    found = fit("meaning", [*given, *refused])
    assert found.given == 400
    assert chance({"margin": 0.9}, found.weights) < chance({"margin": 0.9}, fit("meaning", given).weights)


def test_a_figure_that_never_speaks_for_an_answer_is_left_out_where_chance_says_it_does() -> None:
    told = [
        ConfidenceExample("meaning", each.group, {**each.features, "silent": float(each.is_right)}, each.is_right)
        for each in examples(right=1.0)
    ]
    found = fit("meaning", told)
    assert found.weights["silent"] == 0.0
    assert found.weights["margin"] > 0


def test_what_is_written_is_what_the_service_reads() -> None:
    found = fit("meaning", examples(right=1.0))
    written = tomllib.loads(as_toml([found]))
    assert written["meaning"] == pytest.approx(dict(found.weights), abs=0.001)
    assert "a meaning" in fits_markdown([found])
    assert {INTERCEPT} < set(tomllib.loads(COEFFICIENTS.read_text("utf-8"))["path"])


@pytest.mark.model
async def test_questions_are_read_again_without_a_relation_that_they_need() -> None:
    found = await natural_examples(2, 0, lambda *_told: None)
    assert {each.road for each in found} == {"meaning", "whole"}
    assert all({*each.features} == {*weights_of(each.road)} - {INTERCEPT} for each in found)
    intact = [each for each in found if each.is_intact]
    lacking = [each for each in found if not each.is_intact]
    assert any(each.is_right for each in intact)
    assert lacking
    assert not any(each.is_right for each in lacking)
    assert {each.weight for each in intact} == {1.0}


def test_the_shut_half_is_not_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    halves: list[object] = []

    class NoBench:
        async def __aenter__(self) -> NoBench:
            return self

        async def __aexit__(self, *_raised: object) -> None:
            pass

    async def asked(_bench: object, selection: confidence.Selection, _show: object) -> None:
        halves.extend(selection.halves)
        raise typer.Exit(3)

    monkeypatch.setattr(confidence, "Bench", lambda **_options: NoBench())
    monkeypatch.setattr(confidence, "ask_natural", asked)
    assert CliRunner().invoke(app, ["confidence", f"--data={tmp_path}"]).exit_code == 3
    assert halves == ["seen"]
