"""StageTimer: the stages of one question, the milliseconds that each took, and who is told that one begins."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

OnStage = Callable[[str, int | None], None]
"""Told of each stage as it begins, and of its number where it comes several times; on the event loop."""

P = ParamSpec("P")
T = TypeVar("T")


def tell_nobody(_stage: str, _number: int | None) -> None:
    """For whoever waits for the whole answer."""


class StageTimer:
    """Adds up the time of each stage; a stage that runs twice counts both times."""

    def __init__(self, on_stage: OnStage = tell_nobody) -> None:
        self._on_stage = on_stage
        self._seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        self._on_stage(name, None)
        began = time.perf_counter()
        try:
            yield
        finally:
            self._seconds[name] = self._seconds.get(name, 0.0) + time.perf_counter() - began

    async def in_thread(self, name: str, call: Callable[P, T], *given: P.args, **more: P.kwargs) -> T:
        """A stage that computes, or waits for the database: in a thread, so that nobody else waits for it."""
        with self.stage(name):
            return await asyncio.to_thread(call, *given, **more)

    def begin_round(self, number: int) -> None:
        """Tells that a round of retrieval begins."""
        self._on_stage("round", number)

    def milliseconds(self) -> dict[str, float]:
        return {name: round(seconds * 1000, 3) for name, seconds in self._seconds.items()}
