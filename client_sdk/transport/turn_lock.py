"""One question after the other: whoever asks waits for the turn, unless it is their own that is still open."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from client_sdk.errors import BadRequestError


class TurnLock:
    """For threads. A thread that would wait for its own open stream is refused, for it would wait for ever."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holder: int | None = None

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Raises BadRequestError."""
        if self._holder == threading.get_ident():
            raise _still_open()
        with self._lock:
            self._holder = threading.get_ident()
            try:
                yield
            finally:
                self._holder = None


class AsyncTurnLock:
    """For tasks, as Turns for threads."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._holder: asyncio.Task[object] | None = None

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Raises BadRequestError."""
        if self._holder is not None and self._holder is asyncio.current_task():
            raise _still_open()
        async with self._lock:
            self._holder = asyncio.current_task()
            try:
                yield
            finally:
                self._holder = None


def _still_open() -> BadRequestError:
    hint = "read it to its end, or close it: `with chat.stream(...) as stream`"
    return BadRequestError("a stream of this dialogue is still open", code="stream_open", hint=hint)
