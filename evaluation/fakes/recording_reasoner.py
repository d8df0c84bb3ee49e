"""RecordingReasoner: keeps every byte that a reasoner was sent, for the leak scanner, and the steps of one turn."""

from __future__ import annotations

import time
from dataclasses import dataclass

from app.llm.in_house import ReadingScores
from app.llm.reasoner import Reasoner, Reply, Retry
from app.llm.tasks import ReplyT, Task, TaskKind, TaskModel
from app.privacy.safe_text import Egress


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that the reasoner was asked, and what it replied; `scores` of the reading that it followed."""

    asked: TaskModel
    reply: TaskModel
    scores: ReadingScores | None = None


class RecordingReasoner:
    """Passes everything on to `inner`. For public data only: what it keeps stays in memory, unsealed.

    `steps` are those since the last `begin`, so that a long run keeps one turn's tasks and no more; `processor_s` is
    the processor time that the whole process took for them.
    """

    def __init__(self, inner: Reasoner) -> None:
        self._inner = inner
        self.sent: list[bytes] = []
        self.instructions: set[str] = set()
        self.steps: list[Step] = []
        self.processor_s = 0.0

    def begin(self) -> None:
        """A turn begins: the steps of the one before are forgotten."""
        self.steps, self.processor_s = [], 0.0

    def statics_of(self, kind: TaskKind[ReplyT]) -> tuple[bytes, ...]:
        return self._inner.statics_of(kind)

    def egress_of(self, task: Task[ReplyT]) -> Egress:
        return self._inner.egress_of(task)

    @property
    def longest_reply(self) -> int:
        return self._inner.longest_reply

    @property
    def is_capable(self) -> bool:
        return self._inner.is_capable

    def tokens_in(self, egress: Egress) -> int:
        return self._inner.tokens_in(egress)

    async def reply_to(self, task: Task[ReplyT], egress: Egress) -> Reply[ReplyT] | Retry:
        self.sent.append(egress.body)
        self.instructions.add(task.kind.instructions)
        began = time.process_time()
        try:
            reply = await self._inner.reply_to(task, egress)
        finally:
            self.processor_s += time.process_time() - began
        if isinstance(reply, Reply):
            self.steps.append(Step(task.input, reply.value, reply.scores))
        return reply
