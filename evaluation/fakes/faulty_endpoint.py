"""FaultyEndpoint: the scripted endpoint, which misbehaves as often as it is told, in every way of faults.py."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Sequence

from evaluation.fakes.faults import FAULTS
from evaluation.fakes.scripted_endpoint import EndpointWire, Received, ScriptedEndpoint


class FaultyEndpoint(ScriptedEndpoint):
    """A share of the replies, drawn by `seed`, has a fault: each of `faults` in turn.

    `next` holds what comes before that: a fault, or None for a right reply. `injected` counts the faults; `open` is
    how many requests are being answered.
    """

    def __init__(
        self, share: float = 0.3, seed: int = 0, faults: Sequence[str] = tuple(FAULTS), counts_tokens: bool = True
    ) -> None:
        super().__init__(counts_tokens)
        self.share, self.faults = share, faults
        self._dice = random.Random(seed)  # noqa: S311  # a sample, no secret  # nosec B311
        self._drawing = threading.Lock()
        self.next: list[str | None] = []
        self.injected: Counter[str] = Counter()
        self.open = 0

    def serve(self, wire: EndpointWire, received: Received) -> None:
        status, right = self.answer(received)
        fault = self._draw() if status == 200 else None
        self._count(1)
        try:
            if fault is None:
                wire.send_json(status, right)
            else:
                FAULTS[fault](wire, right, received.body)
        except OSError:
            wire.close_connection = True  # The caller went away.
        finally:
            self._count(-1)

    def _draw(self) -> str | None:
        with self._drawing:
            if self.next:
                return self.next.pop(0)
            if not self.faults or self._dice.random() >= self.share:
                return None
            fault = self.faults[self.injected.total() % len(self.faults)]
            self.injected[fault] += 1
            return fault

    def _count(self, change: int) -> None:
        with self._drawing:
            self.open += change
