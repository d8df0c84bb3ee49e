"""Runs the stages of a question in one thread at a time, as a change of threads costs as much as a short stage."""

from __future__ import annotations

import asyncio
import time
from asyncio.base_events import BaseEventLoop
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor
from contextlib import suppress
from functools import partial
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
Work = Callable[[], Awaitable[T]]


async def in_one_thread(work: Work[T]) -> T:
    """Runs a coroutine in a thread, with all that it hands to threads by `asyncio.to_thread`.

    While it waits for a call by `in_service_loop`, it holds no thread. Called from such work, it runs the coroutine
    where it is. A cancellation ends the work at its next `await`, and is raised when it has ended. Condition: `work`
    shares no lock, task or connection with other event loops but by `in_service_loop`.
    """
    if isinstance(asyncio.get_running_loop(), _ThreadLoop):
        return await work()
    run = _ThreadRun(work)
    try:
        while (outside := await run.go_on()) is not None:
            call, future = outside
            try:
                given = await call()
            except Exception as error:
                run.loop.call_soon(_settle, future, future.set_exception, error)
            else:
                run.loop.call_soon(_settle, future, future.set_result, given)
    except asyncio.CancelledError:
        await run.end()
        raise
    found: T = run.result()
    return found


async def in_service_loop(call: Work[T]) -> T:
    """Awaits `call` in the event loop from which `in_one_thread` was called, or in the running one outside of that.

    What many questions share belongs there: connections to a model, locks of asyncio.
    """
    loop = asyncio.get_running_loop()
    if isinstance(loop, _ThreadLoop):
        return await loop.outside(call)
    return await call()


def told_in_loop(tell: Callable[P, object]) -> Callable[P, None]:
    """Returns a function that calls `tell` in the event loop that runs now, also if other threads call it."""
    loop = asyncio.get_running_loop()

    def told(*given: P.args, **more: P.kwargs) -> None:
        if asyncio.get_running_loop() is loop:
            tell(*given, **more)
        else:
            loop.call_soon_threadsafe(partial(tell, *given, **more))

    return told


_Outside = tuple[Work[Any], asyncio.Future[Any]]


class _ThreadLoop(BaseEventLoop):
    """An event loop that has no files or sockets, and stops when nothing is left to do in it.

    It may block, so it makes calls itself, not in other threads. It may be run on by another thread.
    """

    def __init__(self) -> None:
        super().__init__()
        self._selector = self
        self._outside: list[_Outside] = []
        self.is_ending = False

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

    async def outside(self, call: Work[T]) -> T:
        """Has `call` awaited in the service's loop. Raises CancelledError at once if the work has been cancelled."""
        if self.is_ending:
            raise asyncio.CancelledError
        future: asyncio.Future[T] = self.create_future()
        self._outside.append((call, future))
        return await future

    def next_outside(self) -> _Outside:
        """Returns the oldest call for the service's loop. Raises IndexError if the loop waits for something else."""
        return self._outside.pop(0)

    def select(self, timeout: float | None) -> list[object]:
        """Is called in each round with the seconds until the next timer, None if there is nothing more to do."""
        if timeout is None:
            self.stop()
        elif timeout > 0:
            time.sleep(timeout)
        return []

    def _process_events(self, event_list: list[object]) -> None:
        """Does nothing, since there are no files whose events could be processed."""

    def _write_to_self(self) -> None:
        """Does nothing, since the loop never waits for files."""


def _settle(future: asyncio.Future[Any], settle: Callable[[Any], None], outcome: object) -> None:
    if not future.done():
        settle(outcome)


class _ThreadRun:
    """Runs `work` on an event loop of its own, in a thread of the service's default executor."""

    def __init__(self, work: Work[Any]) -> None:
        self._work, self.loop = work, _ThreadLoop()
        self._task: asyncio.Task[Any] | None = None
        self._step: asyncio.Future[None] | None = None

    async def go_on(self) -> _Outside | None:
        """Runs the work in a thread until it ends or needs the service's loop; returns the call that it needs."""
        self._step = asyncio.ensure_future(asyncio.to_thread(self._until_it_waits))
        await asyncio.shield(self._step)
        assert self._task is not None
        return None if self._task.done() else self.loop.next_outside()

    def result(self) -> Any:
        """Returns the result of the work, or raises its error."""
        assert self._task is not None
        return self._task.result()

    async def end(self) -> None:
        """Cancels the work, and waits until it has ended."""
        self.loop.is_ending = True
        if self._task is not None:
            with suppress(RuntimeError):  # The loop is closed, as the work has just ended.
                self.loop.call_soon_threadsafe(self._task.cancel)
        while self._step is not None:
            await asyncio.wait([self._step])
            is_over = self._step.cancelled() or self._task is None or self._task.done()
            self._step = None if is_over else asyncio.ensure_future(asyncio.to_thread(self._until_it_waits))

    def _until_it_waits(self) -> None:
        if self._task is None:
            self._task = self.loop.create_task(self._begun())
        self.loop.run_forever()
        if self._task.done():
            self.loop.close()

    async def _begun(self) -> Any:
        if self.loop.is_ending:
            raise asyncio.CancelledError
        return await self._work()
