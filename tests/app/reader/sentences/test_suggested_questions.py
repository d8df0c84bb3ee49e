"""Tests of questions that are suggested about all things of a kind."""

from __future__ import annotations

import pytest

from app.language.readings import AskedOfKind
from app.reader.sentences.suggested_questions import questions_of_kind


@pytest.mark.parametrize("concept", ["held by", "lives", "where", "led by", "thing 2"])
def test_nothing_is_suggested_of_things_that_no_noun_calls(concept: str) -> None:
    assert questions_of_kind(AskedOfKind("total", concept)) == []
    assert questions_of_kind(AskedOfKind("per_group", "hive", label="held by", tail=concept, is_only=True)) == []


@pytest.mark.parametrize(
    ("concept", "plural"), [("apiary site", "apiary sites"), ("person", "people"), ("bus", "buses")]
)
def test_things_that_a_noun_calls_are_counted(concept: str, plural: str) -> None:
    assert questions_of_kind(AskedOfKind("total", concept)) == [f"How many {plural} are there?"]
