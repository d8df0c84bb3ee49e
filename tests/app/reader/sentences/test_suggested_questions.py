"""Each form of relation label is said in good English in a suggested question, or is not suggested."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.language.readings import AskedStep
from app.reader.sentences.suggested_questions import counts_per, greatest, noun_for, wordings
from kg_store.terms import ValueKind

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


X, THEY = "Eq7f2k", ""


def things(label: str, kind: str, *, one: bool = True, people: bool = False) -> AskedStep:
    return AskedStep(X, label, tuple(kind.split(", ")), None, one, people)


def values(label: str, kind: ValueKind = ValueKind.TEXT, *, one: bool = True) -> AskedStep:
    return AskedStep(X, label, (), kind, one)


@pytest.mark.parametrize(
    ("step", "question"),
    [
        (things("treated by", "doctor", people=True), "Who is Eq7f2k treated by?"),
        (things("lives in", "city"), "Which city does Eq7f2k live in?"),
        (things("head nurse", "nurse", people=True), "Who is Eq7f2k's head nurse?"),
        (things("gender", "gender"), "What is Eq7f2k's gender?"),
        (things("has child", "person", one=False, people=True), "Who are Eq7f2k's children?"),
        (things("citizen of", "country"), "Which country is Eq7f2k a citizen of?"),
        (things("^treated by", "patient", one=False, people=True), "Which patients are treated by Eq7f2k?"),
        (things("^lives in", "patient, doctor", one=False, people=True), "Who lives in Eq7f2k?"),
        (things("^located in", "clinic, ward", one=False), "What is located in Eq7f2k?"),
        (things("^supervisor", "student"), "Which student has Eq7f2k as a supervisor?"),
        (values("salary eur", ValueKind.NUMBER), "What is Eq7f2k's salary?"),
        (values("consulting rooms", ValueKind.NUMBER), "How many consulting rooms does Eq7f2k have?"),
        (values("year built", ValueKind.NUMBER), "When was Eq7f2k built?"),
        (values("first registered", ValueKind.DATE), "When was Eq7f2k first registered?"),
    ],
)
def test_of_one_thing(step: AskedStep, question: str) -> None:
    assert wordings(step)[0] == question


@pytest.mark.parametrize(
    ("step", "question"),
    [
        (things("citizen of", "country", one=False), "Which countries are they citizens of?"),
        (things("registered at", "practice", one=False), "Which practices are they registered at?"),
        (things("director", "person", one=False, people=True), "Who are their directors?"),
        (things("^owns", "landlord", one=False), "Which landlords own them?"),
    ],
)
def test_of_several(step: AskedStep, question: str) -> None:
    assert wordings(replace(step, thing=THEY)) == [question]


@pytest.mark.parametrize(
    ("thing", "step"),
    [
        (X, values("valid in months", ValueKind.NUMBER)),
        (X, values("occurred on trip")),
        (X, values("registered", ValueKind.NUMBER)),
        (THEY, things("^product", "order item", one=False)),
        (X, things("Rk3m2a8", "ward")),
    ],
)
def test_that_is_no_english_is_not_asked(thing: str, step: AskedStep) -> None:
    assert wordings(replace(step, thing=thing)) == []
