"""RecordingReasoner: keeps every byte that a reasoner was sent, for the leak scanner."""

from __future__ import annotations

from app.llm.reasoner import Reasoner, Reply, ReplyT, Task, TaskKind
from app.privacy.safe_text import Egress


class RecordingReasoner:
    """Passes everything on to `inner`. For public data only: what it keeps stays in memory, unsealed."""

    def __init__(self, inner: Reasoner) -> None:
        self._inner = inner
        self.sent: list[bytes] = []
        self.instructions: set[str] = set()

    def statics_of(self, kind: TaskKind[ReplyT]) -> tuple[bytes, ...]:
        return self._inner.statics_of(kind)

    def egress_of(self, task: Task[ReplyT]) -> Egress:
        return self._inner.egress_of(task)

    async def reply_to(self, task: Task[ReplyT], egress: Egress) -> Reply[ReplyT]:
        self.sent.append(egress.body)
        self.instructions.add(task.kind.instructions)
        return await self._inner.reply_to(task, egress)
