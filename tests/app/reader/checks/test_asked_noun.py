"""The noun of what is asked for."""

from __future__ import annotations

import pytest

from app.reader.checks.asked_noun import asks_for_people, noun_of
from app.reader.meaning.question.question_tokens import read_question
from tests.support.drafts import GRAPH


@pytest.mark.parametrize(
    ("question", "kinds"),
    [
        ("Which doctors work at Ec1in1?", {"doctor"}),
        ("Who is the oldest doctor of Ec1in1?", {"doctor"}),
        ("In which clinic does the doctor of Ed0ct1 work?", {"clinic"}),
        ("Which physician works at Ec1in1?", {"doctor"}),
    ],
)
def test_a_noun_names_kinds(question: str, kinds: set[str]) -> None:
    noun = noun_of(read_question(question), GRAPH)
    assert noun is not None
    assert noun.kinds == kinds


@pytest.mark.parametrize(
    "question",
    [
        "Who works at Ec1in1?",
        "Is Ed0ct1 a doctor?",
        "What is the phone number of the doctor?",
        "Which doctor's phone number is it?",
        "Who is the mother of Ed0ct1?",
    ],
)
def test_where_nothing_says_or_another_word_is_meant(question: str) -> None:
    assert noun_of(read_question(question), GRAPH) is None


def test_a_noun_beside_the_question_word_leaves_room_for_no_value_but_its_own() -> None:
    direct = noun_of(read_question("Which doctors have a phone number?"), GRAPH)
    further = noun_of(read_question("What is the doctor of Ec1in1's phone number?"), GRAPH)
    assert direct is not None
    assert further is not None
    assert not direct.leaves_room_for({"phone", "number"})
    assert further.leaves_room_for({"phone", "number"})


def test_people_are_asked_for() -> None:
    assert asks_for_people(read_question("How many people work at Ec1in1?"))
    assert not asks_for_people(read_question("How many wards have people?"))
    assert not asks_for_people(read_question("Who works at Ec1in1?"))
