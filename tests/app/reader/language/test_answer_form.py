"""The words of a question tell the form of answer that it asks for."""

from __future__ import annotations

import pytest

from app.reader.language.answer_form import normalise_idioms, plainer, read_form, read_quantifier
from kg_store.text.english import PLAINER


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


@pytest.mark.parametrize(
    ("question", "function"), [("When was the latest visit?", "max"), ("In what year was the first visit?", "min")]
)
def test_the_value_itself_may_be_asked_for(question: str, function: str) -> None:
    asked = read_form(question, topics=1)
    assert (asked.form, asked.function) == ("extreme", function)


@pytest.mark.parametrize(
    ("asked", "plain"),
    [
        ("What is Eq7f2k 's mother ?", "what is Eq7f2k 's mother 's occupation"),
        ("Who is the grandmother of Eq7f2k?", "Who is the mother of the parent of Eq7f2k?"),
        ("Eq7f2k's grandchildren", "Eq7f2k's child 's children"),
        ("What does Eq7f2k's father do?", "what is Eq7f2k's father 's occupation"),
        ("What is Eq7f2k 's father 's mother ?", "What is Eq7f2k 's father 's mother ?"),
        ("Is Eq7f2k 's child a man or a woman ?", "what is Eq7f2k 's child  's gender"),
        ("Could you tell me who treats Eq7f2k?", "who treats Eq7f2k?"),
        ("What is Eq7f2k about?", "What is Eq7f2k topic"),
        ("which films are about Eq7f2k", "which films are with topic Eq7f2k"),
        ("Is Eq7f2k a doctor or a nurse?", "Is Eq7f2k a doctor or a nurse?"),
        ("what does Eq7f2k do here for a living?", "what is Eq7f2k 's occupation"),
        ("how much does Eq7f2k make a month?", "how much does Eq7f2k earn a month?"),
        ("what does Eq7f2k make?", "what does Eq7f2k make?"),
        ("who did Eq7f2k sell for Ec1in1?", "who did Eq7f2k sell for Ec1in1?"),
        ("films that deal with Eq7f2k", "films that with topic Eq7f2k"),
        ("whose property is Eq7f2k?", "who owns Eq7f2k"),
        ("what sort of movie is Eq7f2k?", "what genre is Eq7f2k?"),
        ("and since when is Eq7f2k working there?", "and when was Eq7f2k hired"),
        ("who showed Eq7f2k the ropes?", "who trained Eq7f2k?"),
        ("how badly did Eq7f2k sleep?", "how badly did Eq7f2k sleep?"),
        ("how far is Eq7f2k from Ec1in1", "how far is Eq7f2k from Ec1in1"),
    ],
)
def test_a_phrase_is_said_plainly(asked: str, plain: str) -> None:
    assert normalise_idioms(asked).split() == plain.split()


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("has it arrived so far", "has it arrived "),
        ("Because of gout", "for gout"),
        ("is it sold-out", "is it sold-out"),
        ("these days", "these days"),
    ],
)
def test_plainer_words_stand_for_whole_phrases_alone(said: str, read: str) -> None:
    assert plainer(said) == read


def test_what_is_read_is_itself_plain() -> None:
    assert all(plainer(read) == read for read in PLAINER.values() if read)


@pytest.mark.parametrize(
    ("question", "turn", "rest"),
    [
        ("Which doctors do not work at Eq7f2k?", "negated", "Which doctors work at Eq7f2k?"),
        ("patients without a doctor", "negated", "patients with doctor"),
        ("Who else works at Eq7f2k?", "others", "Who works at Eq7f2k?"),
        ("Which doctors work at Eq7f2k?", "", "Which doctors work at Eq7f2k?"),
        ("Which visits were not before Vq7f2k?", "", "Which visits were not before Vq7f2k?"),
        ("the other half of Eq7f2k", "", "the other half of Eq7f2k"),
    ],
)
def test_the_turn_is_read_and_its_words_taken_out(question: str, turn: str, rest: str) -> None:
    read = read_quantifier(question)
    assert (read.turn, read.rest, read.unread) == (turn, rest, "")


def test_what_is_left_out_is_named() -> None:
    read = read_quantifier("All children of Eq7f2k except Ez9y8x")
    assert (read.turn, read.thing) == ("except", "Ez9y8x")


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("Which clinics have only two wards?", "only"),
        ("Which clinics have at least four wards?", "at least"),
        ("how many more beds does Eq7f2k have", "how many more"),
        ("wards where nobody was admitted", "nobody"),
        ("which band recorded Eq7f2k and where was it formed?", "and where"),
    ],
)
def test_what_nothing_executes_is_told_by_its_word(question: str, word: str) -> None:
    assert read_quantifier(question).unread == word
