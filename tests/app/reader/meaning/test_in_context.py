"""The reading most like the whole question: answered where it is likely, offered where it is not, else left."""

from __future__ import annotations

import pytest

from app.reader.scoring.path_scoring import PathScorer
from app.reader.step import plan_step
from tests.support.library import asked, read


def test_the_reading_most_like_the_whole_question_decides(scorer: PathScorer) -> None:
    found = read(scorer, "Which books does Er3h33 stock?")
    assert found is not None
    assert (found.is_sure, found.by_whole, found.scores.road) == (True, True, "whole")
    assert found.meaning.expression == 'reach(Er3h33, "^kept at")'


@pytest.mark.parametrize(
    ("question", "offered"),
    [
        ("Which author put Eb1k11 to paper?", "Which authors is Eb1k11 written by?"),
        ("What is the email that Em4b44 uses?", "What is Em4b44's email?"),
        ("What does Eb1k11 cost a reader?", "What is Eb1k11's price?"),
    ],
)
def test_a_reading_that_is_not_sure_is_offered(scorer: PathScorer, question: str, offered: str) -> None:
    plan = plan_step(scorer, asked(question))
    assert plan is not None
    assert (plan.expressions, plan.asks_back[:1]) == ((), (offered,))


@pytest.mark.parametrize("question", ["What is Eb1k11's blood group?", "Where does Em4b44 go on holiday?"])
def test_a_reading_unlike_the_question_is_not_offered(scorer: PathScorer, question: str) -> None:
    plan = plan_step(scorer, asked(question))
    assert plan is None or (plan.expressions, plan.asks_back) == ((), ())
