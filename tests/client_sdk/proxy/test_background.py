"""Chores of chat clients are known by their form, and answered without a word of the chat."""

from __future__ import annotations

import contextlib
import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from client_sdk.proxy.errors import ProxyError
from client_sdk.proxy.questions import BackgroundTask, find_task

CANARY = "Quillowmere"
TAGGED = f"<chat_history>\nUSER: Who treats {CANARY}?\nASSISTANT: Dr. {CANARY}.\n</chat_history>"
SPOKEN = f"User: Who treats {CANARY}?\nAI: Dr. {CANARY}."


def found(text: str, instructions: str = "") -> BackgroundTask:
    task = find_task(text, instructions, "clinic")
    assert task is not None
    assert CANARY not in task.reply + repr(task)
    return task


@pytest.mark.parametrize(
    ("key", "kind", "value"),
    [
        ("tags", "tags", ["clinic"]),
        ("follow_ups", "follow_ups", []),
        ("queries", "queries", []),
        ("text", "autocomplete", ""),
        ("prompt", "image_prompt", ""),
    ],
)
def test_a_chore_is_answered_in_the_object_that_it_wants(key: str, kind: str, value: object) -> None:
    task = found(f'### Task:\nDo it.\n### Output:\nJSON format: {{ "{key}": ... }}\n### Chat History:\n{TAGGED}')
    assert (task.kind, json.loads(task.reply)) == (kind, {key: value})


def test_a_title_is_the_model_and_the_time() -> None:
    in_json = found(f'### Task:\nA concise title.\n### Output:\n{{ "title": "..." }}\n{TAGGED}')
    assert json.loads(in_json.reply)["title"].startswith("clinic, ")
    as_text = found(f"Provide a concise title for the conversation. Only return the title.\n\nConversation:\n{SPOKEN}")
    assert (as_text.kind, as_text.reply[:8]) == ("title", "clinic, ")


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("Write a short TITLE for this chat.", "title"),
        ("Suggest three tags.", "tags"),
        ("Suggest a follow-up for the user.", "follow_ups"),
        ("Summarise this dialogue.", "summary"),
    ],
)
@pytest.mark.parametrize("chat", [TAGGED, SPOKEN, SPOKEN.replace("User", "Human").replace("AI", "Assistant")])
def test_templates_of_other_words_are_known_by_the_chat_that_they_hold(said: str, kind: str, chat: str) -> None:
    assert found(f"{said}\n\n{chat}").kind == kind
    assert found(f"{chat}\n\n{said}" if chat == TAGGED else f"{said}\n{chat}").kind == kind


def test_the_choice_of_tools_is_none() -> None:
    instructions = 'Available Tools: [{"name": "f"}]\n\nreturn {\n "tool_calls": [] }'
    assert found(f"Query: Who treats {CANARY}?", instructions).reply == '{"tool_calls": []}'


@pytest.mark.parametrize(
    "question",
    [
        "Who treats Anna Keller?",
        "Which title has the patient's book?",
        "Which tags does the record carry? User: unknown",
        "### Task: who treats her?",
        f"{SPOKEN}\nWho else is treated by him?",
    ],
)
def test_a_question_is_none(question: str) -> None:
    assert find_task(question, "Be kind.", "clinic") is None


@pytest.mark.parametrize(
    "text",
    [
        f"### Task:\nWrite a poem.\n{TAGGED}",
        f'You have been provided with a set of responses from various models: """{CANARY}"""',
        f"### Task:\nRespond to the user query using the provided context.\n<context>{CANARY}</context>",
    ],
)
def test_what_needs_the_chat_is_refused(text: str) -> None:
    with pytest.raises(ProxyError) as raised:
        find_task(text, "", "clinic")
    assert raised.value.code == "not_a_question"
    assert CANARY not in raised.value.sentence


@given(st.text())
def test_any_text_is_a_question_a_chore_or_refused(text: str) -> None:
    with contextlib.suppress(ProxyError):
        task = find_task(text, text, "clinic")
        assert task is None or task.reply


@pytest.mark.parametrize("unit", ["\n", "user:\n", "<chat_history>", '{ "title', " " * 9 + "\n", "ai:\n"])
def test_a_long_text_is_read_in_little_time(unit: str) -> None:
    """A body may have eight million characters."""
    before = time.process_time()
    with contextlib.suppress(ProxyError):
        find_task(unit * (1_000_000 // len(unit)), "", "clinic")
    assert time.process_time() - before < 1
