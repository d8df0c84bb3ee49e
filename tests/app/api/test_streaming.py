"""POST /chat with `stream`: live stages, text that was grounded before, and nothing left behind by who hangs up."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.api import streaming
from app.chat.concluding import NOT_GROUNDED
from app.egress.guard import BlockedError
from app.llm.reasoner import ReasonerUnavailableError
from client_sdk.crypto.sealing import KeyPair, capsule_context, open_capsule
from client_sdk.protocol import ChatAnswer, ErrorBody, ErrorEvent, Message, Usage
from tests.support.service import SECRET_NAMES, Running, question, running

pytestmark = pytest.mark.slow

STREAMED = question(stream=True)


def events_in(reply: httpx2.Response) -> list[tuple[str, Any]]:
    assert reply.status_code == 200
    return [(event.event, json.loads(event.data)) for event in httpx2.EventSource(reply)]


def named(events: list[tuple[str, Any]], name: str) -> list[Any]:
    return [content for each, content in events if each == name]


@dataclass
class RawCall:
    """One request over bare ASGI, whose client can hang up, and sees each byte when it is sent."""

    service: Running
    body: dict[str, object]
    sent: list[dict[str, Any]] = field(default_factory=list)
    on_bytes: Callable[[bytes], None] = lambda _bytes: None
    gone: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self) -> None:
        key = self.service.key("default", "clinic")["Authorization"].encode()
        headers = [(b"authorization", key), (b"content-type", b"application/json")]
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "scheme": "http",
            "path": "/chat", "raw_path": b"/chat", "root_path": "", "query_string": b"", "headers": headers,
            "server": ("service", 80), "client": ("127.0.0.1", 1),
        }  # fmt: skip
        body = [{"type": "http.request", "body": json.dumps(self.body).encode(), "more_body": False}]

        async def receive() -> dict[str, Any]:
            if body:
                return body.pop()
            await self.gone.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            self.sent.append(message)
            self.on_bytes(message.get("body", b""))

        await self.service.app(scope, receive, send)  # type: ignore[arg-type]

    @property
    def bytes(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.sent)


async def until(true: Callable[[], bool]) -> None:
    while not true():
        await asyncio.sleep(0.005)


# --- what comes ----------------------------------------------------------------------------------------------


async def test_the_whole_answer_comes_last_and_its_capsule_with_it(service: Running) -> None:
    pair, key = KeyPair.generate(), service.key("default", "clinic")
    reply = await service.http.post("/chat", json={**STREAMED, "public_key": pair.public_text}, headers=key)
    events = events_in(reply)
    assert [name for name, _ in events if name != "text"] == [
        "stage", "stage", "stage", "stage", "evidence", "usage", "answer",
    ]  # fmt: skip
    answer = ChatAnswer.model_validate(events[-1][1])
    assert "".join(each["text"] for each in named(events, "text")) == answer.message.content
    assert named(events, "evidence") == [{"evidence": [fact.model_dump() for fact in answer.evidence]}]
    assert named(events, "usage") == [answer.usage.model_dump()]
    assert answer.capsule is not None
    assert reply.text.count(answer.capsule.sealed) == 1
    content = open_capsule(answer.capsule, pair, capsule_context(answer))
    assert content.table[answer.entities[0].pseudonym].names == ["Quenby Thistlewood"]
    assert reply.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert reply.headers["cache-control"] == "no-store"
    assert not [name for name in SECRET_NAMES if name in reply.text]


async def test_a_stage_tells_its_name_and_a_rounds_number_and_nothing_else(service: Running) -> None:
    events = events_in(await service.http.post("/chat", json=STREAMED, headers=service.key("default", "clinic")))
    assert named(events, "stage") == [
        {"name": name, "number": None} for name in ("linking", "finding", "concluding", "sealing")
    ]


async def test_stages_are_live(service: Running) -> None:
    service.reasoner.wait = asyncio.Event()
    call = RawCall(service, STREAMED)
    running_call = asyncio.create_task(call.run())
    await until(lambda: b'"finding"' in call.bytes)
    assert b"event: text" not in call.bytes
    service.reasoner.wait.set()
    await running_call
    assert b"event: answer" in call.bytes


async def test_a_silent_while_is_filled_with_comments(service: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "HEARTBEAT_S", 0.01)
    service.reasoner.wait = asyncio.Event()
    call = RawCall(service, STREAMED)
    running_call = asyncio.create_task(call.run())
    await until(lambda: call.bytes.count(b": ping\n\n") >= 2)
    service.reasoner.wait.set()
    await running_call
    assert call.bytes.rstrip().split(b"\n\n")[-1].startswith(b"event: answer\n")


@given(st.text(min_size=1) | st.from_regex(r"(\s|\w){1,30}"))
def test_the_pieces_joined_are_the_text_whatever_it_is(text: str) -> None:
    answer = ChatAnswer.model_construct(
        id="a", conversation="c", graph="g", message=Message.model_construct(role="assistant", content=text),
        evidence=[], usage=Usage(), capsule=None,
    )  # fmt: skip
    reply = httpx2.Response(
        200,
        headers={"content-type": "text/event-stream"},
        content=b"".join(streaming.events_of(answer)),
        request=httpx2.Request("POST", "http://service/chat"),
    )
    pieces = [each["text"] for each in named(events_in(reply), "text")]
    assert "".join(pieces) == text
    assert all(pieces)


# --- what must not come --------------------------------------------------------------------------------------


@pytest.mark.parametrize("draft", ["It is {1}, and Ezzzz9.", "{2}"])
async def test_no_piece_of_a_draft_that_is_not_grounded_is_sent(service: Running, draft: str) -> None:
    service.reasoner.text = draft
    key = service.key("default", "clinic")
    events = events_in(await service.http.post("/chat", json=STREAMED, headers=key))
    assert "".join(each["text"] for each in named(events, "text")) == NOT_GROUNDED
    assert events[-1][1]["grounded"] is False
    assert "Ezzzz9" not in json.dumps(events)


async def test_text_waits_until_the_conversation_is_saved(service: Running) -> None:
    """A question that comes too late is an error, and no part of its answer is shown before."""
    key = service.key("default", "clinic")
    first = (await service.http.post("/chat", json=question(), headers=key)).json()
    body = {**STREAMED, "conversation": first["conversation"]}
    service.reasoner.wait = asyncio.Event()
    both = [asyncio.create_task(service.http.post("/chat", json=body, headers=key)) for _ in range(2)]
    await until(lambda: len(service.reasoner.sent) == 3)
    service.reasoner.wait.set()
    streams = sorted((events_in(reply) for reply in await asyncio.gather(*both)), key=lambda each: each[-1][0])
    assert streams[0][-1][0] == "answer"
    error = ErrorEvent.model_validate(streams[1][-1][1])
    assert (error.code, error.status) == ("conversation_busy", 409)
    assert {name for name, _ in streams[1]} == {"stage", "error"}


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (ReasonerUnavailableError("Nora Lindqvist"), 502, "model_unavailable"),
        (BlockedError(1), 500, "blocked"),
        (ValueError("Nora Lindqvist"), 500, "internal"),
    ],
)
async def test_a_failure_on_the_way_is_an_event_with_code_and_id_alone(
    service: Running, error: Exception, status: int, code: str
) -> None:
    def fail() -> None:
        raise error

    service.reasoner.before = fail
    key = service.key("default", "clinic")
    reply = await service.http.post("/chat", json=STREAMED, headers=key)
    events = events_in(reply)
    told = ErrorEvent.model_validate(events[-1][1])
    assert (events[-1][0], told.status, told.code) == ("error", status, code)
    assert told.id == (error.id if isinstance(error, BlockedError) else reply.headers["x-request-id"])
    assert "Nora" not in reply.text
    assert f'arog_errors_total{{code="{code}"}} 1.0' in (await service.http.get("/metrics")).text


async def test_what_fails_before_the_first_event_is_an_ordinary_error(service: Running) -> None:
    key = service.key("default", "clinic")
    for change, status, code in (
        ({"graph": "nothing"}, 404, "unknown_graph"),
        ({"conversation": "nothing"}, 404, "unknown_conversation"),
        ({"public_key": "x"}, 422, "bad_public_key"),
        ({"stream": "perhaps"}, 422, "bad_request"),
    ):
        reply = await service.http.post("/chat", json={**STREAMED, **change}, headers=key)
        assert (reply.status_code, ErrorBody.model_validate_json(reply.content).code) == (status, code)
    assert service.reasoner.sent == []


async def test_a_stream_that_takes_too_long_says_so(tmp_path: Path) -> None:
    async with running(tmp_path, request_deadline_s=2.0) as service:
        service.load()
        service.reasoner.wait = asyncio.Event()
        reply = await service.http.post("/chat", json=STREAMED, headers=service.key("default", "clinic"))
        error = ErrorEvent.model_validate(events_in(reply)[-1][1])
        assert (error.code, error.status) == ("deadline", 504)


# --- who hangs up --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stream", [True, False])
async def test_who_hangs_up_ends_the_work_and_leaves_no_task(service: Running, stream: bool) -> None:
    before = asyncio.all_tasks()
    service.reasoner.wait = asyncio.Event()
    call = RawCall(service, question(stream=stream))
    running_call = asyncio.create_task(call.run())
    await until(lambda: len(service.reasoner.sent) == 1)
    call.gone.set()
    await running_call
    assert asyncio.all_tasks() == before
    assert b"answer" not in call.bytes
    assert "arog_questions_total{" not in (await service.http.get("/metrics")).text
    service.reasoner.wait = None
    key = service.key("default", "clinic")
    assert (await service.http.post("/chat", json=question(), headers=key)).status_code == 200


async def test_who_hangs_up_before_anything_was_sent_gets_nothing(
    service: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, go_on = asyncio.Event(), asyncio.Event()

    async def wait(*_: object) -> ChatAnswer:
        opened.set()
        await go_on.wait()
        raise AssertionError("nobody waits for it")

    monkeypatch.setattr(type(service.services.chat), "answer", wait)
    call = RawCall(service, STREAMED)
    running_call = asyncio.create_task(call.run())
    await opened.wait()
    call.gone.set()
    await running_call
    assert (call.sent[0]["status"], call.bytes) == (streaming.HUNG_UP, b"")
