"""Replies that end with their client: in one piece, or as server-sent events with heartbeats."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final, get_args

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from client_sdk.confidential import tell_failure
from client_sdk.errors import ArogError
from client_sdk.protocol import StageName
from client_sdk.proxy.errors import ProxyError, error_for, internal
from client_sdk.proxy.events import Finished, Reply, comment
from client_sdk.streaming import Stage
from client_sdk.transport.hang_up import cancel_when_gone, end

HEARTBEAT_S: Final = 5.0
HUNG_UP: Final = 499
_STAGES: Final = frozenset(get_args(StageName))
Pieces = AsyncGenerator[Stage | str | Finished]


class ReplyStream(Response):
    """Sends the events of a reply as its pieces come; stages are comments, which keep the connection open.

    What fails before the first piece is an ordinary error reply; later it is an error event, the last one. A client
    that goes away ends the work, here and at the service.
    """

    media_type = "text/event-stream"

    def __init__(self, reply: Reply, pieces: Pieces, headers: dict[str, str]) -> None:
        super().__init__(headers={**headers, "cache-control": "no-store", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._reply, self._pieces = reply, pieces
        self._said: list[str] = []
        self._began = False
        self._events: asyncio.Queue[bytes | None] = asyncio.Queue()

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        work = asyncio.create_task(self._work())
        watch = cancel_when_gone(receive, work)
        try:
            await self._send_all(send, work)
        finally:
            await end(work, watch)

    async def _work(self) -> None:
        try:
            async with aclosing(self._pieces) as pieces:
                async for piece in pieces:
                    self._events.put_nowait(self._event(piece))
        finally:
            self._events.put_nowait(None)

    def _event(self, piece: Stage | str | Finished) -> bytes:
        """The bytes of a piece, after those that a reply begins with: events are numbered as they are made."""
        first, self._began = b"" if self._began else self._reply.first(), True
        return first + self._bytes_of(piece)

    def _bytes_of(self, piece: Stage | str | Finished) -> bytes:
        if isinstance(piece, Stage):
            return comment(piece.name if piece.name in _STAGES else "working")
        if isinstance(piece, Finished):
            return self._reply.last("".join(self._said), piece)
        self._said.append(piece)
        return self._reply.piece(piece)

    async def _send_all(self, send: Send, work: asyncio.Task[None]) -> None:
        began = False
        while (event := await self._next(began)) is not None:
            if not began:
                await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
                began = True
            await _send(send, event)
        await asyncio.wait([work])
        problem = None if work.cancelled() else work.exception()
        if problem is not None and not began:
            raise problem
        if problem is not None:
            await _send(send, self._reply.failure(_told(problem)))
        if began:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _next(self, began: bool) -> bytes | None:
        """The next event, or a heartbeat where there is none for a while; None at the end."""
        try:
            async with asyncio.timeout(HEARTBEAT_S if began else None):
                return await self._events.get()
        except TimeoutError:
            return comment("ping")


def _told(problem: BaseException) -> ProxyError:
    if isinstance(problem, ArogError):
        return error_for(problem)
    tell_failure(problem, "the proxy")
    return internal()


async def joined(pieces: Pieces) -> tuple[str, Finished]:
    """All of an answer's text, and its end."""
    text: list[str] = []
    finished: Finished | None = None
    async with aclosing(pieces):
        async for piece in pieces:
            if isinstance(piece, str):
                text.append(piece)
            elif isinstance(piece, Finished):
                finished = piece
    assert finished is not None, "a talk that raises nothing ends with its answer"
    return "".join(text), finished


async def _send(send: Send, event: bytes) -> None:
    await send({"type": "http.response.body", "body": event, "more_body": True})
