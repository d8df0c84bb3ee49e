"""MeteredReasoner: every prompt of one question is measured before it is asked."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Any

from app.llm.reasoner import AsksTasks, Reply, ReplyT, Task
from app.strategies.base import Profile
from app.strategies.disclosure_meter import DisclosureMeter
from kg_store.blind_graph import BlindGraph


@dataclass(frozen=True, slots=True)
class Disclosure:
    """What is done about what prompts show. `meters` false: nothing leaves the house, so nothing is counted."""

    meters: bool = True

    def around(self, inner: AsksTasks, graph: BlindGraph, profile: Profile) -> MeteredReasoner:
        """`inner` for one question about `graph`, as the role of whoever asks sees it."""
        return MeteredReasoner(inner, DisclosureMeter(graph, profile) if self.meters else None)


IN_THE_HOUSE = Disclosure(meters=False)


@dataclass(slots=True)
class MeteredReasoner:
    """Stands before `inner`. `fewest`: of all prompts so far, the least number of entities that fit a shown thing."""

    inner: AsksTasks
    meter: DisclosureMeter | None
    fewest: int | None = None

    def fits(self, *tasks: Task[Any]) -> bool:
        return self.inner.fits(*tasks)

    async def ask(self, task: Task[ReplyT]) -> Reply[ReplyT]:
        if self.meter is None:
            return await self.inner.ask(task)
        # What a path leads to from all of a kind is walked when it is first met; others should not wait for that.
        fitting = await asyncio.to_thread(self.meter.fewest, task.input)
        if fitting is not None:
            self.fewest = fitting if self.fewest is None else min(self.fewest, fitting)
        return await self.inner.ask(replace(task, manner=replace(task.manner, anonymity=fitting)))
