"""Runs several stages of a question in one thread, since each change of threads costs as much as a short stage."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from contextlib import suppress
from functools import partial
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
Work = Callable[[], Coroutine[Any, Any, T]]


async def in_one_thread(work: Work[T]) -> T:
    """Runs a coroutine in a thread, with all that it hands to threads by `asyncio.to_thread`.

    Called from such work, it runs the coroutine where it is. A cancellation ends the work at its next `await`, and is
    raised when it has ended. Condition: `work` shares no lock, task or connection with other event loops.
    """
    if isinstance(asyncio.get_running_loop(), _ThreadLoop):
        return await work()
    run = _ThreadRun(work)
    running = asyncio.ensure_future(asyncio.to_thread(run))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        run.cancel()
        await asyncio.wait([running])
        if not running.cancelled():
            running.exception()  # Nobody waits for it any more.
        raise


def told_in_loop(tell: Callable[P, object]) -> Callable[P, None]:
    """Returns a function that calls `tell` in the event loop that runs now, also if other threads call it."""
    loop = asyncio.get_running_loop()

    def told(*given: P.args, **more: P.kwargs) -> None:
        if asyncio.get_running_loop() is loop:
            tell(*given, **more)
        else:
            loop.call_soon_threadsafe(partial(tell, *given, **more))

    return told


class _ThreadLoop(asyncio.SelectorEventLoop):
    """An event loop in a thread of its own. It may block, so it makes calls itself, not in other threads."""

    def run_in_executor(  # type: ignore[override]
        self, executor: Executor | None, func: Callable[..., T], *args: Any
    ) -> asyncio.Future[T]:
        """Calls `func` at once. The future is done in the loop's next round, so that a cancellation comes first."""
        del executor
        future: asyncio.Future[T] = self.create_future()
        try:
            result = func(*args)
        except Exception as error:
            self.call_soon(_settle, future, future.set_exception, error)
        else:
            self.call_soon(_settle, future, future.set_result, result)
        return future


def _settle(future: asyncio.Future[Any], settle: Callable[[Any], None], outcome: object) -> None:
    if not future.done():
        settle(outcome)


class _ThreadRun:
    """Runs `work` on an event loop of its own in the thread that calls it; another thread may cancel it."""

    def __init__(self, work: Work[Any]) -> None:
        self._work, self._is_cancelled = work, False
        self._task: asyncio.Task[Any] | None = None

    def __call__(self) -> Any:
        loop = _ThreadLoop()
        try:
            return loop.run_until_complete(self._cancellable())
        finally:
            loop.close()

    async def _cancellable(self) -> Any:
        self._task = asyncio.current_task()
        if self._is_cancelled:
            raise asyncio.CancelledError
        return await self._work()

    def cancel(self) -> None:
        self._is_cancelled = True
        if self._task is not None:
            with suppress(RuntimeError):  # The loop is closed, as the work has just ended.
                self._task.get_loop().call_soon_threadsafe(self._task.cancel)
