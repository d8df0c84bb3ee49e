"""Runs work for a client that may go away: the work ends with the client, and no task is left."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, MutableMapping
from typing import Any, TypeVar

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
"""ASGI's receive function, whose messages also tell that the client has disconnected."""

T = TypeVar("T")


async def while_connected(receive: Receive, answering: Coroutine[Any, Any, T]) -> T | None:
    """Returns the result of `answering`, or None if the client disconnects first; the work is then cancelled."""
    work = asyncio.create_task(answering)
    watch = cancel_when_gone(receive, work)
    try:
        await asyncio.wait([work])
        return None if work.cancelled() else work.result()
    finally:
        await end(work, watch)


def cancel_when_gone(receive: Receive, work: asyncio.Task[Any]) -> asyncio.Task[None]:
    """Starts a task that cancels `work` when the client disconnects, and returns it."""

    async def watch() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        work.cancel()

    return asyncio.create_task(watch())


async def end(*tasks: asyncio.Task[Any]) -> None:
    """Cancels the tasks that still run, and waits until they have ended."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
