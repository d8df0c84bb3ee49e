"""Disclosure: what is done about a prompt that shows too much of the graph; and its measure for one question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from app.egress.budgets import Reveals
from app.egress.disclosure_meter import DisclosureMeter, facts_shown
from app.egress.profile import BelowAnonymityThresholdError, Profile
from app.llm.reasoner import Reasoner, Reply, ReplyUnusableError, Retry
from app.llm.tasks import ReplyT, Task
from kg_store.anonymity.generalisation import wider_kinds
from kg_store.graph.blind_graph import BlindGraph

Policy = Literal["tell", "generalise", "refuse"]
"""The fate of a prompt that fewer than k entities fit. `tell`: it is sent. `generalise`: things of small kinds are
shown as of wider ones, and where that does not do, the reasoner in the house takes the step. `refuse`: the question
ends."""


@dataclass(frozen=True, slots=True)
class Disclosure:
    """The rule for all questions of a service. `meters` false: nothing leaves the house, so nothing is counted.

    `in_house` is a reasoner that sends nothing; without one `generalise` ends questions as `refuse` does.
    """

    meters: bool = True
    k: int = 1
    policy: Policy = "tell"
    in_house: Reasoner | None = field(default=None, repr=False)

    def of_question(self, graph: BlindGraph, profile: Profile, reveals: Reveals | None = None) -> QuestionDisclosure:
        """The rule for one question about `graph`, as the role of whoever asks sees it."""
        wider = wider_kinds(graph.schema, self.k) if self.policy == "generalise" else {}
        return QuestionDisclosure(self, DisclosureMeter(graph, profile) if self.meters else None, wider, reveals)


IN_THE_HOUSE = Disclosure(meters=False)


@dataclass(slots=True)
class QuestionDisclosure:
    """Measures each prompt of one question.

    Promise: with any policy but `tell`, `measured` gives back no task that fewer than k entities fit. Condition and
    limit are those of the meter. `wider`: what things of small kinds are to be shown as. `fewest`: the least number of
    the tasks that were given back; `kept`: how many were not. `reveals` counts what those show.
    """

    rule: Disclosure = IN_THE_HOUSE
    meter: DisclosureMeter | None = None
    wider: Mapping[str, str] = field(default_factory=dict)
    reveals: Reveals | None = None
    fewest: int | None = None
    kept: int = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """Tells the asker of the steps that no model was asked for."""
        if not self.kept or self.rule.policy != "generalise":
            return ()
        steps = "1 step was" if self.kept == 1 else f"{self.kept} steps were"
        few = f"fewer than {self.rule.k} things of the graph match what a model would have been shown"
        return (f"{steps} taken inside the service: {few}.",)

    def measured(self, task: Task[ReplyT]) -> Task[ReplyT] | None:
        """`task` with the number of entities that fit it; None where the house has to take the step.

        Raises BelowAnonymityThresholdError, and what `reveals` raises; may wait for the database.
        """
        if self.meter is None:
            return task
        fitting = self.meter.fewest(task.input)
        if fitting is not None and fitting < self.rule.k and self.rule.policy != "tell":
            self.kept += 1
            if self.rule.in_house is None or self.rule.policy == "refuse":
                raise BelowAnonymityThresholdError
            return None
        if self.reveals is not None:
            self.reveals.take(facts_shown(task.input))
        if fitting is not None:
            self.fewest = fitting if self.fewest is None else min(self.fewest, fitting)
        return replace(task, manner=replace(task.manner, anonymity=fitting))

    async def in_house(self, task: Task[ReplyT]) -> Reply[ReplyT]:
        """The reply of the reasoner that sends nothing. Raises BelowAnonymityThresholdError, ReasonerError."""
        reasoner = self.rule.in_house
        if reasoner is None:
            raise BelowAnonymityThresholdError
        task = replace(task, input=task.in_house or task.input)
        reply = await reasoner.reply_to(task, reasoner.egress_of(task))
        if isinstance(reply, Retry):
            raise ReplyUnusableError("the reasoner inside the service gave no reply")
        return reply
