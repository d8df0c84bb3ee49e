"""A key has so many requests within any minute, and the workers of one service count them together."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.accounts.api_keys import Caller
from app.api.problems import RateLimitedError
from app.api.state import RateLimits

NORTH, SOUTH = (Caller("default", key_id, "user", frozenset()) for key_id in ("k1", "k2"))


def test_workers_count_a_key_together_and_a_minute_later_it_may_ask_again(tmp_path: Path) -> None:
    now = 1_000.0
    first, second = (RateLimits(2, tmp_path, lambda: now) for _ in range(2))
    first.count(NORTH)
    now += 20
    second.count(NORTH)
    for each in (first, second):
        with pytest.raises(RateLimitedError) as refused:
            each.count(NORTH)
        assert refused.value.retry_after_s == 40
        each.count(SOUTH)
    now += 41
    first.count(NORTH)
    with pytest.raises(RateLimitedError):
        second.count(NORTH)
    first.close()
    second.close()


def test_replicas_count_each_for_itself() -> None:
    for each in (RateLimits(1), RateLimits(1)):
        each.count(NORTH)
        each.close()
