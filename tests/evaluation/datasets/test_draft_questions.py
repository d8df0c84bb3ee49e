"""The questions for spoilt drafts: filled, with a plan each, the same for the same seed."""

from __future__ import annotations

from evaluation.datasets.draft_questions import draft_questions

KINDS = "clinic doctor patient city manufacturer specialty disease insurer ward drug".split()
NAMES = {kind: [f"{kind.title()} {letter}" for letter in "ABCDEFG"] for kind in KINDS}


def test_each_question_is_whole_and_has_a_plan() -> None:
    questions = draft_questions(NAMES, seed=3)
    assert len(questions) == len({question.id for question in questions}) > 150
    assert all("{" not in question.texts[0] and question.plan for question in questions)
    assert {"exists", "count", "difference", "holds"} <= {
        word for question in questions if question.plan for word in question.plan.answer[0].split("(")
    }


def test_a_seed_gives_the_same_questions() -> None:
    assert draft_questions(NAMES, seed=3) == draft_questions(NAMES, seed=3) != draft_questions(NAMES, seed=4)
