"""Domains are read as they lie, asked as a user would, and reported with what was right, wrong and refused."""

from __future__ import annotations

import asyncio
import json
import zipfile
from pathlib import Path

import pytest

from client_sdk.answers.answer import Answer
from evaluation.datasets.questions import QuestionsError
from evaluation.natural.verdicts import Gold, NaturalQuestion, Verdict
from evaluation.understanding.domains import SETS, domains
from evaluation.understanding.run import AskedTurn, by_kind, measures, not_right, run_understanding

ROWS = "keeper,animal,born\nAda Finch,Rex,2019-04-01\nBo Marsh,Tessa,2020-05-02\n"
QUESTION = {
    "id": "zoo-1", "graph": "zoo", "kind": "one_step", "question": "Who is the keeper of Rex?",
    "gold": {"type": "entities", "items": ["Ada Finch"]},
}  # fmt: skip
GOLD = {"type": "entities", "items": ["Bo Marsh"]}
TALK = {"id": "zoo-d1", "turns": [{"text": "Who is the keeper of Tessa?", "gold": GOLD}, {"text": "thanks"}]}


@pytest.fixture
def sets(tmp_path: Path) -> Path:
    zoo = tmp_path / "seen" / "zoo"
    zoo.mkdir(parents=True)
    (zoo / "animals.csv").write_text(ROWS, "utf-8")
    (zoo / "questions.jsonl").write_text(json.dumps(QUESTION), "utf-8")
    (zoo / "dialogues.jsonl").write_text(json.dumps(TALK), "utf-8")
    (tmp_path / "shut").mkdir()
    with zipfile.ZipFile(tmp_path / "shut" / "farm.zip", "w") as packed:
        packed.write(zoo / "animals.csv", "animals.csv")
        packed.write(zoo / "questions.jsonl", "questions.jsonl")
    return tmp_path


def test_a_domain_is_read_with_its_questions_and_dialogues(sets: Path) -> None:
    with domains("seen", sets) as (zoo,):
        assert [each.name for each in zoo.files] == ["animals.csv"]
        assert (zoo.name, len(zoo.questions), [turn.gold is None for turn in zoo.dialogues[0].turns]) == (
            "zoo", 1, [False, True],
        )  # fmt: skip


def test_a_packed_domain_is_there_while_it_is_asked(sets: Path) -> None:
    with domains("shut", sets) as (farm,):
        assert (farm.name, farm.dialogues) == ("farm", ())
        assert farm.files[0].read_text("utf-8") == ROWS
    assert not farm.files[0].exists()


def test_a_half_without_domains_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(QuestionsError, match="no shut domains"), domains("shut", tmp_path):
        pass


def test_every_domain_in_the_box_can_be_read() -> None:
    with domains("seen", SETS) as known:
        assert len(known) >= 10
        assert all(each.files and each.questions for each in known)


def test_questions_and_dialogues_are_asked(sets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaluation.understanding.run.domains", lambda half: domains(half, sets))
    asked = asyncio.run(run_understanding("seen", "", lambda _what, _done, _of: None))
    assert [(each.verdict, each.dialogue) for each in asked] == [("right", ""), ("right", "zoo-d1")]
    told = {line.name: line.reached for line in measures("seen", asked)}
    assert told["questions: right"] == told["dialogues wholly right"] == "1.000"


def turn(verdict: Verdict, kind: str = "one_step", answer: Answer | None = None) -> AskedTurn:
    gold = Gold(type="unanswerable") if kind == "unanswerable" else Gold(type="entities", items=("Ada Finch",))
    return AskedTurn(
        "zoo", NaturalQuestion(id="1", graph="zoo", kind=kind, question="Who?", gold=gold), verdict, answer
    )


def test_what_was_not_right_is_told_wrong_ones_first() -> None:
    asked = [turn("right"), turn("refused"), turn("wrong"), turn("right", "unanswerable")]
    told = not_right(asked)
    assert told.index("wrong: 1") < told.index("refused: 1")
    assert "| domain zoo | 2 | 0 | 1 | 1 | 0.50 |" in by_kind(asked)
    lines = {line.name: line for line in measures("shut", asked)}
    assert lines["questions: right"].reached == "0.333"
    assert not lines["questions: right"].passed
    assert lines["unanswerable, refused"].passed
