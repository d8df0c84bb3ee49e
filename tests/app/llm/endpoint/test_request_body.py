"""The body of a request: its static parts are what is sent, its schema is closed, its block is the input."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.egress.guard import MIN_STATIC_BYTES, StaticSegments
from app.llm.endpoint.closed_schemas import marked_schema, open_schema, words_offered
from app.llm.endpoint.request_body import (
    CHOICE_TOKENS,
    COMPLAINTS,
    MODES,
    Dialect,
    RequestTemplate,
    body_of,
    read_step,
    statics_of,
)
from app.llm.tasks import (
    AnswerInput,
    CallOptions,
    SchemaStep,
    StepInput,
    StructureInput,
    Task,
    TaskKind,
    Turn,
)
from app.strategies.prompts import AROG_TASKS, REPLY, STRUCTURE
from app.strategies.sets.prompts import STEP, STEP_IN_GRAPH
from tests.support.tasks import step, thing, way

WORDING = RequestTemplate("m")
KINDS = (STEP, STEP_IN_GRAPH, REPLY, *AROG_TASKS)
TEXTS = st.text(st.characters(codec="utf-8"), max_size=60) | st.sampled_from(
    ['"\\u0000', "```json\n{}\n```", "\x00", "\x04ways", "\\", "\u2028\u2029é"]
)
FEATURES = {"type", "properties", "required", "additionalProperties", "items", "enum", "maxItems", "maxLength"}


def asked(question: str, told: str = "") -> Task[Any]:
    dialogue = [Turn(role="user", text=told)] if told else []
    return Task(STRUCTURE, StructureInput(question=question, dialogue=dialogue, things=[]))


def stepped(form: str = "tree", complaints: tuple[str, ...] = ()) -> tuple[dict[str, Any], list[bytes]]:
    """The body of a step about one thing with two ways on, and what of it the guard reads."""
    ways = [way(1, "Eq7f2k", "treated by", to="doctor"), way(2, "Eq7f2k", "lives in", to="city")]
    given = step("who treats Eq7f2k", [thing("Eq7f2k", "patient")], ways).model_copy(update={"hint": "way(1)"})
    wording = replace(WORDING, dialect=Dialect(form=form))  # type: ignore[arg-type]
    egress = body_of(Task(STEP, given, CallOptions(complaints=complaints)), wording)
    return json.loads(egress.body), [segment.data for segment in egress.segments if not segment.static]


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
@pytest.mark.parametrize("complaints", [(), COMPLAINTS[:1]], ids=["first", "repair"])
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

    schema = marked_schema("structure", "tree")
    assert body("structured_outputs")["structured_outputs"]["json"] == {"title": "structure", **schema}
    assert "response_format" not in body("structured_outputs")
    assert body("object_schema")["response_format"] == {"type": "json_object", "schema": schema}
    assert body("json_object")["response_format"] == {"type": "json_object"}
    for mode in ("json_object", "prompt"):
        words = body(mode)["messages"][0]["content"]
        assert words.startswith(STRUCTURE.instructions)
        assert words.endswith(json.dumps(open_schema("structure", "tree"), separators=(",", ":")))
        assert "`structure`" in words
    assert "response_format" not in body("prompt")
    assert {"temperature": 0.0, "seed": 7, "max_tokens": 99}.items() <= body("json_schema").items()
    other = body("json_schema", plain=False)
    assert other["max_completion_tokens"] == 99
    assert not {"temperature", "seed", "max_tokens"} & set(other)
    assert "stream" not in body("json_schema")
    assert body("json_schema", streams=True)["stream_options"] == {"include_usage": True}
    assert body("json_schema", salted=True)["cache_salt"] == "5a17"


@pytest.mark.parametrize("form", ["tree", "choice"])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_text_and_list_of_a_reply_is_bounded_by_what_endpoints_enforce(kind: TaskKind[Any], form: Any) -> None:
    def check(node: Any) -> None:
        assert set(node) <= FEATURES
        if node["type"] == "object":
            assert (node["required"], node["additionalProperties"]) == (list(node["properties"]), False)
            for each in node["properties"].values():
                check(each)
        elif node["type"] == "array":
            assert node["maxItems"] <= 30
            check(node["items"])
        elif node["type"] in ("string", "integer"):
            assert "enum" in node or 0 < node["maxLength"] <= 300

    check(marked_schema(kind.name, form))


def test_a_step_may_say_what_it_was_shown_and_nothing_else() -> None:
    body, read = stepped()
    said = body["response_format"]["json_schema"]["schema"]["properties"]["answer"]["items"]["enum"]
    assert said[-6:] == ["hint", "way(1)", "way(2)", "Eq7f2k", "treated by", "lives in"]
    assert {"count", "none", "more", "follow"} <= set(said)
    # The guard reads what is offered as it reads the input.
    assert b'"treated by","lives in"' in read[-1]
    assert body["max_tokens"] == STEP.max_tokens


def test_a_model_that_chooses_gets_a_numbered_list_and_replies_with_a_number() -> None:
    body, read = stepped("choice")
    content = json.loads(body["messages"][1]["content"].removeprefix("```json\n").removesuffix("\n```"))
    assert content["choices"] == ["0. Eq7f2k: treated by (doctor)", "1. Eq7f2k: lives in (city)"]
    answer = body["response_format"]["json_schema"]["schema"]["properties"]["answer"]
    assert answer == {"type": "string", "enum": ["none", "0", "1"]}
    assert body["messages"][0]["content"] == STEP.brief
    assert (body["max_tokens"], read[-1]) == (CHOICE_TOKENS, b',"0","1"')


@pytest.mark.parametrize("form", ["tree", "choice"])
def test_a_repair_stands_behind_the_same_input_and_offers_the_same(form: Any) -> None:
    first, _ = stepped(form)
    body, _ = stepped(form, COMPLAINTS[:1])
    assert body["messages"][1]["content"].startswith(first["messages"][1]["content"])
    assert body["messages"][1]["content"].endswith("Reply once more, with one JSON object that keeps to its schema.")
    assert body["response_format"] == first["response_format"]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_static_parts_with_words_are_long_enough_to_be_known_to_the_guard(kind: TaskKind[Any]) -> None:
    short = [data for data in statics_of(kind, WORDING) if len(data) < MIN_STATIC_BYTES]
    assert not [data for data in short if any(letter.isalpha() for letter in data.decode().replace("\\n", ""))]


def test_where_no_ways_are_offered_functions_may_name_a_relation_in_either_direction() -> None:
    """ "Which doctor has the most patients?" is `most(DOCTORS, "^treated by")`."""
    asked = AnswerInput(
        question="?", dialogue=[], path=[], things=[], evidence=[], relations=["treated by"], last_round=True
    )
    assert words_offered(asked) == ["treated by", "^treated by"]


@pytest.mark.parametrize("broken", ["{", '{"question": 1}', '{"question": "q", "candidates": ["Eq7f2k > a: b"]}'])
def test_what_is_no_step_is_refused(broken: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        read_step(broken)


SECRET = "snorkelwick"


def test_no_dump_of_a_step_holds_what_only_the_house_reads() -> None:
    given = StepInput(
        question="what is the Rk3m2a of Ek3m2a",
        things=[],
        evidence=[],
        candidates=[],
        steps=(SchemaStep("person", "Rk3m2a", SECRET, "thing"),),
        wordings={"Rk3m2a": (SECRET,)},
        kind_words={"person": (SECRET,)},
        typed=f"what is the {SECRET} of Ek3m2a",
        own_words={"Rk3m2a": SECRET},
    )
    assert SECRET not in given.model_dump_json() + str(given.model_dump()) + str(StepInput.model_json_schema())
    assert given.typed.count(SECRET) == 1
