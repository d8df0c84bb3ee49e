"""Words that go out for pseudonyms and masked relations: put in before a task leaves, taken out of its reply."""

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
    """`words` leads from each word of ours to the one that is sent for it; no two lead to the same. `issued` are the
    conversation's pseudonyms, with a word in `words` or not.

    Promise: no word that has another in `words` may leave. Limit: what a thing is asked about, and what a relation
    leads to, may be the same under both words.
    """

    words: Mapping[str, str] = field(default_factory=dict, repr=False)
    issued: frozenset[str] = frozenset()

    @property
    def sendable(self) -> frozenset[str]:
        """The words that may stand in what is sent."""
        return frozenset(self.words.values()) | (self.issued - self.words.keys())

    def substitute_in(self, task: Task[ReplyT]) -> Task[ReplyT]:
        return replace(task, input=_renamed(task.input, self.words)) if self.words else task

    def restore_in(self, reply: Reply[ReplyT]) -> Reply[ReplyT]:
        """Puts our own words back; those of the model stay in `words`, as the ledger keeps them."""
        if not self.words:
            return reply
        back = {word: own for own, word in self.words.items()}
        asks_back = tuple(_in(reply.asks_back, back))
        return replace(reply, value=_renamed(reply.value, back), asks_back=asks_back)


class WirePseudonyms(Protocol):
    """The pseudonyms of one question, of which there are more with every step."""

    def now(self) -> PseudonymSubstitution:
        """All that have been issued so far."""
        ...


@dataclass(frozen=True, slots=True)
class NoPseudonyms:
    """For requests that speak of nothing but relations."""

    def now(self) -> PseudonymSubstitution:
        return PseudonymSubstitution()


@dataclass(frozen=True, slots=True)
class AnswerPseudonyms:
    """Those of a conversation, as they are sent for one of its answers."""

    table: PseudonymTable = field(repr=False)
    schema: Schema = field(repr=False)
    answer_id: str

    def now(self) -> PseudonymSubstitution:
        return PseudonymSubstitution(self.table.wire_pseudonyms(self.schema, self.answer_id), self.table.issued)


def _renamed(model: _ModelT, words: Mapping[str, str]) -> _ModelT:
    """The model with other words, and with the fields that stay in the house: no dump holds those."""
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
