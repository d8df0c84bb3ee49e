"""The forty demo questions through the whole service: rightly answered, refused where they must be, nothing leaked."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.demo import GRAPH_FILE, POLICY_FILE, QUESTIONS_FILE
from evaluation.bench.bench import TO_THE_MODEL, Bench, sample
from evaluation.bench.report import RunLabel
from evaluation.cli import app
from evaluation.datasets.questions import Question, read_questions
from evaluation.tables.embedded_table import run_embedded_table, run_table, write_results

QUESTIONS = read_questions(QUESTIONS_FILE)
DATA = Path(os.environ.get("AROG_DATA", Path(__file__).parents[4] / "shared" / "data"))


@pytest.mark.model
@pytest.mark.parametrize(("strategy", "asked"), [("sets", QUESTIONS), ("arog", QUESTIONS[::5])])
async def test_the_demo_questions_are_answered_and_nothing_leaks(strategy: str, asked: list[Question]) -> None:
    """Those of the embedded reasoner are a row of its table, below."""
    label = RunLabel(set_name="demo", strategy=strategy, reasoner="scripted")
    async with Bench("scripted", changes=TO_THE_MODEL) as bench:
        loaded = bench.load("demo", [GRAPH_FILE], POLICY_FILE.read_text("utf-8"))
        report, outcomes = await bench.ask(loaded, label, asked)
        assert bench.contract_breaks == []
    assert sum(outcome.score.f1 == 1.0 for outcome in outcomes) == len(asked)
    unanswerable = sum(not each.answers for each in asked)
    assert (report.unanswerable, report.unanswerable_answered, report.problems) == (unanswerable, 0, {})
    assert report.leaks.leaks == 0
    assert report.leaks.payloads >= len(outcomes)
    assert report.leaks.names_looked_for > 500


@pytest.mark.model
async def test_a_question_that_counts_and_goes_on_is_read() -> None:
    asked = 'compare the two cities where lucía "yamadori" has lived.'
    question = Question(id="counts", question=asked, answers=())
    async with Bench() as bench:
        loaded = bench.load("demo", [GRAPH_FILE], POLICY_FILE.read_text("utf-8"))
        label = RunLabel(set_name="demo", strategy="sets", reasoner="embedded")
        (outcome,) = (await bench.ask(loaded, label, [question]))[1]
    assert not outcome.answered
    assert not outcome.problem


@pytest.mark.model
def test_the_command_writes_every_outcome(tmp_path: Path) -> None:
    out = tmp_path / "report.json"
    arguments = ["qa", "--graph", GRAPH_FILE, "--policy", POLICY_FILE, "--questions", QUESTIONS_FILE, "--json", out]
    options = ["--limit", "3", "--seed", "1", "--width", "2", "--depth", "2", "--reasoner", "scripted"]
    result = CliRunner().invoke(app, [*map(str, arguments), *options])
    assert result.exit_code == 0, result.output
    row = json.loads(out.read_text("utf-8"))["rows"][0]
    assert row["report"]["quality"]["questions"] == len(row["questions"]) == 3
    assert "| clinic | sets | scripted | 3 |" in result.output


@pytest.mark.model
async def test_the_table_runs_its_rows_and_says_what_was_missed(tmp_path: Path) -> None:
    shown: list[str] = []
    results = await run_table(tmp_path, 4, 0, "demo sets scripted", lambda title, _done, _total: shown.append(title))
    write_results(results, tmp_path)
    # Four of the forty can't be forty right ones.
    assert any(each.missed for each in results)
    assert "- demo, sets, scripted: 4 right < 40" in (tmp_path / "table.md").read_text("utf-8")
    assert "demo, sets, scripted" in shown


@pytest.mark.model
def test_the_table_of_the_embedded_reasoner_is_printed_and_written(tmp_path: Path) -> None:
    arguments = ["embedded", "--data", str(tmp_path), "--only", "demo", "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(app, arguments)
    written = (tmp_path / "out" / "embedded.md").read_text("utf-8")
    assert re.search(r"\| the 40 demo questions \| 40 \| 36 right \| \d+ right \| pass \|", written)
    assert "| of these the unanswerable | 5 | 0 answered | 0 answered | pass |" in written
    assert "| names that reached the reasoner, all runs | 40 | 0 | 0 | pass |" in written
    assert written in result.output
    assert result.exit_code == ("FAIL" in written)


@pytest.mark.model
@pytest.mark.skipif(not DATA.is_dir(), reason="the shared data folder is not here (AROG_DATA)")
async def test_a_group_of_the_table_samples_each_of_its_sets() -> None:
    shown: set[str] = set()
    measures = await run_embedded_table(DATA, 3, 0, "path", lambda title, _done, _total: shown.add(title))
    assert [(line.name, line.questions) for line in measures] == [
        ("PQ-2H, nothing trained", 3),
        ("PQ-3H, nothing trained", 3),
        ("names that reached the reasoner, all runs", 6),
    ]
    assert {"loading pq-2h", "PQ-2H", "loading pq-3h", "PQ-3H"} == shown


@pytest.mark.model
@pytest.mark.skipif(not DATA.is_dir(), reason="the shared data folder is not here (AROG_DATA)")
async def test_heads_are_measured_on_the_questions_that_are_asked_without_one() -> None:
    measures = await run_embedded_table(DATA, 12, 0, "heads", lambda _title, _done, _total: None)
    assert [(line.name, line.questions, line.bound) for line in measures] == [
        ("PQ-2H, other half, nothing trained", 12, ""),
        ("PQ-3H, other half, nothing trained", 12, ""),
        ("PQ-2H, other half, head trained on half", 12, "0.98"),
        ("PQ-3H, other half, head trained on half", 12, "0.95"),
        ("names that reached the reasoner, all runs", 48, "0"),
    ]


def test_a_group_that_does_not_exist_is_no_table_without_misses() -> None:
    result = CliRunner().invoke(app, ["embedded", "--only", "nothing of the kind"])
    assert result.exit_code != 0
    assert "PathQuestion" in result.output


@pytest.mark.model
def test_a_table_without_its_data_says_what_is_missing(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["embedded", "--data", str(tmp_path), "--only", "webqsp"])
    assert result.exit_code == 2
    assert "triples.tsv: it can't be read (No such file or directory)" in result.output


def test_a_sample_is_the_same_for_the_same_seed() -> None:
    assert sample(QUESTIONS, 5, 3) == sample(QUESTIONS, 5, 3) != sample(QUESTIONS, 5, 4)
    assert sample(QUESTIONS, None, 3) == sample(QUESTIONS, 99, 3) == QUESTIONS
