"""Opens and warms the newest graphs before the service calls itself ready, so that no first asker waits for that."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from app.accounts.api_keys import EVERY_GRAPH, Caller
from app.telemetry.logs import event_log
from app.wiring.services import Services
from kg_store.errors import StoreError

MOST_WARMED: Final = 8
"""Graphs, the newest first; each keeps its maps in memory."""
MIN_THINGS: Final = 5_000
"""Of a graph whose questions are tried, too; the first question to a smaller one takes little time."""
WITHIN_S: Final = 60.0
"""Seconds; what is not warm by then is opened by its first question."""
_KEY_ID: Final = "suggestions"  # No key is called so.
log = event_log("warm_start")


async def warm_graphs(services: Services, told: Callable[[int, int], None]) -> None:
    """`told` hears how many of how many graphs are warm. Never raises: a graph that can't be opened is logged, and
    says why to whoever asks it."""
    try:
        async with asyncio.timeout(WITHIN_S):
            newest = await asyncio.to_thread(services.store.catalog.newest, MOST_WARMED)
            for done, (tenant, name) in enumerate(newest):
                told(done, len(newest))
                await _warm(services, tenant, name)
    except TimeoutError:
        log.info("warm_up_cut", seconds=WITHIN_S)


async def _warm(services: Services, tenant: str, name: str) -> None:
    """Its files are mapped and its words embedded; where a reasoner in the service answers, questions about a large
    graph are tried, too, which the page suggests later."""
    try:
        opened = await asyncio.to_thread(services.store.catalog.open, tenant, name)
        await asyncio.to_thread(services.thinking.wait_until_warm)
        things = sum(signature.size for signature in opened.blind.schema.signatures)
        if services.thinking.in_house is not None and things >= MIN_THINGS:
            caller = Caller(tenant, _KEY_ID, "user", frozenset({EVERY_GRAPH}))
            await services.suggester.suggest(caller, name)
    except (StoreError, OSError) as error:
        log.error("not_warmed", exc_info=error)
