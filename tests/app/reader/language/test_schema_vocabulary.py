"""The words that a schema answers to."""

from __future__ import annotations

import pytest

from app.reader.language.schema_vocabulary import SchemaVocabulary, vocabulary_of
from kg_store.terms import Relation, RelationId, Schema


@pytest.fixture(scope="module")
def known() -> SchemaVocabulary:
    labels = ("monthly salary", "treated by", "specializes in")
    relations = tuple(Relation(RelationId(at), f"urn:{at}", label, f"{label} of") for at, label in enumerate(labels))
    return vocabulary_of(Schema(relations, (), ()), ("doctor", "city"))


@pytest.mark.parametrize(
    ("question", "lacking"),
    [
        ("What does Eq7f2k earn?", []),
        ("What does Eq7f2k specialise in?", []),
        ("How many beds and windows does Eq7f2k have?", ["beds", "windows"]),
        ("Please tell me everyone", []),
    ],
)
def test_words_that_no_relation_and_no_concept_is_asked_for_by(
    known: SchemaVocabulary, question: str, lacking: list[str]
) -> None:
    assert known.lacks(question.replace("How many", "")) == lacking
