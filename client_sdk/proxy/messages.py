"""Anthropic's messages: a request read, and its reply whole or as events."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import Field

from client_sdk.proxy.errors import ProxyError
from client_sdk.proxy.events import Finished, about, event, token_counts
from client_sdk.proxy.questions import (
    ClientMessage,
    Content,
    LooseModel,
    Question,
    ignored_fields,
    question_of,
    read_body,
    unsupported,
)

# What only models think; none of these asks for anything.
_THOUGHTS: Final = ("thinking", "redacted_thinking")


class _Message(LooseModel):
    role: str
    content: Content = Field(repr=False)


class _Body(LooseModel):
    model: str
    messages: list[_Message] = Field(min_length=1, repr=False)
    system: Content = Field(default=None, repr=False)
    stream: bool | None = None
    tool_choice: Any = None
    output_config: dict[str, Any] | None = None
    output_format: dict[str, Any] | None = None


def read_message_request(body: bytes, chat_id: str = "") -> tuple[Question, MessageReply]:
    """The question of a request, and the reply to be. Raises ProxyError."""
    asked = read_body(_Body, body)
    if isinstance(asked.tool_choice, dict) and asked.tool_choice.get("type") in ("any", "tool"):
        raise unsupported("tool_choice", "no tool is ever called; leave it out, or send the type `auto`")
    if asked.output_format is not None or (asked.output_config or {}).get("format") is not None:
        raise unsupported("output_format", "answers are text; leave it out")
    question = question_of(
        asked.model, list(_messages(asked)), stream=bool(asked.stream), ignored=_ignored(asked), chat_id=chat_id
    )
    return question, MessageReply(asked.model)


def _messages(asked: _Body) -> Iterator[ClientMessage]:
    if asked.system:
        yield ClientMessage("system", asked.system, "messages[system]")
    for at, each in enumerate(asked.messages):
        yield ClientMessage(each.role, _without_thoughts(each.content), f"messages[{at}]")


def _without_thoughts(content: Content) -> Content:
    return [part for part in content if part.type not in _THOUGHTS] if isinstance(content, list) else content


def _ignored(asked: _Body) -> Iterator[str]:
    yield from ignored_fields(asked.model_extra)
    if asked.tool_choice:
        yield "tool_choice"


@dataclass(frozen=True, slots=True)
class MessageReply:
    """One message; its text is one block."""

    model: str
    id: str = field(default_factory=lambda: f"msg_{secrets.token_urlsafe(12)}")

    def whole(self, text: str, finished: Finished) -> dict[str, Any]:
        ended = {"stop_reason": "end_turn", "usage": _usage_of(finished), "arog": about(finished)}
        return {**self._head(), "content": [{"type": "text", "text": text}], **ended}

    def first(self) -> bytes:
        block = {"type": "text", "text": ""}
        return _event("message_start", message=self._head()) + _event(
            "content_block_start", index=0, content_block=block
        )

    def piece(self, text: str) -> bytes:
        return _event("content_block_delta", index=0, delta={"type": "text_delta", "text": text})

    def last(self, _text: str, finished: Finished) -> bytes:
        ended = {"stop_reason": "end_turn", "stop_sequence": None}
        return (
            _event("content_block_stop", index=0)
            + _event("message_delta", delta=ended, usage=_usage_of(finished), arog=about(finished))
            + _event("message_stop")
        )

    def failure(self, error: ProxyError) -> bytes:
        return event(error.anthropic_body, "error")

    def _head(self) -> dict[str, Any]:
        return {
            "id": self.id, "type": "message", "role": "assistant", "model": self.model, "content": [],
            "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 0, "output_tokens": 0},
        }  # fmt: skip


def _event(name: str, **content: Any) -> bytes:
    return event({"type": name, **content}, name)


def _usage_of(finished: Finished) -> dict[str, int]:
    sent, got = token_counts(finished)
    return {"input_tokens": sent, "output_tokens": got}
