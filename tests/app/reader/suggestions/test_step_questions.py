"""One step as a question: by people, dates and numbers, for one thing and for several; none where it is no English."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.language.readings import AskedStep
from app.reader.suggestions.step_questions import wordings
from kg_store.terms import ValueKind

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
