"""Labelled replies are read in pseudonyms, and what reading them back gets wrong is counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evaluation.datasets.questions import QuestionsError
from evaluation.dialogue.labelled import measure, read_replies, statement_measures

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


def first_word(text: str, _known: str, _relation: str) -> tuple[str, ...]:
    """Reads back whatever a text begins with."""
    return (text.split()[0],)


def test_no_name_of_the_facts_is_left_in_a_reply(tmp_path: Path) -> None:
    (reply,) = read_replies(_file(tmp_path, _row(("Ada Lind directed Blue Hour", True), ("It is a drama", True))))
    assert not any(
        name in " ".join(text for text, _ in reply.clauses).lower() for name in ("ada", "lind", "blue", "drama")
    )


def test_a_year_stands_for_the_date_that_lies_in_it(tmp_path: Path) -> None:
    (reply,) = read_replies(
        _file(tmp_path, _row(("Blue Hour came out in 1998", True), ("It came out in 1997", False)))
    )
    assert "1998" not in reply.clauses[0][0]
    assert "1997" in reply.clauses[1][0]


def test_false_statements_that_read_back_and_true_ones_that_are_not_told_are_counted(tmp_path: Path) -> None:
    row = _row(
        ("Ada Lind directed Blue Hour", True),
        ("Blue Hour was made by Ada Lind", True),
        ("It is fine", True),
        ("Ada Lind was directed by Blue Hour", "contradicted"),
        ("Blue Hour won an award", "unsupported"),
    )
    figures = measure(read_replies(_file(tmp_path, row)), first_word)
    assert dict(figures.clauses) == {"true": 3, "contradicted": 1, "unsupported": 1}
    # The first stays, the second is told by the service, the third names nothing that could be.
    assert (figures.restated, figures.amiss["true"]) == (1, 1)
    assert (figures.amiss["contradicted"], figures.amiss["unsupported"]) == (1, 0)
    assert [line.passed for line in statement_measures(figures) if line.bound] == [False]


def test_a_file_of_another_form_is_refused(tmp_path: Path) -> None:
    with pytest.raises(QuestionsError):
        read_replies(_file(tmp_path, {"reply": "x"}))
