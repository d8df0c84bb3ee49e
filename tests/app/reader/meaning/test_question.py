"""The time that a question asks about, and the words that say it."""

from __future__ import annotations

import pytest

from app.llm.tasks import SchemaStep, StepInput, Turn
from app.reader.meaning.question.asked_form import asked_time
from app.reader.meaning.question.measures import StatedUnit, is_foreign_unit, without_units
from app.reader.meaning.read_meaning import read_meaning
from app.reader.scoring.path_scoring import PathScorer
from tests.support.library import read
from tests.support.tasks import thing


@pytest.mark.parametrize(
    ("question", "relation", "names", "rest"),
    [
        ("who was governor of Eq7f2k in Vq7f2k", "at", ("Vq7f2k",), "who was governor of Eq7f2k"),
        ("who led Eq7f2k in the early Vq7f2k?", "at", ("Vq7f2k",), "who led Eq7f2k ?"),
        ("what did Eq7f2k edit in the middle of Vq7f2k", "at", ("Vq7f2k",), "what did Eq7f2k edit"),
        ("who are the senators of Eq7f2k Vq7f2k", "at", ("Vq7f2k",), "who are the senators of Eq7f2k"),
        ("who is the current head of Eq7f2k in Vq7f2k", "at", ("Vq7f2k",), "who is the head of Eq7f2k"),
        ("who led Eq7f2k between Vq7f2k and Vx7f2k", "at", ("Vq7f2k", "Vx7f2k"), "who led Eq7f2k"),
        ("who has led Eq7f2k since Vq7f2k?", "since", ("Vq7f2k",), "who has led Eq7f2k ?"),
        ("who led Eq7f2k before Vq7f2k", "before", ("Vq7f2k",), "who led Eq7f2k"),
        ("who led Eq7f2k when Ex7f2k was born", "at", ("Ex7f2k",), "who led Eq7f2k"),
        ("who led Eq7f2k on the day Ex7f2k died?", "at", ("Ex7f2k",), "who led Eq7f2k"),
        ("who led Eq7f2k during the Ex7f2k", "at", ("Ex7f2k",), "who led Eq7f2k"),
        ("who is Eq7f2k's husband now", "now", (), "who is Eq7f2k's husband"),
        ("who are the former spouses of Eq7f2k", "past", (), "who are the spouses of Eq7f2k"),
        ("who was the first wife of Eq7f2k", "first", (), "who was the wife of Eq7f2k"),
        ("when was the last time the Eq7f2k won", "last", (), "when the Eq7f2k won"),
    ],
)
def test_the_words_for_a_time_are_found(question: str, relation: str, names: tuple[str, ...], rest: str) -> None:
    found = asked_time(question, ["Vq7f2k", "Vx7f2k"])
    assert found is not None
    assert (found.relation, found.names) == (relation, names)
    left = "".join(
        letter if not any(start <= at < end for start, end in found.parts) else " "
        for at, letter in enumerate(question)
    )
    assert " ".join(left.split()) == rest


@pytest.mark.parametrize(
    "question",
    [
        "what is the first name of Eq7f2k",
        "who lives in Eq7f2k",
        "who was born in Vz7f2k",
        "who was the first lady of Eq7f2k",
        "which film of Eq7f2k has the latest release year?",
        "when was Eq7f2k born",
        "what was yesterday's news",
        "which was the first, and which the last?",
        "",
    ],
)
def test_other_words_say_no_time(question: str) -> None:
    assert asked_time(question, ["Vq7f2k"]) is None


def test_one_office_is_told_from_several_things() -> None:
    questions = ("who was the mayor of Eq7f2k in Vq7f2k", "which clubs did Eq7f2k play for in Vq7f2k")
    found = [asked_time(question, ["Vq7f2k"]) for question in questions]
    assert [each.is_of_one for each in found if each] == [True, False]


LABELS = ("weight kg", "monthly salary eur", "valid months", "unit price")


@pytest.mark.parametrize(
    ("said", "kept", "symbol", "period"),
    [
        ("over Vab1cd kg", "over Vab1cd", "kg", ""),
        ("heavier than Vab1cd kilograms", "more than Vab1cd", "kg", ""),
        ("between Vxy1cd and Vab1cd euros a month", "between Vxy1cd and Vab1cd a month", "eur", "month"),
        ("less than Vab1cd a year", "less than Vab1cd a year", "", "year"),
        ("valid for Vab1cd months", "valid for Vab1cd", "mo", ""),
    ],
)
def test_a_unit_of_the_schema_is_taken_off_its_value(said: str, kept: str, symbol: str, period: str) -> None:
    words, units = without_units(said.split(), LABELS, ())
    assert " ".join(words) == kept
    assert (units["Vab1cd"].symbol, units["Vab1cd"].period) == (symbol, period)


@pytest.mark.parametrize(
    "said",
    [
        "over Vab1cd grams",
        "over Vab1cd dollars",
        "in the last Vab1cd months",
        "orders in Vab1cd per month",
        "Vab1cd beds",
    ],
)
def test_what_no_relation_is_in_stays_behind_its_value(said: str) -> None:
    words, units = without_units(said.split(), LABELS, ())
    assert (" ".join(words), units) == (said, {})


def test_a_value_with_a_unit_is_compared_with_its_own_kind_alone() -> None:
    kilograms = StatedUnit("kg", "mass")
    assert kilograms.fits("weight kg", "number")
    assert not any(kilograms.fits(label, "number") for label in ("dose in mg", "unit price", "salary eur"))
    assert not kilograms.fits("weighed on", "date")
    euros = StatedUnit("eur", "money")
    assert all(euros.fits(label, "number") for label in ("salary eur", "unit price"))
    assert not any(euros.fits(label, "number") for label in ("salary usd", "weight kg"))


def test_a_value_for_a_period_is_compared_with_none_for_another_and_no_date() -> None:
    yearly = StatedUnit(period="year")
    assert all(yearly.fits(label, "number") for label in ("salary eur", "annual budget eur"))
    assert not any(yearly.fits(label, "number") for label in ("monthly salary eur", "weight kg"))
    assert not yearly.fits("hired on", "date")


def test_a_unit_that_no_relation_has_is_foreign_and_a_time_may_say_when() -> None:
    assert [is_foreign_unit(word) for word in ("tonnes", "dollars", "years", "beds")] == [True, True, False, False]


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
