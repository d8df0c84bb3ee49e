"""OpenAI's responses: a request read, its reply whole or as events, and those that a later one may go on from."""

from __future__ import annotations

import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import Field

from client_sdk.dialogue import Turn
from client_sdk.dialogue_cache import MAX_KEPT
from client_sdk.proxy.errors import ProxyError, bad_request
from client_sdk.proxy.events import Finished, about, event, token_counts
from client_sdk.proxy.questions import (
    ClientMessage,
    Content,
    LooseModel,
    Question,
    demands_tool,
    ignored_fields,
    question_of,
    read_body,
    unsupported,
)

_REFUSED: Final[dict[str, str]] = {
    "background": "a reply is waited for; leave it out, and stream",
    "conversation": "conversations are not kept by id; send the earlier turns, or `previous_response_id`",
    "prompt": "no prompts are kept here; send the question itself",
}


class _Item(LooseModel):
    """A message, or what is not read: a tool's call or result, a model's thoughts, a reference."""

    type: str = "message"
    role: str | None = None
    content: Content = Field(default=None, repr=False)


class _Body(LooseModel):
    model: str
    input: str | list[_Item] = Field(repr=False)
    instructions: str | None = Field(default=None, repr=False)
    previous_response_id: str | None = None
    stream: bool | None = None
    store: bool | None = None
    text: dict[str, Any] | None = None
    tool_choice: Any = None


class ResponseHistory:
    """The turns that led to each of the newest responses, in memory alone. Threads may share it."""

    def __init__(self, most: int = MAX_KEPT) -> None:
        self._most, self._lock = most, threading.Lock()
        self._turns: OrderedDict[str, tuple[Turn, ...]] = OrderedDict()

    def turns(self, id: str | None) -> tuple[Turn, ...]:
        """Those before a request that names `id`. Raises ProxyError where it is not known (any more)."""
        if id is None:
            return ()
        with self._lock:
            if id in self._turns:
                self._turns.move_to_end(id)
                return self._turns[id]
        sentence = "previous_response_id is not known: responses are kept while the proxy runs; send the turns instead"
        raise bad_request(sentence, "previous_response_id", "previous_response_not_found")

    def keep(self, id: str, turns: tuple[Turn, ...]) -> None:
        with self._lock:
            self._turns[id] = turns
            while len(self._turns) > self._most:
                self._turns.popitem(last=False)


def read_response_request(body: bytes, chat_id: str, history: ResponseHistory) -> tuple[Question, ResponseReply]:
    """The question of a request, and the reply to be. Raises ProxyError."""
    asked = read_body(_Body, body)
    _refuse(asked)
    question = question_of(
        asked.model,
        list(_messages(asked)),
        earlier=history.turns(asked.previous_response_id),
        stream=bool(asked.stream),
        ignored=_ignored(asked),
        chat_id=chat_id,
    )
    kept = None if asked.store is False or question.background else history
    return question, ResponseReply(question, asked.previous_response_id, kept)


def _refuse(asked: _Body) -> None:
    for name, why in _REFUSED.items():
        if (asked.model_extra or {}).get(name) not in (None, False, "", {}):
            raise unsupported(name, why)
    form = (asked.text or {}).get("format")
    if form is not None and (not isinstance(form, dict) or form.get("type") != "text"):
        raise unsupported("text.format", "answers are text; leave it out")
    if demands_tool(asked.tool_choice):
        raise unsupported("tool_choice", "no tool is ever called; leave it out, or send `auto`")


def _messages(asked: _Body) -> Iterator[ClientMessage]:
    if asked.instructions:
        yield ClientMessage("system", asked.instructions, "input[instructions]")
    if isinstance(asked.input, str):
        yield ClientMessage("user", asked.input, "input[0]")
        return
    for at, item in enumerate(asked.input):
        role = (item.role or "user") if item.type == "message" else "tool"
        yield ClientMessage(role, item.content, f"input[{at}]")


def _ignored(asked: _Body) -> Iterator[str]:
    yield from ignored_fields(asked.model_extra)
    if asked.tool_choice not in (None, "none"):
        yield "tool_choice"


@dataclass(slots=True)
class ResponseReply:
    """One response: one message of one part. Its events are numbered."""

    question: Question
    previous: str | None = None
    history: ResponseHistory | None = None
    id: str = field(default_factory=lambda: f"resp_{secrets.token_urlsafe(12)}")
    created: int = field(default_factory=lambda: int(time.time()))
    _sent: int = 0

    def whole(self, text: str, finished: Finished) -> dict[str, Any]:
        if self.history is not None:
            asked = (*self.question.turns, Turn("user", self.question.text))
            self.history.keep(self.id, (*asked, Turn("assistant", text)))
        ended = {"usage": _usage_of(finished), "arog": about(finished), "completed_at": int(time.time())}
        return {**self._head("completed"), "output": [self._message("completed", _part(text))], **ended}

    def first(self) -> bytes:
        return (
            self._event("response.created", response=self._head("in_progress"))
            + self._event("response.in_progress", response=self._head("in_progress"))
            + self._event("response.output_item.added", output_index=0, item=self._message("in_progress"))
            + self._part_event("response.content_part.added", part=_part(""))
        )

    def piece(self, text: str) -> bytes:
        return self._part_event("response.output_text.delta", delta=text, logprobs=[])

    def last(self, text: str, finished: Finished) -> bytes:
        item = self._message("completed", _part(text))
        return (
            self._part_event("response.output_text.done", text=text, logprobs=[])
            + self._part_event("response.content_part.done", part=_part(text))
            + self._event("response.output_item.done", output_index=0, item=item)
            + self._event("response.completed", response=self.whole(text, finished))
        )

    def failure(self, error: ProxyError) -> bytes:
        """Clients of OpenAI raise at the first of these; others wait for the second, which ends a response."""
        told = error.openai_body["error"]
        failed = {"code": "rate_limit_exceeded" if error.status == 429 else "server_error", "message": error.sentence}
        return self._event("error", **{**told, "type": "error"}, error=told) + self._event(
            "response.failed", response={**self._head("failed"), "error": failed}
        )

    def _part_event(self, name: str, **content: Any) -> bytes:
        return self._event(name, item_id=self._message_id, output_index=0, content_index=0, **content)

    def _event(self, name: str, **content: Any) -> bytes:
        number, self._sent = self._sent, self._sent + 1
        return event({**content, "type": name, "sequence_number": number}, name)

    @property
    def _message_id(self) -> str:
        return self.id.replace("resp_", "msg_", 1)

    def _message(self, status: str, *content: dict[str, Any]) -> dict[str, Any]:
        return {
            "id": self._message_id, "type": "message", "role": "assistant", "status": status, "content": list(content),
        }  # fmt: skip

    def _head(self, status: str) -> dict[str, Any]:
        """A response without its text; options that are ignored are told as those of a bare request."""
        return {
            "id": self.id, "object": "response", "created_at": self.created, "status": status, "error": None,
            "incomplete_details": None, "instructions": None, "max_output_tokens": None, "metadata": {},
            "model": self.question.model, "output": [], "parallel_tool_calls": False,
            "previous_response_id": self.previous, "reasoning": {"effort": None, "summary": None},
            "store": self.history is not None, "temperature": None, "text": {"format": {"type": "text"}},
            "tool_choice": "none", "tools": [], "top_p": None, "truncation": "disabled", "usage": None,
        }  # fmt: skip


def _part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _usage_of(finished: Finished) -> dict[str, Any]:
    sent, got = token_counts(finished)
    return {
        "input_tokens": sent, "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": got, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": sent + got,
    }  # fmt: skip
