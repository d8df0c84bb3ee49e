"""Latest: the results of the last few questions, for the rounds of one question and what is tried beside it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Final, TypeVar, cast

MAX_KEPT: Final = 64

T = TypeVar("T")
_MISSING: Final = object()


class Latest:
    """Keeps so many results by their keys, the oldest go first. Thread-safe; two threads may both work one out."""

    def __init__(self, size: int = MAX_KEPT) -> None:
        self._size, self._lock = size, threading.Lock()
        self._kept: OrderedDict[Hashable, object] = OrderedDict()

    def of(self, key: Hashable, work_out: Callable[[], T]) -> T:
        with self._lock:
            known = self._kept.get(key, _MISSING)
        if known is not _MISSING:
            return cast(T, known)
        fresh = work_out()
        with self._lock:
            self._kept[key] = fresh
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)
        return fresh
