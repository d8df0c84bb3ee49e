"""Labelled replies are read in pseudonyms, and what the check gets wrong of them is counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from app.evaluation.cli import app
from app.evaluation.datasets.questions import QuestionsError
from app.evaluation.dialogue.statements.labelled_replies import read_replies
from app.evaluation.dialogue.statements.statement_run import checked, measure, stays

FACTS = [
    ["Blue Hour", "directed_by", "Ada Lind"],
    ["Blue Hour", "release_year", "1998-05-25"],
    ["Blue Hour", "hasGenre", "Drama"],
]


def _row(*clauses: tuple[str, object]) -> dict[str, Any]:
    said = [{"text": text, "truth": truth} for text, truth in clauses]
    reply = " ".join(f"{text}." for text, _ in clauses)
    return {
        "graph": "films",
        "facts": FACTS,
        "history": [["user", "Who made Blue Hour?"]],
        "clauses": said,
        "reply": reply,
    }


def _file(folder: Path, *rows: dict[str, Any]) -> Path:
    file = folder / "replies.jsonl"
    file.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return file


def test_no_name_of_the_facts_is_left_in_a_reply(tmp_path: Path) -> None:
    (reply,) = read_replies(_file(tmp_path, _row(("Ada Lind directed Blue Hour", True), ("It is a drama", True))))

    assert not any(name in " ".join(reply.sentences).lower() for name in ("ada", "lind", "blue", "drama"))


def test_a_year_stands_for_the_date_that_lies_in_it(tmp_path: Path) -> None:
    (reply,) = read_replies(
        _file(tmp_path, _row(("Blue Hour came out in 1998", True), ("It came out in 1997", False)))
    )

    assert "1998" not in reply.sentences[0]
    assert "1997" in reply.sentences[1]


def test_false_clauses_that_stay_and_true_ones_that_go_are_counted(tmp_path: Path) -> None:
    row = _row(
        ("Ada Lind directed Blue Hour", True),
        ("Blue Hour directed Ada Lind", "contradicted"),
        ("It won an award", "unsupported"),
        ("Ada Lind directed Blue Hour", "contradicted"),
    )
    figures = measure(read_replies(_file(tmp_path, row)))

    assert dict(figures.clauses) == {"true": 1, "contradicted": 2, "unsupported": 1}
    assert figures.amiss["contradicted"] == 1
    assert figures.amiss["true"] == figures.amiss["unsupported"] == 0


def test_a_clause_stays_where_its_words_stand(tmp_path: Path) -> None:
    (reply,) = read_replies(
        _file(tmp_path, _row(("Ada Lind directed Blue Hour", True), ("It won an award", "unsupported")))
    )
    true, false = reply.clauses

    assert stays(true, checked(reply))
    assert not stays(false, checked(reply))


def test_the_command_ends_with_code_1_when_a_bound_is_missed(tmp_path: Path) -> None:
    held = _row(
        ("Ada Lind directed Blue Hour", True),
        ("Blue Hour directed Ada Lind", "contradicted"),
        ("It won an award", "unsupported"),
    )
    missed = _row(("Ada Lind directed Blue Hour", "contradicted"))
    run = CliRunner().invoke

    assert run(app, ["statements", "--replies", str(_file(tmp_path, held))]).exit_code == 0
    assert run(app, ["statements", "--replies", str(_file(tmp_path, held, missed))]).exit_code == 1


def test_a_file_of_another_form_is_refused(tmp_path: Path) -> None:
    with pytest.raises(QuestionsError):
        read_replies(_file(tmp_path, {"reply": "x"}))
