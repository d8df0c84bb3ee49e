"""The body of a request: its static parts are what is sent, its schema is strict, its block is the input."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from app.llm.endpoint.json_schema import strict_schema
from hypothesis import given
from hypothesis import strategies as st

from app.egress.guard import StaticSegments
from app.llm.endpoint.dialects import MODES, Dialect
from app.llm.endpoint.repair_messages import complaints_of
from app.llm.endpoint.request_body import RequestTemplate, body_of, statics_of
from app.llm.tasks import AnswerInput, CallOptions, StructureInput, Task, TaskKind, Turn
from app.strategies.arog.prompts import AROG_TASKS, STRUCTURE
from app.strategies.sets.prompts import STEP

WORDING = RequestTemplate("m")
KINDS = (STEP, *AROG_TASKS)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=60) | st.sampled_from(
    ['"\\u0000', "```json\n{}\n```", "\x00", "\\", "\u2028\u2029é"]
)


def asked(question: str, told: str = "") -> Task[Any]:
    dialogue = [Turn(role="user", text=told)] if told else []
    return Task(STRUCTURE, StructureInput(question=question, dialogue=dialogue, things=[]))


@given(TEXTS, TEXTS)
def test_the_input_arrives_whole_and_stands_between_the_statics(question: str, told: str) -> None:
    task = asked(question, told)
    egress = body_of(task, WORDING)
    before, _, after = egress.segments
    assert {before.data, after.data} <= set(statics_of(STRUCTURE, WORDING))
    content = json.loads(egress.body)["messages"][-1]["content"]
    lines = content.split("\n")
    assert (lines[0], lines[-1], len(lines)) == ("```json", "```", 3)
    assert StructureInput.model_validate_json(lines[1]) == task.input


@pytest.mark.parametrize("salted", [False, True])
@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("complaints", [(), complaints_of(STRUCTURE.reply_model)[:3]], ids=["first", "repair"])
def test_only_the_input_and_the_salt_are_left_for_the_guard_to_read(
    complaints: tuple[str, ...], mode: Any, streams: bool, plain: bool, salted: bool
) -> None:
    wording = RequestTemplate("m", Dialect(mode, streams, plain), is_salted=salted)
    # Before the endpoint was probed nobody knows its dialect.
    statics = StaticSegments()
    for data in statics_of(STRUCTURE, RequestTemplate("m", is_salted=salted)):
        statics.register(data)
    task = replace(asked("who is Eq7f2k"), manner=CallOptions(complaints=complaints))
    egress = body_of(task, wording, salt="5a17")
    read = [segment.data for segment in egress.segments if not segment.static]
    assert read[:-1] == ([b"5a17"] if salted else [])
    assert json.loads(json.loads(f'"{read[-1].decode()}"'))["question"] == "who is Eq7f2k"
    kept = [segment.data for segment in egress.segments if segment.static]
    assert all(data in statics for data in kept)


def test_a_complaint_that_is_not_ours_is_read_by_the_guard() -> None:
    statics = StaticSegments()
    for data in statics_of(STRUCTURE, WORDING):
        statics.register(data)
    task = replace(asked("who"), manner=CallOptions(complaints=("Canaria was your answer. ",)))
    strange = [
        segment.data for segment in body_of(task, WORDING).segments if segment.static and segment.data not in statics
    ]
    assert strange == [b"Canaria was your answer. "]


def test_a_dialect_says_where_the_schema_and_the_limits_go() -> None:
    def body(mode: Any, streams: bool = False, plain: bool = True, salted: bool = False) -> dict[str, Any]:
        wording = RequestTemplate("m", Dialect(mode, streams, plain), max_tokens=99, seed=7, is_salted=salted)
        content: dict[str, Any] = json.loads(body_of(asked("who"), wording, salt="5a17").body)
        return content

    schema = strict_schema(STRUCTURE.reply_model)
    assert body("structured_outputs")["structured_outputs"]["json"] == {"title": "structure", **schema}
    assert "response_format" not in body("structured_outputs")
    assert body("object_schema")["response_format"] == {"type": "json_object", "schema": schema}
    assert body("json_object")["response_format"] == {"type": "json_object"}
    for mode in ("json_object", "prompt"):
        words = body(mode)["messages"][0]["content"]
        assert words.startswith(STRUCTURE.instructions)
        assert words.endswith(json.dumps(schema, separators=(",", ":")))
        assert "`structure`" in words
    assert "response_format" not in body("prompt")
    assert {"temperature": 0.0, "seed": 7, "max_tokens": 99}.items() <= body("json_schema").items()
    other = body("json_schema", plain=False)
    assert other["max_completion_tokens"] == 99
    assert not {"temperature", "seed", "max_tokens"} & set(other)
    assert "stream" not in body("json_schema")
    assert body("json_schema", streams=True)["stream_options"] == {"include_usage": True}
    assert body("json_schema", salted=True)["cache_salt"] == "5a17"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_kind_says_its_task_its_schema_and_its_instructions(kind: TaskKind[Any]) -> None:
    empty = AnswerInput(question="", dialogue=[], path=[], things=[], evidence=[], last_round=True)
    body = json.loads(body_of(Task(kind, empty), RequestTemplate("the model")).body)
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
