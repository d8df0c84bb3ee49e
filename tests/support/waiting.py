"""Functions that wait for another thread or task."""

from __future__ import annotations

import asyncio
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import httpx2


async def until(holds: Callable[[], bool]) -> None:
    """Returns when `holds` is true; fail after 3,000 looks (30 s or more, so that slow machines have time)."""
    for _ in range(3000):
        if holds():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("what was waited for did not come")


def until_healthy(url: str, process: subprocess.Popen[bytes], printed: Path, within_s: float) -> None:
    """Returns when the started program answers 200 at `url`; fail with what it printed if it ends or is too slow."""
    ends_at = time.monotonic() + within_s
    while time.monotonic() < ends_at and process.poll() is None:
        with suppress(httpx2.TransportError):
            if httpx2.get(url).status_code == 200:
                return
        time.sleep(0.1)
    raise AssertionError(printed.read_text("utf-8"))


def run_together(*works: Callable[[], object]) -> None:
    """Runs each function in a thread of its own, all at once."""
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
