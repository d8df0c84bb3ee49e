"""Expressions are worded by labels as they stand where no better words are certain."""

from __future__ import annotations

import pytest

from app.llm.tasks import SchemaStep, StepInput
from app.reader.sentences.question_text import QuestionWriter
from kg_store.text.labels import plain_words
from tests.support.tasks import thing

STEPS = (
    SchemaStep("tool", "bought on", "bought on", "date", "date"),
    SchemaStep("tool", "fee per day", "fee per day", "number", "number"),
    SchemaStep("tool", "kept at branch", "kept at branch", "branch"),
    SchemaStep("tool", "^item", "^item", "loan, repair"),
    SchemaStep("repair", "fixed by", "fixed by", "person"),
    SchemaStep("branch", "town", "town", "place"),
    SchemaStep("branch", "^kept at branch", "^kept at branch", "tool"),
    SchemaStep("tool", "sub|paid on", "sub|paid on", "date", "date"),
    SchemaStep("person", "^fixed by|^item", "^fixed by|^item", "tool"),
)
KINDS = (thing("St1t1t", "tool"), thing("Sr1r1r", "repair"))
GIVEN = StepInput(question="", things=[], evidence=[], candidates=[], steps=STEPS, kinds=KINDS)


@pytest.mark.parametrize(
    ("expression", "question"),
    [
        ('reach(Et1t1t, "bought on")', "When was Et1t1t bought?"),
        ('reach(Et1t1t, "fee per day")', "What is Et1t1t's fee per day?"),
        ('reach(reach(Et1t1t, "kept at branch"), "town")', "What is the town of the kept at branch of Et1t1t?"),
        ('reach(reach(Et1t1t, "^item"), "fixed by")', "What is the fixed by of the repairs whose item is Et1t1t?"),
        ('reach(Et1t1t, "sub|paid on")', "What is the paid on of the sub of Et1t1t?"),
        (
            'sum(filter(St1t1t, "bought on", <, V1v1v1), "fee per day")',
            "What is the total fee per day of the tools with a bought on before V1v1v1?",
        ),
        (
            'count(filter(St1t1t, "fee per day", >, V1v1v1))',
            "How many tools have a fee per day above V1v1v1?",
        ),
    ],
)
def test_any_label_has_words(expression: str, question: str) -> None:
    assert QuestionWriter(GIVEN, plain_words).questions(expression)[-1:] == [question]


@pytest.mark.parametrize(
    "expression",
    [
        'reach(Et1t1t, "^item")',  # of loans and repairs, none is meant alone
        'reach(Ep1p1p, "^fixed by|^item")',  # no label says what stands between
        'compare(Et1t1t, Eu1u1u, "fee per day")',
    ],
)
def test_what_has_no_plain_words_is_not_asked(expression: str) -> None:
    assert QuestionWriter(GIVEN, plain_words).questions(expression) == []
