"""The words of a question tell the form of answer that it asks for."""

from __future__ import annotations

import pytest

from app.reader.language.answer_form import read_form


@pytest.mark.parametrize(
    ("question", "form"),
    [
        ("Who is Eq7f2k treated by?", "things"),
        ("What is the first name of Eq7f2k?", "things"),
        ("Which people from voices heard of Eq7f2k?", "things"),
        ("How many patients does Eq7f2k treat?", "count"),
        ("What is the average salary of the doctors of Eq7f2k?", "average"),
        ("What do the patients of Eq7f2k weigh on average?", "average"),
        ("What is the total salary at Eq7f2k?", "sum"),
        ("Is Eq7f2k married to Ez9y8x?", "truth"),
        ("How many patients does each doctor have?", "per_group"),
        ("The number of patients per ward", "per_group"),
    ],
)
def test_the_form_is_read_from_the_words(question: str, form: str) -> None:
    assert read_form(question, topics=1).form == form


@pytest.mark.parametrize(
    ("question", "function"),
    [
        ("Which city has the largest population?", "argmax"),
        ("Who is the oldest patient of Eq7f2k?", "argmin"),
        ("Who is the youngest patient of Eq7f2k?", "argmax"),
        ("Which admission was the latest?", "argmax"),
    ],
)
def test_an_extreme_says_which_end(question: str, function: str) -> None:
    asked = read_form(question, topics=1)
    assert (asked.form, asked.function) == ("extreme", function)


def test_ages_are_read_as_dates_of_birth() -> None:
    assert read_form("Who is the oldest patient?", topics=0).by_age
    assert "date of birth" not in read_form("Which city is the largest?", topics=0).rest


@pytest.mark.parametrize(
    ("question", "function"),
    [
        ("Is the salary of Eq7f2k or Ez9y8x higher?", "argmax"),
        ("Who is older, Eq7f2k or Ez9y8x?", "argmin"),
        ("Who is younger, Eq7f2k or Ez9y8x?", "argmax"),
        ("Does Eq7f2k earn less than Ez9y8x?", "argmin"),
    ],
)
def test_two_things_are_compared(question: str, function: str) -> None:
    asked = read_form(question, topics=2)
    assert (asked.form, asked.function) == ("compare", function)
    assert read_form(question, topics=1).form != "compare"


@pytest.mark.parametrize(
    ("words", "operator"),
    [
        ("before", "<"), ("under", "<"), ("less than", "<"), ("earlier than the year", "<"),
        ("after", ">"), ("over", ">"), ("more than", ">"),
        ("at least", ">="), ("since", ">="), ("not less than", ">="), ("no earlier than", ">="), ("not before", ">="),
        ("at most", "<="), ("up to", "<="), ("not more than", "<="), ("no later than", "<="), ("not after", "<="),
    ],
)  # fmt: skip
def test_a_filter_says_its_operator_and_its_value(words: str, operator: str) -> None:
    asked = read_form(f"Which patients of Eq7f2k were born {words} Vx81zp?", topics=1)
    assert (asked.form, asked.operator, asked.value) == ("filter", operator, "Vx81zp")
    assert "Vx81zp" not in asked.rest
    assert "born" in asked.rest


def test_without_a_comparative_nothing_is_compared() -> None:
    assert read_form("Is Eq7f2k or Ez9y8x a doctor?", topics=2).form == "things"


@pytest.mark.parametrize(
    ("question", "function"), [("When was the latest visit?", "max"), ("In what year was the first visit?", "min")]
)
def test_the_value_itself_may_be_asked_for(question: str, function: str) -> None:
    asked = read_form(question, topics=1)
    assert (asked.form, asked.function) == ("extreme", function)


def test_the_words_of_the_form_are_taken_out() -> None:
    assert "many" not in read_form("How many patients does Eq7f2k treat?", topics=1).rest
    assert "average" not in read_form("the average salary at Eq7f2k", topics=1).rest
    assert read_form("  who treats Eq7f2k ", topics=1).rest == "who treats Eq7f2k"
