"""Refusals and errors in the shape of each protocol: by what its clients raise by, and never quoted."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from tests.support.fake_service import PRIVATE_WORDS, Canned, FakeService, problem, sse

pytestmark = pytest.mark.slow

CHAT, MESSAGES, RESPONSES = "chat/completions", "messages", "responses"
ASKED: dict[str, dict[str, Any]] = {
    CHAT: {"messages": [{"role": "user", "content": "Who?"}]},
    MESSAGES: {"messages": [{"role": "user", "content": "Who?"}], "max_tokens": 9},
    RESPONSES: {"input": "Who?"},
}
Ask = Callable[..., httpx2.Response]


@pytest.fixture
def ask(base_url: str) -> Ask:
    """Asks by a protocol's address; `change` takes the place of what is usually asked."""

    def asked(protocol: str, **change: Any) -> httpx2.Response:
        return httpx2.post(f"{base_url}/{protocol}", json={"model": "clinic", **ASKED[protocol], **change}, timeout=20)

    return asked


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def error_of(protocol: str, reply: httpx2.Response) -> dict[str, Any]:
    """The error of a reply, whose shape is that of the protocol."""
    told = reply.json()
    error: dict[str, Any] = told["error"]
    if protocol == MESSAGES:
        assert told["type"] == "error"
        assert {"type", "message"} <= set(error)
    else:
        assert set(error) == {"message", "type", "param", "code"}
    return error


SAID = {"role": "assistant", "content": "Anna"}
POEM = "### Task:\nA poem.\n<chat_history>\nUSER: Anna\n</chat_history>"
TOOL = {"role": "tool", "content": "Anna", "tool_call_id": "1"}
IMAGES = {
    CHAT: [{"type": "image_url", "image_url": {"url": "data:Anna"}}],
    MESSAGES: [{"type": "image", "source": {"type": "url", "url": "https://Anna"}}],
    RESPONSES: [{"type": "input_image", "image_url": "Anna"}],
}
REFUSED: list[tuple[str, dict[str, Any], str | None]] = [
    (CHAT, {"n": 2}, "n"),
    (CHAT, {"tool_choice": "required"}, "tool_choice"),
    (CHAT, {"tool_choice": {"type": "function", "function": {"name": "f"}}}, "tool_choice"),
    (CHAT, {"function_call": {"name": "f"}}, "function_call"),
    (CHAT, {"response_format": {"type": "json_schema", "json_schema": {"name": "Anna"}}}, "response_format"),
    (CHAT, {"web_search_options": {"search_context_size": "low"}}, "web_search_options"),
    (CHAT, {"modalities": ["text", "audio"]}, "modalities"),
    (CHAT, {"messages": [user("a"), TOOL]}, "messages"),
    (CHAT, {"messages": [{"role": "Anna", "content": "a"}, user("b")]}, "messages[0].role"),
    (CHAT, {"messages": [user("a"), SAID]}, "messages"),
    (CHAT, {"messages": []}, "messages"),
    (CHAT, {"messages": [user("Anna" * 3000)]}, None),
    (CHAT, {"messages": [user(IMAGES[CHAT])]}, "messages[0].content"),
    (CHAT, {"messages": [user(POEM)]}, "messages"),
    (CHAT, {"model": 3}, "model"),
    (MESSAGES, {"tool_choice": {"type": "any"}}, None),
    (MESSAGES, {"tool_choice": {"type": "tool", "name": "Anna"}}, None),
    (MESSAGES, {"output_config": {"format": {"type": "json_schema", "schema": {}}}}, None),
    (MESSAGES, {"messages": [user(IMAGES[MESSAGES])]}, None),
    (MESSAGES, {"messages": [user([{"type": "tool_result", "tool_use_id": "1", "content": "Anna"}])]}, None),
    (MESSAGES, {"messages": [user("a"), SAID]}, None),
    (MESSAGES, {"messages": []}, None),
    (MESSAGES, {"messages": [user({"Anna": 1})]}, None),
    (MESSAGES, {"messages": [user("Anna" * 3000)]}, None),
    (RESPONSES, {"tool_choice": "required"}, "tool_choice"),
    (RESPONSES, {"tool_choice": {"type": "function", "name": "Anna"}}, "tool_choice"),
    (RESPONSES, {"text": {"format": {"type": "json_schema", "name": "Anna"}}}, "text.format"),
    (RESPONSES, {"background": True}, "background"),
    (RESPONSES, {"conversation": "conv_Anna"}, "conversation"),
    (RESPONSES, {"prompt": {"id": "Anna"}}, "prompt"),
    (RESPONSES, {"previous_response_id": "resp_Anna"}, "previous_response_id"),
    (RESPONSES, {"input": [user(IMAGES[RESPONSES])]}, "input[0].content"),
    (RESPONSES, {"input": [user("a"), SAID]}, "input"),
    (RESPONSES, {"input": []}, None),
    (RESPONSES, {"input": 3}, None),
]


