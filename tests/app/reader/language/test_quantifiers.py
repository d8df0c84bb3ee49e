"""Words that turn an answer round, and those that nothing executes."""

from __future__ import annotations

import pytest

from app.reader.language.quantifiers import read_quantifier


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


def test_a_comparison_with_a_value_is_executed() -> None:
    assert read_quantifier("clinics with more than Vq7f2k beds").unread == ""


def test_a_question_may_begin_with_and() -> None:
    assert read_quantifier("and where does Eq7f2k work?").unread == ""
