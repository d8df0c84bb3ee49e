"""Expressions as the questions that they answer; what can't be said in plain English has none."""

from __future__ import annotations

import pytest

from app.llm.tasks import SchemaStep, StepInput
from app.reader.sentences.question_text import QuestionWriter
from tests.support.tasks import thing

RELATIONS = [
    ("patient", "treated by", "doctor"),
    ("patient", "lives in", "city"),
    ("doctor", "works at", "clinic"),
    ("clinic", "located in", "city"),
    ("ward", "head nurse", "nurse"),
    ("film", "directed", "person"),
    ("clinic", "has elevator", "lift"),
    ("incident", "occurred on trip", "trip"),
]
VALUES = [("patient", "date of birth", "date"), ("doctor", "monthly salary", "number")]
KINDS = {"patient": "Sp0001", "doctor": "Sd0001", "clinic": "Sc0001", "city": "Sy0001", "ward": "Sw0001"}


@pytest.fixture
def writer() -> QuestionWriter:
    both = [*RELATIONS, *((end, f"^{label}", kind) for kind, label, end in RELATIONS)]
    steps = [SchemaStep(kind, label, label, end) for kind, label, end in both]
    steps += [SchemaStep(kind, label, label, value, value) for kind, label, value in VALUES]
    kinds = tuple(thing(name, kind, "more") for kind, name in KINDS.items())
    given = StepInput(question="?", things=[], evidence=[], candidates=[], steps=tuple(steps), kinds=kinds)
    return QuestionWriter(given, lambda label: label)


@pytest.mark.parametrize(
    ("expression", "question"),
    [
        ('reach(Eq7f2k, "treated by")', "Which doctors is Eq7f2k treated by?"),
        ('reach(Eq7f2k, "^treated by")', "Which patients are treated by Eq7f2k?"),
        ('reach(Eq7f2k, "^lives in")', "Which patients live in Eq7f2k?"),
        ('reach(Eq7f2k, "head nurse")', "Which head nurses does Eq7f2k have?"),
        ('reach(Eq7f2k, "directed")', "Which people did Eq7f2k direct?"),
        ('reach(Eq7f2k, "date of birth")', "What is Eq7f2k's date of birth?"),
        ('count(reach(Eq7f2k, "^treated by"))', "How many patients are treated by Eq7f2k?"),
        (
            'intersect(reach(Eq7f2k, "^lives in"), reach(Ezz9y8, "^treated by"))',
            "Which patients live in Eq7f2k and are treated by Ezz9y8?",
        ),
        ('reach(reach(Eq7f2k, "^located in"), "^works at")', "Which doctors work at the clinics located in Eq7f2k?"),
        ('difference(Sp0001, having(Sp0001, "date of birth"))', "Which patients have no date of birth?"),
        ('difference(Sp0001, reach(Eq7f2k, "^treated by"))', "Which patients are not treated by Eq7f2k?"),
        ('filter(Sp0001, "date of birth", <, Vd4t33)', "Which patients have a date of birth before Vd4t33?"),
        ('argmax(Sd0001, "monthly salary")', "Which doctors have the highest monthly salary?"),
        (
            'average(reach(Eq7f2k, "^works at"), "monthly salary")',
            "What is the average monthly salary of the doctors that work at Eq7f2k?",
        ),
        ('group(Sp0001, "lives in")', "How many patients are there per city?"),
        ('exists(intersect(reach(Eq7f2k, "treated by"), Ezz9y8))', "Is Eq7f2k treated by Ezz9y8?"),
        ('holds(reach(Eq7f2k, "has elevator"))', "Does Eq7f2k have an elevator?"),
        ("count(Sp0001)", "How many patients are there?"),
    ],
)
def test_an_expression_as_a_question(writer: QuestionWriter, expression: str, question: str) -> None:
    assert writer.questions(expression)[0] == question


@pytest.mark.parametrize(
    "expression",
    [
        'reach(Eq7f2k, "Rk3m2a")',
        'reach(Eq7f2k, "unheard of")',
        'reach(Eq7f2k, "^occurred on trip")',
        'reach(Sk3mmd, "treated by")',
        'compare(Eq7f2k, Ezz9y8, "monthly salary")',
        'most(Sd0001, "^treated by")',
        'filter(Sp0001, "date of birth", !=, Vd4t33)',
    ],
)
def test_what_is_not_certain_has_no_words(writer: QuestionWriter, expression: str) -> None:
    assert writer.questions(expression) == []
