"""Refusals and errors in the shape of each protocol: by what its clients raise by, and never quoted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
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


LONG = [{"role": "user", "content": "Anna" * 3000}]
DATA: dict[str, Any] = json.loads(Path(__file__).with_name("refusals.json").read_text("utf-8"))
"""`refused`: by protocol what is asked otherwise, and the parameter that is named; `errors`: of the service."""
REFUSED = [*DATA["refused"], (CHAT, {"messages": LONG}, None), (MESSAGES, {"messages": LONG}, None)]


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


@pytest.mark.parametrize("streaming", [False, True])
def test_an_error_of_the_service_is_one_of_the_protocol(service: FakeService, ask: Ask, streaming: bool) -> None:
    for protocol, status, code, told_status, told in DATA["errors"]:
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