def test_what_can_not_be_done_is_refused_by_name_and_never_quoted(service: FakeService, ask: Ask) -> None:
    for protocol, change, param in REFUSED:
        reply = ask(protocol, **change)
        error = error_of(protocol, reply)
        assert reply.status_code == 400, (protocol, change)
        assert param in (None, error.get("param")), (protocol, change)
        assert protocol != MESSAGES or error["type"] == "invalid_request_error"
        assert "Anna" not in reply.text, (protocol, change)
    assert service.seen == []


def test_a_model_that_is_not_there_is_told(service: FakeService, ask: Ask) -> None:
    for protocol in ASKED:
        assert ask(protocol, model="clinic:other").status_code == 404
    assert service.seen == []


ERRORS = [
    (CHAT, 401, "not_authenticated", 401, "invalid_api_key"),
    (CHAT, 404, "unknown_graph", 404, "model_not_found"),
    (CHAT, 413, "too_large", 400, "context_length_exceeded"),
    (CHAT, 422, "bad_request", 400, "bad_request"),
    (CHAT, 422, "strategy_not_offered", 404, "model_not_found"),
    (CHAT, 429, "budget_used_up", 429, "insufficient_quota"),
    (CHAT, 500, "blocked", 500, "blocked"),
    (CHAT, 503, "not_ready", 503, "not_ready"),
    (CHAT, 504, "deadline", 504, "deadline"),
    (MESSAGES, 401, "not_authenticated", 401, "authentication_error"),
    (MESSAGES, 404, "unknown_graph", 404, "not_found_error"),
    (MESSAGES, 429, "rate_limited", 429, "rate_limit_error"),
    (MESSAGES, 500, "blocked", 500, "api_error"),
    (MESSAGES, 504, "deadline", 504, "timeout_error"),
    (RESPONSES, 429, "budget_used_up", 429, "insufficient_quota"),
]


@pytest.mark.parametrize("streaming", [False, True])
def test_an_error_of_the_service_is_one_of_the_protocol(service: FakeService, ask: Ask, streaming: bool) -> None:
    for protocol, status, code, told_status, told in ERRORS:
        service.canned = [problem(status, code)]
        reply = ask(protocol, stream=streaming)
        error = error_of(protocol, reply)
        found = error["type" if protocol == MESSAGES else "code"]
        assert (protocol, code, reply.status_code, found) == (protocol, code, told_status, told)
        assert not any(word in reply.text for word in PRIVATE_WORDS)


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("reply", [Canned(200, b"<html>Anna</html>"), Canned(302, headers={"location": "/"})])
def test_what_is_no_service_is_told(service: FakeService, ask: Ask, streaming: bool, reply: Canned) -> None:
    for protocol in ASKED:
        service.canned = [reply]
        told = ask(protocol, stream=streaming)
        assert told.status_code == 502
        assert "Anna" not in told.text


@pytest.mark.parametrize("protocol", ASKED)
def test_an_error_in_the_midst_of_a_stream_ends_it(service: FakeService, ask: Ask, protocol: str) -> None:
    told = {"code": "model_unavailable", "message": "It went wrong.", "hint": "", "id": "e1", "status": 502}
    service.steps = lambda events: [sse([*events[:2], ("text", '{"text": "Some "}'), ("error", json.dumps(told))])]
    shown = ask(protocol, stream=True).text
    assert "It went wrong; id e1" in shown
    assert not any(end in shown for end in ("message_stop", "response.completed", '"finish_reason":"stop"'))


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"{", {}, 400),
        (b"[" * 100_000, {}, 400),
        (b"{}", {"content-type": "text/plain"}, 415),
        (b" " * (8 * 1024 * 1024 + 1), {}, 413),
    ],
)
def test_a_body_that_is_no_request_is_an_error(
    base_url: str, body: bytes, headers: dict[str, str], status: int
) -> None:
    for protocol in ASKED:
        told = {"content-type": "application/json", **headers}
        reply = httpx2.post(f"{base_url}/{protocol}", content=body, headers=told)
        assert reply.status_code == status
        assert error_of(protocol, reply)
