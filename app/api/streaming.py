"""Sends the reply to POST /chat as server-sent events: stages as they begin, then the finished answer."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from typing import Any, Final, get_args

from fastapi.sse import KEEPALIVE_COMMENT, format_sse_event
from pydantic import BaseModel
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from app.api.layers import error_event
from app.api.state import ResponseTiming
from app.chat.question_run import OnStage
from client_sdk.protocol import ChatAnswer, EvidenceEvent, StageEvent, StageName, TextEvent
from client_sdk.transport.hang_up import cancel_when_gone, end

HEARTBEAT_S = 5.0
FAREWELL_S = 5.0  # seconds left to send the last event when the request's time is over
HUNG_UP: Final = 499
STAGES: Final = frozenset(get_args(StageName))

_WORDS = re.compile(r"\s*\S+\s*|\s+")


class AnswerStream(Response):
    """Runs `answering`, and streams each stage as it begins, then the answer that it returns.

    An error before the first event is an ordinary error reply. Promise: no text is sent before the whole answer is
    checked and its conversation saved, so nothing is shown and then taken back; a stage's event holds only a fixed
    name and a round's number. If the client goes away, the work ends and no task is left. Events are sent when a time
    step of `pace` ends, so that their timing tells little.
    """

    media_type = "text/event-stream"

    def __init__(self, answering: Callable[[OnStage], Awaitable[ChatAnswer]], pace: ResponseTiming) -> None:
        super().__init__()
        self._answering, self._pace, self._began = answering, pace, pace.now()
        self._events: asyncio.Queue[bytes | None] = asyncio.Queue()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        timeout: asyncio.Timeout = scope["state"]["timeout"]
        ends_at = timeout.when()
        timeout.reschedule(None if ends_at is None else ends_at + FAREWELL_S)
        work = asyncio.create_task(self._work(ends_at))
        watch = cancel_when_gone(receive, work)
        try:
            await self._send_all(scope, send, work)
        finally:
            await end(work, watch)

    async def _work(self, ends_at: float | None) -> None:
        try:
            async with asyncio.timeout_at(ends_at):
                answer = await self._answering(self._tell_stage)
            for event in events_of(answer):
                self._events.put_nowait(event)
        finally:
            self._events.put_nowait(None)

    def _tell_stage(self, name: str, number: int | None) -> None:
        if name in STAGES:
            self._events.put_nowait(_event("stage", StageEvent(name=name, number=number)))

    async def _send_all(self, scope: Scope, send: Send, work: asyncio.Task[None]) -> None:
        first = await self._at_tick(self._events.get())
        if first is not None:
            await self._start(send, 200)
            await _send(send, first)
            while (event := await self._at_tick(self._next())) is not None:
                await _send(send, event)
        await asyncio.wait([work])
        failure = None if work.cancelled() else work.exception()
        if failure is not None and first is None:
            raise failure
        if failure is not None:
            await _send(send, _event("error", error_event(failure, scope)))
        elif first is None:
            await self._start(send, HUNG_UP)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _at_tick(self, event: Coroutine[Any, Any, bytes | None]) -> bytes | None:
        """Waits for an event, and returns it when the current time step of `pace` ends.

        If an event is in the queue already, it is returned at once: it goes out in the same step as the last one.
        """
        waits = self._events.empty()
        found = await event
        if waits:
            await self._pace.tick(self._began)
        return found

    async def _next(self) -> bytes | None:
        """Returns the next event, a heartbeat if none comes for HEARTBEAT_S seconds, or None at the end."""
        try:
            async with asyncio.timeout(HEARTBEAT_S):
                return await self._events.get()
        except TimeoutError:
            return KEEPALIVE_COMMENT

    async def _start(self, send: Send, status: int) -> None:
        headers = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"x-accel-buffering", b"no")]
        await send({"type": "http.response.start", "status": status, "headers": headers})


def events_of(answer: ChatAnswer) -> Iterator[bytes]:
    """Yields an answer as events: its text word by word, its evidence, its costs, and last the whole answer.

    The last event holds the same as the reply to a request without a stream.
    """
    for piece in _WORDS.findall(answer.message.content):
        yield _event("text", TextEvent(text=piece))
    yield _event("evidence", EvidenceEvent(evidence=answer.evidence))
    yield _event("usage", answer.usage)
    yield _event("answer", answer)


def _event(name: str, content: BaseModel) -> bytes:
    return format_sse_event(event=name, data_str=content.model_dump_json())


async def _send(send: Send, event: bytes) -> None:
    await send({"type": "http.response.body", "body": event, "more_body": True})
