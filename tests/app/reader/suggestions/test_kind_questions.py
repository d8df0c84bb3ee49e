"""Each form of relation label is said in good English in a suggested question, or is not suggested."""

from __future__ import annotations

import pytest

from app.reader.suggestions.kind_questions import counts_per, greatest, noun_for

NOUNS = [
    ("monthly salary", "monthly salary"),
    ("weight kg", "weight"),
    ("tuition per semester eur", "tuition per semester"),
    ("valid months", "number of valid months"),
    ("grade 1-10", "grade"),
    ("seats", "number of seats"),
    ("date of birth", "date of birth"),
    ("direct duration", "duration"),
]
NO_NOUNS = ["born on", "client since", "year built", "on floor", "fuel used litres", "has balcony", "max participants"]


@pytest.mark.parametrize(("label", "noun"), NOUNS)
def test_what_is_measured_is_named_without_its_unit(label: str, noun: str) -> None:
    assert noun_for(label) == noun


@pytest.mark.parametrize("label", NO_NOUNS)
def test_a_label_that_is_no_noun_names_nothing(label: str) -> None:
    assert noun_for(label) == ""


@pytest.mark.parametrize(
    ("noun", "said"),
    [("duration", "longest"), ("area", "largest"), ("weight", "highest"), ("number of seats", "highest")],
)
def test_the_superlative_goes_with_the_noun(noun: str, said: str) -> None:
    assert greatest(noun)[0] == said


COUNTS = [
    ("shipment", "ordered by", "customer", "How many shipments are ordered by each customer?"),
    ("flat", "part of", "building", "How many flats are part of each building?"),
    ("patient", "lives in", "city", "How many patients live in each city?"),
    ("student", "attends course", "course", "How many students attend each course?"),
]


@pytest.mark.parametrize(("concept", "label", "tail", "question"), COUNTS)
def test_one_of_several_relations_is_called_by_its_words(concept: str, label: str, tail: str, question: str) -> None:
    assert list(counts_per(concept, label, tail, is_only=False)) == [question]


@pytest.mark.parametrize("label", ["treated by", "exam of", "breed", "at practice"])
def test_the_only_relation_between_two_kinds_needs_no_words(label: str) -> None:
    assert next(counts_per("visit", label, "course", is_only=True)) == "How many visits are there per course?"


@pytest.mark.parametrize("label", ["exam of", "breed", "at practice"])
def test_words_that_make_no_sentence_make_no_question(label: str) -> None:
    assert not list(counts_per("visit", label, "course", is_only=False))


def test_nothing_is_counted_per_thing_of_its_own_kind() -> None:
    assert not list(counts_per("doctor", "supervised by", "doctor", is_only=True))
