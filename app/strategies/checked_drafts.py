"""Asks for drafts and checks those of a model: a draft that contradicts the question is refused.

Only drafts on graphs that declare kinds are checked, and never replies of the embedded reasoner.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from app.language.protocol import DraftChecks
from app.language.readings import Contradiction, ResultKind
from app.llm.tasks import AnswerInput, AnswerReply, ReplyT, StepInput, StepReply, Task, TaskModel
from app.strategies.base import OwnReading, StrategyInput
from app.strategies.start import declares_kinds

_NOT_SHOWN: Final = ", so its answer is not shown."
REFUSALS: Final[Mapping[Contradiction, str]] = {
    Contradiction.TRUTH: f"The question asks for yes or no, and the model did not give one{_NOT_SHOWN}",
    Contradiction.NUMBER: f"The question asks for a number, and the model did not give one{_NOT_SHOWN}",
    Contradiction.THINGS: f"The question asks for things or values, and the model counted them{_NOT_SHOWN}",
    Contradiction.KIND: f"The model answered with another kind of thing than was asked for{_NOT_SHOWN}",
    Contradiction.NEGATION: f"The question leaves something out, and the model did not{_NOT_SHOWN}",
    Contradiction.ADDED: f"The model left something out that the question does not leave out{_NOT_SHOWN}",
    Contradiction.VALUE: f"The model did not compare all that the question names{_NOT_SHOWN}",
    Contradiction.ALL: f"The question asks about all of them, and the model looked at some{_NOT_SHOWN}",
    Contradiction.NAMED: f"The model answered with what the question itself names{_NOT_SHOWN}",
}
"""Sentences for the asker: why a draft that contradicts the question is refused."""


@dataclass(slots=True)
class CheckedDrafts:
    """The drafts of one question, with the result of the last check.

    `refusal`: why the last draft is refused, else empty. `read`: the service's own reading, if a model is asked. `own`
    and `asks_back` belong to the last reply.
    """

    inquiry: StrategyInput
    meant: ResultKind | None = None
    refusal: str = ""
    read: OwnReading | None = None
    own: OwnReading | None = None
    asks_back: tuple[str, ...] = ()
    _checks: DraftChecks | None = field(default=None, init=False)

    async def ask(self, task: Task[ReplyT]) -> ReplyT:
        """Returns the reply to `task`, and sets `refusal` if it is a draft that contradicts the question.

        The model is not asked again. Raises what the reasoner raises.
        """
        reply = await self.inquiry.reasoner.ask(task)
        self.own = OwnReading(reply.scores) if reply.scores else self.read
        self.asks_back = reply.asks_back
        found = self._contradicted(task.input, reply.value) if reply.is_of_model else None
        self.refusal = REFUSALS[found] if found is not None else ""
        return reply.value

    def _contradicted(self, given: TaskModel, reply: TaskModel) -> Contradiction | None:
        answer = _answer_of(reply)
        if not answer or not isinstance(given, StepInput | AnswerInput):
            return None
        checks = self._of_question()
        return checks.contradiction(answer, given) if checks is not None else None

    def _of_question(self) -> DraftChecks | None:
        dialogue, graph = self.inquiry.dialogue, self.inquiry.graph
        if self._checks is None and declares_kinds(graph.schema):
            topics = {topic.pseudonym for topic in dialogue.topics if topic.newest and not topic.doubtful}
            self._checks = self.inquiry.language.draft_checks(str(dialogue.question), topics, graph, self.meant)
        return self._checks


def _answer_of(reply: TaskModel) -> Sequence[str]:
    if isinstance(reply, StepReply):
        return reply.answer if reply.action == "answer" else ()
    if isinstance(reply, AnswerReply):
        return reply.answer if reply.sufficient else ()
    return ()
