"""Complaints: every one that can arise is known beforehand, and none quotes the model."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from app.egress.guard import MIN_STATIC_BYTES
from app.llm.endpoint.prompted_reasoner import broken_rules
from app.llm.endpoint.repair_messages import MAX_REPORTED, NOTHING_SHOWN, complaints_about, complaints_of
from app.llm.endpoint.request_body import _escaped
from app.llm.tasks import (
    AnswerReply,
    ChooseInput,
    ChooseReply,
    NameReply,
    StepReply,
    StructureReply,
    TaskModel,
)
from tests.support.tasks import step, thing, way

REPLIES = (StructureReply, ChooseReply, NameReply, AnswerReply, StepReply)
WORDS = sorted({name for model in REPLIES for name in model.model_fields} | {"head", "number", "Canaria", "follow"})
LEAVES = st.none() | st.booleans() | st.integers(0, 9) | st.floats(0, 1) | st.sampled_from(["Canaria", "follow", ""])
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=6)
)


@pytest.mark.parametrize("model", REPLIES)
@given(st.data())
def test_whatever_is_wrong_is_told_in_words_known_beforehand(model: type[TaskModel], data: st.DataObject) -> None:
    text = data.draw(VALUES.map(json.dumps) | st.text(max_size=20))
    try:
        model.model_validate_json(text)
    except ValidationError as error:
        told = complaints_about(model, error)
        assert 1 <= len(told) <= MAX_REPORTED
        assert set(told) <= set(complaints_of(model))
        assert "Canaria" not in "".join(told)


@pytest.mark.parametrize("model", REPLIES)
def test_each_complaint_is_long_enough_to_be_known_to_the_guard(model: type[TaskModel]) -> None:
    assert min(len(_escaped(sentence)) for sentence in complaints_of(model)) >= MIN_STATIC_BYTES


WAYS = [way(4, "Eq7f2k", "treated by", to="person")]
STEP = step("who treats Eq7f2k", [thing("Eq7f2k", "person")], WAYS)
GOOD: dict[str, Any] = {"thought": "", "path": [], "action": "follow", "choices": [4], "answer": [], "text": ""}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, ""),
        ({"choices": [4, 9]}, ""),
        ({"choices": [9, -1]}, "numbers of candidates"),
        ({"choices": []}, ""),
        ({"action": "answer", "answer": ["count(Eq7f2k)"]}, ""),
        ({"action": "answer", "answer": []}, "not be empty when it is given"),
        ({"action": "answer", "answer": ["Eq7f2k", "Szzzzz"]}, "stand-ins that the input shows"),
        ({"action": "answer", "answer": ["Klaus Beispiel"]}, "stand-ins that the input shows"),
        ({"action": "answer", "answer": ["Eq7f2k"], "text": "{1} or Eq7f2k, {1: is|are}"}, ""),
        ({"action": "answer", "answer": ["Eq7f2k"], "text": "{1} and {2}"}, "no other number"),
        ({"action": "answer", "answer": ["Eq7f2k"], "text": "{1} and Ezzzzz"}, "no unknown stand-in"),
        ({"action": "not_in_graph", "choices": []}, ""),
    ],
)
def test_numbers_that_were_not_offered_and_stand_ins_that_were_not_shown(changes: dict[str, Any], told: str) -> None:
    complaints = broken_rules(STEP, StepReply.model_validate({**GOOD, **changes}))
    assert len(complaints) == bool(told)
    assert told in "".join(complaints)


@pytest.mark.parametrize(("choices", "count"), [([4], 0), ([], 0), ([7], 1)])
def test_a_choice_must_be_one_of_the_candidates(choices: list[int], count: int) -> None:
    asked = ChooseInput(question="who", path=[], candidates=WAYS, width=3)
    assert len(broken_rules(asked, ChooseReply(choices=choices))) == count


@pytest.mark.parametrize(("answer", "kept"), [("way(1)", True), ("count(way(1))", True), ("way(9)", False)])
def test_an_answer_may_speak_of_the_candidates_that_were_offered(answer: str, kept: bool) -> None:
    asked = step("who treats Eq7f2k", [thing("Eq7f2k", "patient")], [way(1, "Eq7f2k", "treated by", to="doctor")])
    replied = StepReply(action="answer", choices=[], answer=[answer], text="It is {1}.")
    assert broken_rules(asked, replied) == (() if kept else (NOTHING_SHOWN,))
