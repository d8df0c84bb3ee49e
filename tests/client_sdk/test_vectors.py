"""The SDK passes the vectors that it shares with the page (tests/vectors); the page's own tests read the same."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from client_sdk.answers.answer import open_names
from client_sdk.crypto.sealing import (
    CannotOpenError,
    KeyPair,
    capsule_context,
    from_base64url,
    memory_context,
    open_capsule,
    open_trace,
    preview_context,
    trace_context,
)
from client_sdk.errors import CannotOpenCapsuleError
from client_sdk.protocol import Capsule, ChatAnswer, GraphPreview, MemoryPage
from tests.vectors import make

FOLDER = Path(make.__file__).parent


def vectors(name: str) -> dict[str, Any]:
    return dict(json.loads((FOLDER / f"{name}.json").read_text("utf-8")))


CAPSULES = vectors("capsules")
KEY = KeyPair.from_bytes(from_base64url(CAPSULES["private_key"]))
CONTEXT = capsule_context(ChatAnswer.model_validate(CAPSULES["answer"]))


def test_names_come_back_as_the_vectors_say_whole_and_streamed() -> None:
    assert vectors("restoring") == make.restoring()


@pytest.mark.parametrize("kind", ["opened", "traces"])
def test_capsules_of_the_vectors_open(kind: str) -> None:
    assert CAPSULES["public_key"] == KEY.public_text
    for one in CAPSULES[kind]:
        capsule = Capsule.model_validate(one["capsule"])
        if kind == "opened":
            opened = open_capsule(capsule, KEY, CONTEXT).model_dump_json()
        else:
            trace = open_trace(capsule, KEY, trace_context(CAPSULES["answer"]["id"]))
            opened = trace.model_dump_json(exclude_unset=True)  # a newer field is in no vector of before
        assert json.loads(opened) == one["content"]


@pytest.mark.parametrize("one", CAPSULES["refused"], ids=lambda one: one["why"])
def test_capsules_that_are_not_right_stay_shut(one: dict[str, Any]) -> None:
    with pytest.raises(CannotOpenError):
        open_capsule(Capsule.model_validate(one["capsule"]), KEY, CONTEXT)


@pytest.mark.parametrize("one", CAPSULES["changed"], ids=lambda one: one["why"])
def test_a_capsule_does_not_open_in_a_changed_answer(one: dict[str, Any]) -> None:
    assert CAPSULES["context"] == CONTEXT.decode()
    right = ChatAnswer.model_validate({**CAPSULES["answer"], "capsule": one["answer"]["capsule"]})
    assert open_names(right, KEY)
    with pytest.raises(CannotOpenCapsuleError):
        open_names(ChatAnswer.model_validate(one["answer"]), KEY)


def test_a_preview_opens_and_not_with_another_sample() -> None:
    for one in CAPSULES["previews"]:
        preview = GraphPreview.model_validate(one["preview"])
        assert preview.capsule is not None
        opened = open_capsule(preview.capsule, KEY, preview_context(preview))
        assert json.loads(opened.model_dump_json()) == one["content"]
        other = preview.model_copy(update={"sample": []})
        with pytest.raises(CannotOpenError):
            open_capsule(preview.capsule, KEY, preview_context(other))


def test_a_page_of_the_memory_opens_and_not_with_another_sentence() -> None:
    for one in CAPSULES["memories"]:
        page = MemoryPage.model_validate(one["page"])
        assert page.capsule is not None
        opened = open_capsule(page.capsule, KEY, memory_context(page))
        assert json.loads(opened.model_dump_json()) == one["content"]
        with pytest.raises(CannotOpenError):
            open_capsule(page.capsule, KEY, memory_context(page.model_copy(update={"facts": []})))


def test_only_one_text_stands_for_the_same_bytes() -> None:
    assert CAPSULES["base64url"] == make.capsules()["base64url"]


def test_streams_hold_the_events_that_the_vectors_say() -> None:
    for one in vectors("events")["streams"]:
        assert make.stream_events(base64.b64decode(one["bytes"])) == one["events"]


@pytest.mark.parametrize("one", vectors("readings")["streams"], ids=lambda one: one["why"])
def test_streamed_answers_are_read_as_the_vectors_say(one: dict[str, Any]) -> None:
    shown, code = make.read([(event["name"], event["data"]) for event in one["events"]])
    assert (shown, code) == (one["shown"], one["error"])
