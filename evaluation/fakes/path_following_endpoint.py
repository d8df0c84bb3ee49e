"""PathReader: an endpoint that does what a strict prompt says, and goes by nothing else."""

from __future__ import annotations

from typing import Final

from app.llm.endpoint.request_body import read_step
from app.llm.tasks import StepInput, StepReply, TaskModel, TaskName
from app.strategies.sets.prompts import ASKED, PATH
from evaluation.datasets.questions import QueryPlan
from evaluation.fakes.scripted_endpoint import ScriptedEndpoint
from evaluation.fakes.scripted_replies import ScriptedReplies

FORMS: Final = {"things": "{0}", "count": "count({0})", "truth": "exists({0})", "average": "average({0})"}
"""Expressions over the end of the path, for the forms of a question that take nothing else."""


class PathReader(ScriptedEndpoint):
    """Follows the concept path that the prompt states from the thing that it begins with, and gives the form of answer
    that is asked for. Plans are not read, so that what is wrong in the path is wrong in the answer."""

    def expect(self, plan: QueryPlan | None, typed: str = "") -> None:
        super().expect(plan, typed)
        self._replies = _PathReplies(None)


class _PathReplies(ScriptedReplies):
    """The replies to one question; what was walked is seen in the evidence."""

    def reply_to(self, task: TaskName, block: str) -> TaskModel:
        if task != "step":
            return super().reply_to(task, block)
        return _step(read_step(block))


def _step(asked: StepInput) -> StepReply:
    start = asked.path[0].head if asked.path else ""
    path = [triple.relation for triple in asked.path]
    form = next((words for name, words in FORMS.items() if asked.question == f"{PATH}: {ASKED[name]}?"), "{0}")
    walked = [fact for fact in asked.evidence if fact.start == start and fact.path == path]
    if walked:
        return StepReply(action="answer", choices=[], answer=[form.format(walked[0].end)])
    ways = [way.number for way in asked.candidates if way.start == start and way.path == path]
    if ways and not asked.last_round:
        return StepReply(action="follow", choices=ways[:1], answer=[])
    return StepReply(action="not_in_graph", choices=[], answer=[])
