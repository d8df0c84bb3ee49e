"""InHouseRunner: the reasoner inside the service with the interface that strategies use; nothing leaves, so nothing is
guarded.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from app.llm.reasoner import Reasoner, Reply, ReplyUnusableError, Retry
from app.llm.tasks import ReplyT, Task


@dataclass(frozen=True, slots=True)
class InHouseRunner:
    """Condition: `inner` sends nothing. It reads a task's fuller input, if there is one that no prompt may hold."""

    inner: Reasoner

    @property
    def is_model(self) -> bool:
        return False

    @property
    def is_capable(self) -> bool:
        return True

    def fits(self, *_tasks: Task[Any]) -> bool:
        return True

    async def ask(self, task: Task[ReplyT]) -> Reply[ReplyT]:
        """Returns the reply. Raises ReplyUnusableError."""
        task = replace(task, input=task.in_house or task.input)
        reply = await self.inner.reply_to(task, self.inner.egress_of(task))
        if isinstance(reply, Retry):
            raise ReplyUnusableError("the reasoner inside the service gave no reply")
        return reply
