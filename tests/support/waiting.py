"""Waiting for what another thread or task is about to do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


async def until(holds: Callable[[], bool]) -> None:
    """Returns when it holds; fails after many looks. What is waited for must come, however slow the machine is."""
    for _ in range(3000):
        if holds():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("what was waited for did not come")
