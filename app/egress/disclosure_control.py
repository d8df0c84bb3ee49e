"""MeteredReasoner: every prompt of one question is measured before it is asked, and one that shows too much is not."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from app.egress.budgets import Reveals
from app.egress.disclosure_meter import DisclosureMeter, facts_shown
from app.egress.profile import BelowAnonymityThresholdError, Profile
from app.llm.reasoner import Reasoner, Reply, TaskRunner
from app.llm.tasks import ReplyT, Task
from kg_store.anonymity.generalisation import wider_kinds
from kg_store.graph.blind_graph import BlindGraph

Policy = Literal["tell", "generalise", "refuse"]
"""What becomes of a prompt that fewer than k entities fit. `tell`: it is sent. `generalise`: things of small kinds are
shown as of wider ones, and where that does not do, the reasoner in the house takes the step. `refuse`: the question
ends."""


@dataclass(frozen=True, slots=True)
class Disclosure:
    """What is done about what prompts show. `meters` false: nothing leaves the house, so nothing is counted.

    `in_house` is a reasoner that sends nothing; without one `generalise` ends questions as `refuse` does.
    """

    meters: bool = True
    k: int = 1
    policy: Policy = "tell"
    in_house: Reasoner | None = field(default=None, repr=False)

    def around(
        self, inner: TaskRunner, graph: BlindGraph, profile: Profile, reveals: Reveals | None = None
    ) -> MeteredReasoner:
        """`inner` for one question about `graph`, as the role of whoever asks sees it."""
        wider = wider_kinds(graph.schema, self.k) if self.policy == "generalise" else {}
        return MeteredReasoner(inner, DisclosureMeter(graph, profile) if self.meters else None, self, wider, reveals)


IN_THE_HOUSE = Disclosure(meters=False)


@dataclass(slots=True)
class MeteredReasoner:
    """Stands before `inner`, for one question.

    Promise: with any policy but `tell`, no task reaches `inner` that fewer than k entities fit. Condition and limit
    are those of the meter. `wider`: what things of small kinds are to be shown as. `fewest`: the least number of the
    tasks that were passed on; `kept`: how many were not. `reveals` counts what those show.
    """

    inner: TaskRunner
    meter: DisclosureMeter | None
    disclosure: Disclosure
    wider: Mapping[str, str] = field(default_factory=dict)
    reveals: Reveals | None = None
    fewest: int | None = None
    kept: int = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """What the asker should know of steps that were not asked."""
        if not self.kept or self.disclosure.policy != "generalise":
            return ()
        steps = "1 step was" if self.kept == 1 else f"{self.kept} steps were"
        few = f"fewer than {self.disclosure.k} things of the graph fit what a model would have been shown"
        return (f"{steps} taken in the house: {few}.",)

    def fits(self, *tasks: Task[Any]) -> bool:
        return self.inner.fits(*tasks)

    async def ask(self, task: Task[ReplyT]) -> Reply[ReplyT]:
        """Raises what `inner` and `reveals` raise, and BelowAnonymityThresholdError; nothing was sent of these two."""
        if self.meter is None:
            return await self.inner.ask(task)
        # What a path leads to from all of a kind is walked when it is first met; others should not wait for that.
        fitting = await asyncio.to_thread(self.meter.fewest, task.input)
        if fitting is not None and fitting < self.disclosure.k and self.disclosure.policy != "tell":
            return await self._in_house(task)
        if self.reveals is not None:
            await asyncio.to_thread(self.reveals.take, facts_shown(task.input))
        if fitting is not None:
            self.fewest = fitting if self.fewest is None else min(self.fewest, fitting)
        return await self.inner.ask(replace(task, manner=replace(task.manner, anonymity=fitting)))

    async def _in_house(self, task: Task[ReplyT]) -> Reply[ReplyT]:
        self.kept += 1
        reasoner = self.disclosure.in_house
        if reasoner is None or self.disclosure.policy == "refuse":
            raise BelowAnonymityThresholdError
        task = replace(task, input=task.in_house or task.input)
        return await reasoner.reply_to(task, reasoner.egress_of(task))
