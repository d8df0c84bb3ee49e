"""The body of a request: its static parts are what is sent, its schema is strict, its block is the input."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.llm.reasoner import AnswerInput, StructureInput, Task, TaskKind, Turn
from app.llm.wire import body_of, statics_of, strict_schema
from app.privacy.guard import StaticSegments
from app.strategies.arog.prompts import AROG_TASKS, STRUCTURE
from app.strategies.sets.prompts import STEP

KINDS = (STEP, *AROG_TASKS)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=60) | st.sampled_from(
    ['"\\u0000', "```json\n{}\n```", "\x00", "\\", "\u2028\u2029é"]
)


def asked(question: str, told: str = "") -> Task[Any]:
    dialogue = [Turn(role="user", text=told)] if told else []
    return Task(STRUCTURE, StructureInput(question=question, dialogue=dialogue, things=[]))


@settings(deadline=None)
@given(TEXTS, TEXTS)
def test_the_input_arrives_whole_and_stands_between_the_statics(question: str, told: str) -> None:
    task = asked(question, told)
    egress = body_of(task, "m")
    before, after = statics_of(STRUCTURE, "m")
    assert egress.body.startswith(before)
    assert egress.body.endswith(after)
    content = json.loads(egress.body)["messages"][-1]["content"]
    lines = content.split("\n")
    assert (lines[0], lines[-1], len(lines)) == ("```json", "```", 3)
    assert StructureInput.model_validate_json(lines[1]) == task.input


def test_only_the_input_is_left_for_the_guard_to_read() -> None:
    statics = StaticSegments()
    for data in statics_of(STRUCTURE, "m"):
        statics.register(data)
    read = b"".join(segment.data for segment in body_of(asked("who is Eq7f2k"), "m").segments if not segment.static)
    assert json.loads(json.loads(f'"{read.decode()}"'))["question"] == "who is Eq7f2k"
    kept = [segment.data for segment in body_of(asked("who is Eq7f2k"), "m").segments if segment.static]
    assert all(data in statics for data in kept)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_kind_says_its_task_its_schema_and_its_instructions(kind: TaskKind[Any]) -> None:
    empty = AnswerInput(question="", dialogue=[], path=[], things=[], evidence=[], last_round=True)
    body = json.loads(body_of(Task(kind, empty), "the model").body)
    assert body["model"] == "the model"
    assert body["temperature"] == kind.temperature
    schema = body["response_format"]["json_schema"]
    assert (body["response_format"]["type"], schema["name"], schema["strict"]) == ("json_schema", kind.name, True)
    assert schema["schema"] == strict_schema(kind.reply_model)
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert body["messages"][0]["content"] == kind.instructions


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_schemas_stay_within_what_every_endpoint_enforces(kind: TaskKind[Any]) -> None:
    def check(node: Any) -> None:
        if isinstance(node, list):
            for item in node:
                check(item)
        elif isinstance(node, dict):
            assert not {"$ref", "$defs", "title", "default"} & set(node)
            if node.get("type") == "object":
                assert node["required"] == list(node["properties"])
                assert node["additionalProperties"] is False
                check(list(node["properties"].values()))
            check([value for key, value in node.items() if key != "properties"])

    check(strict_schema(kind.reply_model))
