"""Questions for spoilt drafts, right answers spoilt in each way, and wrong drafts that got through, counted."""

from __future__ import annotations

import pytest

from evaluation.datasets.questions import Question
from evaluation.tables.draft_table import YES, AskedDraft, Corruption, Way, draft_questions, let_through
from tests.support.tasks import fact, step, thing, way

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


QUESTION = Question(id="q", question="Is it so?", answers=())


def asked(*names: str, said: str = "The answer is no.", answered: bool = True, lie: str = "") -> AskedDraft:
    return AskedDraft(QUESTION, frozenset(names), said, answered, None, Corruption("yes for no", 0, lie))


@pytest.mark.parametrize(
    ("given", "is_wrong", "is_right"),
    [
        (asked("yes"), True, False),
        (asked("no"), False, True),
        (asked(answered=False), False, False),
        (asked("no", said="Yes, that is so: no.", lie=YES), True, False),
        (asked("no", lie=YES), False, False),
    ],
)
def test_an_answer_is_wrong_by_its_names_or_by_what_it_says_beside_them(
    given: AskedDraft, is_wrong: bool, is_right: bool
) -> None:
    gold = frozenset({"no"})
    assert (given.is_wrong(gold), given.is_right(gold)) == (is_wrong, is_right)


def test_the_bound_is_a_share() -> None:
    assert let_through("x", [True] + [False] * 19).passed
    assert not let_through("x", [True] + [False] * 18).passed
    assert not let_through("x", []).passed


ASKED = step(
    "which doctors work at Ec1in1",
    [thing("Ec1in1", "clinic"), thing("Sd0cts", "doctor")],
    [way(2, "Ec1in1", "^part of", to="ward")],
    [fact("Ec1in1", "^works at", end="Ss1aff", to="doctor, nurse", of="clinic")],
)


@pytest.mark.parametrize(
    ("spoilt", "answer", "forms"),
    [
        ("wrong type", "count(Ss1aff)", ["Ss1aff", "count(Ec1in1)", "count(way(2))"]),
        (
            "wrong type",
            "intersect(Ss1aff, Sd0cts)",
            ["count(intersect(Ss1aff, Sd0cts))", "Ec1in1", "way(2)", "Ss1aff"],
        ),
        ("yes for no", "exists(intersect(Ss1aff, Sd0cts))", ["exists(Ss1aff)", "none(intersect(Ss1aff, Sd0cts))"]),
        ("yes for no", "holds(Ss1aff)", ["exists(Ss1aff)"]),
        ("yes for no", "Ss1aff", []),
        (
            "negation dropped",
            "count(difference(Sd0cts, Ss1aff))",
            ["count(Sd0cts)", "count(Ss1aff)", "count(intersect(Sd0cts, Ss1aff))"],
        ),
        ("negation dropped", "Ss1aff", []),
    ],
)
def test_the_forms_of_a_spoilt_answer(spoilt: Way, answer: str, forms: list[str]) -> None:
    assert Corruption.forms(spoilt, answer, ASKED) == forms
    assert [Corruption(spoilt, at).of(answer, ASKED) for at in range(len(forms))] == forms
    assert Corruption(spoilt, len(forms)).of(answer, ASKED) is None


def test_a_lie_is_told_beside_the_right_expression() -> None:
    assert Corruption("yes for no", 0, YES).of("holds(Ss1aff)", ASKED) == "holds(Ss1aff)"
