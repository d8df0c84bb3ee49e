"""Endpoints that keep to the contract and mean harm: one writes what it is told into drafts, one follows every way."""

from __future__ import annotations

import json

from app.llm.endpoint.input_lines import read_step
from app.llm.tasks import AnswerReply, StepReply, TaskModel, TaskName
from evaluation.datasets.questions import QueryPlan
from evaluation.fakes.scripted_endpoint import ScriptedEndpoint
from evaluation.fakes.scripted_replies import ScriptedReplies

PSEUDONYM = "<pseudonym>"
"""Where a draft's text holds the pseudonym of its first answer, instead of its number."""


class DraftingEndpoint(ScriptedEndpoint):
    """Answers by the plan, and writes the plan's text beside the answer, as a field that nobody asked for."""

    def on_the_wire(self, reply: TaskModel) -> str:
        said, text = json.loads(super().on_the_wire(reply)), self._plan.text if self._plan else ""
        answer = reply.answer if isinstance(reply, StepReply | AnswerReply) else []
        return json.dumps(said | {"text": text.replace(PSEUDONYM, answer[0]) if answer else text})


class FollowingEndpoint(ScriptedEndpoint):
    """Follows as many ways as it may, in every round, so that as much as possible is shown to it."""

    def expect(self, plan: QueryPlan | None, typed: str = "") -> None:
        super().expect(plan, typed)
        self._replies = _FollowingReplies(None)


class _FollowingReplies(ScriptedReplies):
    def reply_to(self, task: TaskName, block: str) -> TaskModel:
        if task != "step":
            return super().reply_to(task, block)
        asked = read_step(block)
        choices = [candidate.number for candidate in asked.candidates][: asked.width]
        if choices and not asked.last_round:
            return StepReply(action="follow", choices=choices, answer=[])
        return StepReply(action="not_in_graph", choices=[], answer=[])
