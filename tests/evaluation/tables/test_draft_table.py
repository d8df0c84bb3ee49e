"""Wrong drafts that got through, counted."""

from __future__ import annotations

import pytest

from evaluation.datasets.questions import Question
from evaluation.fakes.misleading_endpoint import YES, Corruption
from evaluation.tables.draft_table import AskedDraft, let_through

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
