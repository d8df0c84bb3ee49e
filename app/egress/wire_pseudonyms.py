"""The words that are sent for pseudonyms and masked relations: inserted before a task leaves, removed
from its reply.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeVar

from app.llm.reasoner import Reply
from app.llm.tasks import ReplyT, Task, TaskModel
from app.privacy.pseudonyms import PseudonymTable
from kg_store.terms import Schema

_RUN = re.compile(r"[0-9A-Za-z]+")
_ModelT = TypeVar("_ModelT", bound=TaskModel)


@dataclass(frozen=True, slots=True)
class PseudonymSubstitution:
    """Maps the service's words to those that are sent.

    `words`: one distinct word for each; `issued`: the conversation's pseudonyms, in `words` or not. Promise: a word
    that has another one in `words` never leaves. Limit: what is asked about a thing, and what a relation leads to, may
    be the same under both words.
    """

    words: Mapping[str, str] = field(default_factory=dict, repr=False)
    issued: frozenset[str] = frozenset()

    @property
    def sendable(self) -> frozenset[str]:
        """The words that a request may hold."""
        return frozenset(self.words.values()) | (self.issued - self.words.keys())

    def substitute_in(self, task: Task[ReplyT]) -> Task[ReplyT]:
        return replace(task, input=_renamed(task.input, self.words)) if self.words else task

    def restore_in(self, reply: Reply[ReplyT]) -> Reply[ReplyT]:
        """Puts the service's own words back into the reply; `words` keeps the model's text for the ledger."""
        if not self.words:
            return reply
        back = {word: own for own, word in self.words.items()}
        asks_back = tuple(_in(reply.asks_back, back))
        return replace(reply, value=_renamed(reply.value, back), asks_back=asks_back)


class WirePseudonyms(Protocol):
    """The pseudonyms of one question, which increase with every step."""

    def now(self) -> PseudonymSubstitution:
        """Returns all that have been issued so far."""
        ...


@dataclass(frozen=True, slots=True)
class NoPseudonyms:
    """No pseudonyms: for requests that only speak of relations."""

    def now(self) -> PseudonymSubstitution:
        return PseudonymSubstitution()


@dataclass(frozen=True, slots=True)
class AnswerPseudonyms:
    """The pseudonyms of a conversation, as they are sent for one of its answers."""

    table: PseudonymTable = field(repr=False)
    schema: Schema = field(repr=False)
    answer_id: str

    def now(self) -> PseudonymSubstitution:
        return PseudonymSubstitution(self.table.wire_pseudonyms(self.schema, self.answer_id), self.table.issued)


def _renamed(model: _ModelT, words: Mapping[str, str]) -> _ModelT:
    """The model with other words, including the fields that stay inside the service, which no dump holds."""
    house = {name: getattr(model, name) for name, field in type(model).model_fields.items() if field.exclude}
    return type(model).model_validate(_in(model.model_dump() | house, words))


def _in(value: Any, words: Mapping[str, str]) -> Any:
    match value:
        case str():
            return _RUN.sub(lambda run: words.get(run[0], run[0]), value)
        case dict():
            return {_in(key, words): _in(each, words) for key, each in value.items()}
        case list() | tuple():
            return [_in(each, words) for each in value]
        case TaskModel():
            return _renamed(value, words)
    return value
