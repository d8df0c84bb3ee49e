"""Opaque words of relations, drawn anew for a conversation: put in before a task leaves, taken out of its reply."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from app.llm.reasoner import Reply, ReplyT, Task, TaskModel

_RUN = re.compile(r"[0-9A-Za-z]+")
_ModelT = TypeVar("_ModelT", bound=TaskModel)


@dataclass(frozen=True, slots=True)
class Veil:
    """`words` leads from each opaque word of the graph to that of the conversation; no two lead to the same.

    Promise: no opaque word of the graph leaves, so that what one conversation tells of a relation says nothing of it
    in the next. Limit: its description, if it has one, and what it leads to are the same in both.
    """

    words: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def issued(self) -> frozenset[str]:
        """The words that may stand in what is sent."""
        return frozenset(self.words.values())

    def put_on(self, task: Task[ReplyT]) -> Task[ReplyT]:
        return replace(task, input=_renamed(task.input, self.words)) if self.words else task

    def taken_off(self, reply: Reply[ReplyT]) -> Reply[ReplyT]:
        """What the model wrote stays in `words`, as the ledger keeps it."""
        if not self.words:
            return reply
        back = {word: own for own, word in self.words.items()}
        return replace(reply, value=_renamed(reply.value, back))


def _renamed(model: _ModelT, words: Mapping[str, str]) -> _ModelT:
    return type(model).model_validate(_in(model.model_dump(), words))


def _in(value: object, words: Mapping[str, str]) -> object:
    if isinstance(value, str):
        return _RUN.sub(lambda run: words.get(run[0], run[0]), value)
    if isinstance(value, list):
        return [_in(each, words) for each in value]
    if isinstance(value, dict):
        return {key: _in(each, words) for key, each in value.items()}
    return value
