"""FairQueue: so many at a time, and tenants in turn, so that one with many questions holds up no other."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class FairQueue:
    """`places` may be held at once. Of those who wait, each tenant gets the next place in turn. One event loop."""

    def __init__(self, places: int) -> None:
        self._places = self._free = places
        # The tenant whose turn is next stands first.
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    @property
    def held(self) -> int:
        """The number of places that are held now."""
        return self._places - self._free

    @asynccontextmanager
    async def place(self, tenant: str) -> AsyncIterator[None]:
        """Holds a place; whoever is cancelled while waiting, or holding one, gives it up."""
        await self._enter(tenant)
        try:
            yield
        finally:
            self._leave()

    async def _enter(self, tenant: str) -> None:
        if self._free:
            self._free -= 1
            return
        mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(tenant, deque()).append(mine)
        try:
            await mine
        except asyncio.CancelledError:
            if mine.done() and not mine.cancelled():
                self._leave()  # The place came in the same moment: it goes on to the next.
            raise

    def _leave(self) -> None:
        while self._waiting:
            tenant, line = self._waiting.popitem(last=False)
            first = line.popleft()
            if line:
                self._waiting[tenant] = line
            if not first.done():
                first.set_result(None)
                return
        self._free += 1
