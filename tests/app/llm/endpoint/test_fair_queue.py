"""FairQueue: never more than its places, tenants in turn, and no place is lost to who goes away."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field

import pytest

from app.llm.endpoint.fair_queue import FairQueue


@dataclass
class Desk:
    """Who held a place, in order, and how many at once."""

    queue: FairQueue
    order: list[str] = field(default_factory=list)
    holding: int = 0
    most: int = 0
    end: asyncio.Event = field(default_factory=asyncio.Event)

    async def hold(self, who: str) -> None:
        async with self.queue.place(who[0]):
            self.order.append(who)
            self.holding += 1
            self.most = max(self.most, self.holding)
            try:
                await self.end.wait()
                await asyncio.sleep(0)
            finally:
                self.holding -= 1


async def begun(desk: Desk, *who: str) -> list[asyncio.Task[None]]:
    tasks = [asyncio.create_task(desk.hold(each)) for each in who]
    for _ in range(3):
        await asyncio.sleep(0)
    return tasks


async def test_tenants_take_turns_however_many_one_of_them_asks() -> None:
    desk = Desk(FairQueue(1))
    tasks = await begun(desk, "a1", "a2", "a3", "a4", "b1", "b2", "c1")
    desk.end.set()
    await asyncio.gather(*tasks)
    assert desk.order == ["a1", "a2", "b1", "c1", "a3", "b2", "a4"]
    assert desk.most == 1


async def test_no_more_than_its_places_are_held_and_all_of_them() -> None:
    desk = Desk(FairQueue(3))
    tasks = await begun(desk, *(f"{who}{n}" for n in range(5) for who in "ab"))
    assert desk.holding == 3
    desk.end.set()
    await asyncio.gather(*tasks)
    assert (desk.most, len(desk.order), desk.holding) == (3, 10, 0)


@pytest.mark.parametrize("seed", range(20))
async def test_who_goes_away_takes_no_place_along(seed: int) -> None:
    rng = random.Random(seed)
    desk = Desk(FairQueue(2))
    tasks = await begun(desk, *(rng.choice("abc") + str(n) for n in range(12)))
    for task in rng.sample(tasks, 6):
        task.cancel()
        if rng.random() < 0.5:
            await asyncio.sleep(0)
        desk.end.set()
    await asyncio.gather(*tasks, return_exceptions=True)
    after = Desk(desk.queue)
    again = await begun(after, "a1", "b1", "c1")
    assert after.holding == 2
    after.end.set()
    await asyncio.gather(*again)
    assert after.order == ["a1", "b1", "c1"]
