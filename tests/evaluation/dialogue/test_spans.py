"""Tests of the words and the F1 of SQuAD."""

from __future__ import annotations

import pytest

from evaluation.dialogue.spans import SpanQuestion, squad_f1, squad_words


def test_articles_punctuation_and_capitals_do_not_count() -> None:
    assert squad_words("The Lord of the Rings: An Odyssey!") == ["lord", "of", "rings", "odyssey"]
    assert squad_f1("the U.S.", ["US"]) == 1.0


def test_a_word_inside_another_is_no_article() -> None:
    assert squad_words("Anna at theatre") == ["anna", "at", "theatre"]


def test_shared_words_are_counted_as_often_as_both_have_them() -> None:
    assert squad_f1("New New York", ["New York City"]) == pytest.approx(2 * 2 / 6)


def test_the_best_acceptable_answer_counts() -> None:
    assert squad_f1("Tom Hanks", ["Julia Roberts", "Tom Hanks Junior", "Hanks"]) == pytest.approx(0.8)
    assert squad_f1("Tom Hanks", []) == 0.0


def test_an_answer_without_words_equals_only_another_one() -> None:
    assert squad_f1("the", ["A!"]) == 1.0
    assert squad_f1("the", ["York"]) == 0.0


def test_a_question_shows_its_known_end() -> None:
    assert SpanQuestion("Rose sings.", "singing", "does", True).triplet == "(X, does, singing)"
    assert SpanQuestion("Rose sings.", "Rose", "does", False).triplet == "(Rose, does, X)"
