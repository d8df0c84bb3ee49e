"""Questions that leave something to earlier turns: pronouns, what goes without saying, and what does not."""

from __future__ import annotations

import pytest

from app.llm.tasks import SchemaStep, StepInput, Turn
from app.reader.meaning.read_meaning import read_meaning
from app.reader.scoring.path_scoring import PathScorer
from tests.app.reader.meaning.test_read_meaning import read, scorer
from tests.support.tasks import thing

__all__ = ["scorer"]

EARLIER = (Turn(role="user", text="Who manages Er3h33?"), Turn(role="assistant", text="Er3h33 is managed by Em4b44."))


@pytest.mark.parametrize(
    ("question", "expression"),
    [
        ("When was she born?", 'reach(Em4b44, "date of birth")'),
        ("What is her email?", 'reach(Em4b44, "email")'),
        ("How many seats does it have?", 'reach(Er3h33, "number of seats")'),
        ("How many seats are there?", 'reach(Er3h33, "number of seats")'),
        ("How many seats has that branch?", 'reach(Er3h33, "number of seats")'),
        ("and which books?", 'reach(Er3h33, "^kept at")'),
        ("and the email?", 'reach(Em4b44, "email")'),
        ("How many books are there?", "count(Sb0001)"),
        ("Who wrote the most books?", 'most(reach(Sb0001, "written by"), "^written by")'),
    ],
)
def test_what_is_left_to_earlier_turns_is_filled_in(scorer: PathScorer, question: str, expression: str) -> None:
    found = read(scorer, question, *EARLIER)
    assert found is not None
    assert (found.meaning.expression, found.is_sure) == (expression, True), found


def test_the_other_extreme_is_taken_of_all_and_not_of_the_one_that_was_told(scorer: PathScorer) -> None:
    earlier = (Turn(role="user", text="What is the cheapest book?"), Turn(role="assistant", text="It is Eb1k11."))
    found = read(scorer, "and the most expensive?", *earlier)
    dearest = read(scorer, "and the latest?", Turn(role="user", text="Who is the oldest author?"))
    assert dearest is not None
    assert dearest.meaning.expression == 'argmax(Sa0001, "date of birth")'
    assert found is None or found.meaning.expression != 'argmax(Eb1k11, "price")'


def test_their_is_of_people_where_people_were_spoken_of(scorer: PathScorer) -> None:
    earlier = (
        Turn(role="user", text="Who manages Er3h33?"),
        Turn(role="assistant", text="Em4b44."),
        Turn(role="user", text="Where are the books of Em4b44?"),
        Turn(role="assistant", text="At Er9h99."),
    )
    found = read(scorer, "What is their email?", *earlier)
    assert found is not None
    assert found.meaning.expression == 'reach(Em4b44, "email")'


@pytest.mark.parametrize(
    "question", ["When was that loan due?", "And which authors?", "Who was the translator?", "What for?"]
)
def test_what_no_earlier_turn_tells_is_not_asked_of_everybody(scorer: PathScorer, question: str) -> None:
    found = read(scorer, question, *EARLIER)
    assert found is None or not found.is_sure, found


SEVERAL = (Turn(role="user", text="Which members borrowed Eb1k11?"), Turn(role="assistant", text="They are Sm6g66."))


@pytest.mark.parametrize(
    ("question", "expression"),
    [
        ("only those who are blocked please", 'having(Sm6g66, "blocked")'),
        ("just the blocked ones", 'having(Sm6g66, "blocked")'),
        ("And who of them is not blocked?", 'difference(Sm6g66, having(Sm6g66, "blocked"))'),
        ("only those who borrowed something", 'having(Sm6g66, "^borrowed by")'),
        ("and which one is older?", 'argmin(Sm6g66, "date of birth")'),
        ("Who of them is the oldest?", 'argmin(Sm6g66, "date of birth")'),
    ],
)
def test_some_of_those_that_were_told_are_asked_for(scorer: PathScorer, question: str, expression: str) -> None:
    found = read(scorer, question, *SEVERAL)
    assert found is not None
    assert (found.meaning.expression, found.is_sure) == (expression, True), found


@pytest.mark.parametrize("question", ["Who was in Ef1m11?", "and who is in Ef1m11?", "Who's in Ef1m11"])
def test_who_was_in_a_film_asks_for_its_cast(scorer: PathScorer, question: str) -> None:
    ways = [("film", label, "person") for label in ("director", "cast member", "composer")]
    steps = tuple(SchemaStep(kind, label, label, end) for kind, label, end in ways)
    found = read_meaning(scorer, film_question(question, steps))
    assert found is not None
    assert (found.meaning.expression, found.is_sure) == ('reach(Ef1m11, "cast member")', True), found


def test_who_was_in_a_film_without_a_cast_is_not_guessed(scorer: PathScorer) -> None:
    steps = tuple(SchemaStep("film", label, label, "person") for label in ("director", "composer"))
    found = read_meaning(scorer, film_question("Who was in Ef1m11?", steps))
    assert found is None or not found.is_sure, found


def film_question(question: str, steps: tuple[SchemaStep, ...]) -> StepInput:
    kinds = (thing("Sf0001", "film", "more"), thing("Sp0001", "person", "more"))
    own = {"Ef1m11": tuple(step.label for step in steps)}
    return StepInput(
        question=question, dialogue=[], things=[thing("Ef1m11", "film")], evidence=[], candidates=[], steps=steps,
        kinds=kinds, own=own,
    )  # fmt: skip


def test_which_of_them_asks_for_some_of_them_and_not_for_what_they_lead_to(scorer: PathScorer) -> None:
    found = read(scorer, "which of them are Vs6c66", *SEVERAL)
    assert found is None or not found.is_sure, found
