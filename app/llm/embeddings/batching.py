"""BatchingEncoder: embeds in one run what several threads ask for at the same time."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]

# A larger run is not faster for each text, and everyone in it would wait for all of it. Chosen by hand.
TEXTS_OF_A_RUN = 256


@dataclass(slots=True, eq=False)
class _Request:
    texts: Sequence[str]
    vectors: Vectors | None = None
    error: Exception | None = None

    @property
    def is_open(self) -> bool:
        return self.vectors is None and self.error is None


class BatchingEncoder:
    """Runs requests in order of arrival; a thread that finds no run in progress starts one for all that wait."""

    def __init__(self, encode: Callable[[Sequence[str]], Vectors]) -> None:
        """`encode` returns one row a text; it is never called by two threads at once."""
        self._encode = encode
        self._turn = threading.Condition()
        self._is_running = False
        self._waiting: deque[_Request] = deque()

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """Returns one row a text. Raises what the run raised."""
        mine = _Request(texts)
        with self._turn:
            self._waiting.append(mine)
            while mine.is_open:
                if self._is_running:
                    self._turn.wait()
                else:
                    self._run_next()
        if mine.error is not None:
            raise mine.error
        assert mine.vectors is not None
        return mine.vectors

    def _run_next(self) -> None:
        """Runs the next batch. The caller holds the lock before and after; others can queue during the run."""
        self._is_running, requests = True, self._next()
        self._turn.release()
        try:
            self._run(requests)
        finally:
            self._turn.acquire()
            self._is_running = False
            self._turn.notify_all()

    def _next(self) -> list[_Request]:
        """The first request, and those behind it that fit into the same run."""
        taken = [self._waiting.popleft()]
        count = len(taken[0].texts)
        while self._waiting and (count := count + len(self._waiting[0].texts)) <= TEXTS_OF_A_RUN:
            taken.append(self._waiting.popleft())
        return taken

    def _run(self, requests: list[_Request]) -> None:
        row = {text: number for number, text in enumerate({text: None for each in requests for text in each.texts})}
        try:
            vectors = self._encode(list(row))
        except Exception as error:
            for each in requests:
                each.error = error
            return
        for each in requests:
            each.vectors = vectors[[row[text] for text in each.texts]]
