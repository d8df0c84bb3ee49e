"""Latest: a small cache of results, so that all rounds of one question share them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Final, TypeVar, cast

MAX_KEPT: Final = 64

T = TypeVar("T")
_MISSING: Final = object()


class Latest:
    """Keeps the `size` most recent results by key and drops the oldest first.

    Thread-safe; two threads that ask for the same missing key at once may both compute it.
    """

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
