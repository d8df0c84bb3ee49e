"""Seeded choices that come out the same in every Python version."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import date, timedelta
from typing import TypeVar

T = TypeVar("T")


class Dice:
    """Uses only `Random.random`, whose numbers Python guarantees for a seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311  # invented data, no secret depends on it  # nosec B311

    def below(self, limit: int) -> int:
        return int(self._random.random() * limit)

    def chance(self, share: float) -> bool:
        return self._random.random() < share

    def pick(self, items: Sequence[T]) -> T:
        return items[self.below(len(items))]

    def day_between(self, first: date, last: date) -> date:
        return first + timedelta(days=self.below((last - first).days + 1))
