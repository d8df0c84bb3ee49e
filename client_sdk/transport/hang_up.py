"""Work for a client that may go away: it ends with the client, and no task is left."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, MutableMapping
from typing import Any, TypeVar

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
"""ASGI's, which also says that the client has hung up."""

T = TypeVar("T")


async def while_connected(receive: Receive, answering: Coroutine[Any, Any, T]) -> T | None:
    """The result of `answering`; None where the client went away first, and then the work is ended."""
    work = asyncio.create_task(answering)
    watch = cancel_when_gone(receive, work)
    try:
        await asyncio.wait([work])
        return None if work.cancelled() else work.result()
    finally:
        await end(work, watch)


def cancel_when_gone(receive: Receive, work: asyncio.Task[Any]) -> asyncio.Task[None]:
    """Cancels `work` when the client has hung up."""

    async def watch() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        work.cancel()

    return asyncio.create_task(watch())


async def end(*tasks: asyncio.Task[Any]) -> None:
    """Cancels what still runs, and waits until it has ended."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
