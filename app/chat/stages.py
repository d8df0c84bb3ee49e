"""Stopwatch: milliseconds per stage of one question, and who is told that a stage begins."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

OnStage = Callable[[str, int | None], None]
"""Told of each stage as it begins, and of its number where it comes several times; on the event loop."""


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
            self.add(name, time.perf_counter() - began)

    def add(self, name: str, seconds: float) -> None:
        self._seconds[name] = self._seconds.get(name, 0.0) + seconds

    def milliseconds(self) -> dict[str, float]:
        return {name: round(seconds * 1000, 3) for name, seconds in self._seconds.items()}
