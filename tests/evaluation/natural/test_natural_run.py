"""`arog eval natural`: a few questions through the whole service, and what its options refuse."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from typer.testing import CliRunner

from evaluation.cli import app
from evaluation.datasets.questions import QuestionsError
from evaluation.natural.run import GRAPHS, NaturalOutcome, NaturalRun, by_kind, measures, wrong_markdown
from evaluation.natural.verdicts import FILES, Verdict, read_natural


def test_the_seen_half_is_whole_and_of_graphs_that_are_there() -> None:
    questions = read_natural("seen")
    assert len({question.id for question in questions}) == len(questions) > 250
    assert {question.graph for question in questions} == {*GRAPHS}
    assert all(file.is_file() for file in (*GRAPHS.values(), *FILES.values()))


def test_a_line_that_can_not_be_read_is_named_and_not_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "seen.jsonl"
    file.write_text('{"id": "1", "graph": "g", "kind": "k", "question": "Secret?", "gold": {"type": "riddle"}}\n')
    monkeypatch.setitem(FILES, "seen", file)
    with pytest.raises(QuestionsError, match=r"seen\.jsonl, line 1: gold\.type") as raised:
        read_natural("seen")
    assert "Secret" not in str(raised.value)


@pytest.mark.model
def test_a_few_questions_run_and_the_wrong_ones_are_written_for_their_owner(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.md"
    args = ["natural", "--half=seen", "--graph=clinic", "--limit=8", f"--wrong={wrong}", f"--out={tmp_path}"]
    done = CliRunner().invoke(app, args)
    assert "| seen half: right | 8 |" in done.stdout
    assert "| seen half: graph clinic | 8 |" in done.stdout
    assert "| seen half: asked back | 8 |" in done.stdout
    assert "| names that reached the reasoner | 8 | at most 0 | 0 | pass |" in done.stdout
    assert (tmp_path / "natural.md").read_text("utf-8").startswith("| measure |")
    assert wrong.read_text("utf-8").startswith("# Natural questions that were not")
    assert stat.S_IMODE(wrong.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["--half=shut", "--wrong=wrong.md"], "nobody looks at the shut half"),
        (["--graph=moon"], "there are clinic, company, wikidata, university"),
    ],
)
def test_what_can_not_be_done_is_refused_in_words(args: list[str], told: str) -> None:
    done = CliRunner().invoke(app, ["natural", *args])
    assert done.exit_code == 2
    assert told in " ".join(done.output.split())


def outcomes(half: str, *verdicts: Verdict) -> list[NaturalOutcome]:
    questions = read_natural("seen")[: len(verdicts)]
    return [NaturalOutcome(half, *pair, None) for pair in zip(questions, verdicts, strict=True)]  # type: ignore[arg-type]


def test_bounds_are_those_of_the_shut_half_which_is_never_written() -> None:
    run = NaturalRun([*outcomes("seen", "wrong", "right"), *outcomes("shut", "wrong", "refused", "right")], 0)
    lines = {line.name: line for line in measures(run)}
    assert (lines["seen half: right"].reached, lines["seen half: right"].bound) == ("0.500", "")
    assert (lines["half never looked at: right"].reached, lines["half never looked at: right"].passed) == (
        "0.333",
        False,
    )
    assert "| half never looked at: all | 3 | 1 | 0 | 1 | 1 | 0.33 |" in by_kind(run)
    assert "## wrong (1)" in wrong_markdown(run)
    assert "## refused (0)" in wrong_markdown(run)
