"""`arog eval suggestions`: each suggestion is asked, and one that is answered otherwise is counted and written."""

from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.chat.next_questions import NextQuestions
from app.chat.question_run import QuestionRun, SuggestedQuestion
from evaluation.cli import app
from kg_store.terms import as_mids


@pytest.mark.model
def test_every_suggestion_of_a_few_answers_holds(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["suggestions", "--graph=clinic", "--limit=4", f"--out={tmp_path}"])
    assert done.exit_code == 0, done.output
    graph, answers, suggestions, _, share, *_ = [cell.strip() for cell in done.stdout.splitlines()[2].split("|")[1:]]
    assert (graph, answers, share) == ("clinic", "4", "1.000")
    assert int(suggestions) > 4
    assert (tmp_path / "suggestions.md").read_text("utf-8").startswith("| graph |")


@pytest.mark.model
def test_one_that_is_answered_by_something_else_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = NextQuestions.after

    async def wrongly(self: NextQuestions, run: QuestionRun) -> tuple[SuggestedQuestion, ...]:
        first, *others = await made(self, run)
        return replace(first, expected=as_mids([int(first.expected[0]) + 1])), *others

    monkeypatch.setattr(NextQuestions, "after", wrongly)
    wrong = tmp_path / "wrong.txt"
    done = CliRunner().invoke(app, ["suggestions", "--graph=clinic", "--limit=1", f"--wrong={wrong}"])
    assert done.exit_code == 1
    assert wrong.read_text("utf-8").startswith("clinic: ")
    assert stat.S_IMODE(wrong.stat().st_mode) == 0o600


def test_an_unknown_graph_is_refused_in_words() -> None:
    done = CliRunner().invoke(app, ["suggestions", "--graph=moon"])
    assert done.exit_code == 2
    assert "there are clinic, company" in " ".join(done.output.split())
