"""At scale: made-up names and graphs are the same each time, what is planted is blocked, chats at once are all
answered, and each bound that is missed fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from app.demo import GRAPH_FILE, POLICY_FILE, QUESTIONS_FILE
from evaluation.datasets.questions import read_questions
from evaluation.scale.guard_and_ledger import (
    MAX_GROWTH,
    MAX_MB,
    MAX_MS,
    MAX_MS_A_ROW,
    MAX_TYPED_MS,
    PLANTED,
    PROMPT_BYTES,
    Scale,
    ledger_measures,
    measure_ledger,
    measure_scale,
    scale_measures,
)
from evaluation.scale.made_up import TREATED, entries_of, made_names, write_graph
from evaluation.scale.speed_run import SpeedFigure, least, measures
from evaluation.tables.endpoint_table import MAX_TIMES_IDEAL, LoadReport, run_load
from evaluation.tables.measures import Measure


def missed(lines: Sequence[Measure]) -> list[str]:
    return [line.name for line in lines if not line.passed]


def test_made_up_names_are_different_and_the_same_for_the_same_seed() -> None:
    names = made_names(5_000)
    assert len(set(names)) == 5_000
    assert made_names(5_000) == names
    assert made_names(5_000, seed=8) != names
    assert [entry.mid for entry in entries_of(names[:3])] == [1, 2, 3]


@pytest.mark.process
def test_a_scale_is_measured_in_processes_of_its_own_and_every_planted_name_is_blocked() -> None:
    scale = measure_scale(1_000)
    assert (scale.names, scale.planted, scale.missed) == (1_000, PLANTED, 0)
    assert PROMPT_BYTES - 200 < scale.prompt_bytes < PROMPT_BYTES + 200
    assert scale.median_ms > 0
    assert scale.index_mb > 0.3


@pytest.mark.parametrize(
    ("spoiled", "line"),
    [
        ({}, []),
        ({"median_ms": MAX_MS * 2}, ["a request of 4,096 bytes, median"]),
        ({"typed_ms": MAX_TYPED_MS * 2}, ["anonymising 4,096 typed characters, median"]),
        ({"grown_mb": MAX_MB * 2}, ["growth of the process"]),
        ({"missed": 1}, ["names planted in requests, not blocked"]),
    ],
)
def test_each_bound_that_is_missed_fails(spoiled: dict[str, float], line: list[str]) -> None:
    kept = Scale(1_000, 4_096.0, MAX_MS, 1.0, MAX_MB, 1.0, 1.0, 300, 0, MAX_MS)
    assert missed(scale_measures(replace(kept, **spoiled))) == line


def test_a_ledger_of_so_many_rows_is_filled_and_checked() -> None:
    assert [line.questions for line in measure_ledger(101)] == [101, 101]


def test_each_bound_of_a_ledger_that_is_missed_fails() -> None:
    whole, tenth = MAX_MS_A_ROW, MAX_MS_A_ROW / 10
    assert not missed(ledger_measures(1_000, whole, tenth))
    for seconds, of_tenth, at in ((whole * 1.1, tenth, 0), (whole, tenth / (MAX_GROWTH * 1.1), 1)):
        lines = ledger_measures(1_000, seconds, of_tenth)
        assert missed(lines) == [lines[at].name]


@pytest.mark.model
@pytest.mark.process
async def test_chats_at_once_are_all_answered() -> None:
    question = next(each for each in read_questions(QUESTIONS_FILE) if each.id == "nickname")
    report = await run_load(GRAPH_FILE, POLICY_FILE.read_text("utf-8"), question, 2, chats=12, latency_s=0.01)
    assert (report.chats, report.answered, report.calls) == (12, 12, 1)
    assert report.ideal_s == 0.01


def test_a_run_passes_only_when_all_are_answered_and_soon() -> None:
    assert LoadReport(200, 200, 2, seconds=5.9, ideal_s=4.0, spent_s=1.0).passed
    assert not LoadReport(200, 200, 2, seconds=4.0 * MAX_TIMES_IDEAL, ideal_s=4.0, spent_s=1.0).passed
    assert not LoadReport(200, 199, 2, seconds=4.0, ideal_s=4.0, spent_s=1.0).passed


@pytest.mark.parametrize(
    ("times", "kept", "passed", "bound"),
    [(4.0, {"load": 2.0}, True, "at most 4.0"), (4.1, {"load": 2.0}, False, "at most 4.0"), (100.0, {}, True, "")],
)
def test_a_figure_is_held_to_that_of_the_last_release_where_there_is_one(
    times: float, kept: dict[str, float], passed: bool, bound: str
) -> None:
    (line,) = measures([SpeedFigure("load", "a peer", times)], kept, most=2.0)
    assert (line.passed, line.bound, line.reached) == (passed, bound, f"{times:.1f}")


def test_of_two_runs_the_least_of_each_figure_and_of_each_peer_counts() -> None:
    first = [SpeedFigure("load", "a peer", 40.0, 20.0), SpeedFigure("answer", "a loop", 1.0)]
    second = [SpeedFigure("load", "a peer", 30.0, 10.0), SpeedFigure("answer", "a loop", 2.0)]
    assert [figure.times for figure in least(first, second)] == [3.0, 1.0]


def test_the_made_up_graph_is_the_same_each_time(tmp_path: Path) -> None:
    first, second, typed = (tmp_path / name for name in ("first.nt", "second.nt", "typed.nt"))
    names = write_graph(first, 2_000, classes=False)
    assert write_graph(second, 2_000, classes=False) == names
    assert first.read_bytes() == second.read_bytes()
    assert write_graph(typed, 2_000, classes=True)
    lines = first.read_text("utf-8").splitlines()
    assert len(lines) == 2_000
    assert len({line.split()[0] for line in lines if TREATED in line}) == len(names)
    assert "rdf-syntax-ns#type" in typed.read_text("utf-8")
