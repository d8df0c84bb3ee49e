"""OpenAI's chat completions: a request read, and its reply whole or in chunks."""

from __future__ import annotations

import secrets
import time
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
    demands_tool,
    ignored_fields,
    question_of,
    read_body,
    unsupported,
)

DONE: Final = b"data: [DONE]\n\n"
# What would change what the reply is. Everything else that is not read asks for nothing, and is ignored.
_REFUSED: Final[dict[str, str]] = {
    "audio": "answers are text",
    "web_search_options": "nothing is looked up on the web",
}


class _Message(LooseModel):
    role: str
    content: Content = Field(default=None, repr=False)
    tool_calls: list[Any] | None = None
    function_call: Any = None


class _StreamOptions(LooseModel):
    include_usage: bool | None = None


class _Body(LooseModel):
    model: str
    messages: list[_Message] = Field(min_length=1, repr=False)
    stream: bool | None = None
    stream_options: _StreamOptions | None = None
    n: int | None = None
    response_format: dict[str, Any] | None = None
    modalities: list[str] | None = None
    tool_choice: Any = None
    function_call: Any = None


def read_chat_completion(body: bytes, chat_id: str = "") -> tuple[Question, ChatCompletion]:
    """The question of a request, and the reply to be. Raises ProxyError."""
    asked = read_body(_Body, body)
    _refuse(asked)
    messages = [
        ClientMessage(each.role, each.content, f"messages[{at}]", bool(each.tool_calls or each.function_call))
        for at, each in enumerate(asked.messages)
    ]
    question = question_of(asked.model, messages, stream=bool(asked.stream), ignored=_ignored(asked), chat_id=chat_id)
    with_usage = bool(asked.stream_options and asked.stream_options.include_usage)
    return question, ChatCompletion(asked.model, with_usage)


def _refuse(asked: _Body) -> None:
    for name, why in _REFUSED.items():
        if (asked.model_extra or {}).get(name) not in (None, False, 0, "", [], {}):
            raise unsupported(name, why)
    if asked.n not in (None, 1):
        raise unsupported("n", "there is one answer to a question")
    if asked.response_format is not None and asked.response_format.get("type") != "text":
        raise unsupported("response_format", "answers are text; leave it out")
    if asked.modalities not in (None, [], ["text"]):
        raise unsupported("modalities", "answers are text")
    for name, value in (("tool_choice", asked.tool_choice), ("function_call", asked.function_call)):
        if demands_tool(value):
            raise unsupported(name, "no tool is ever called; leave it out, or send `auto`")


def _ignored(asked: _Body) -> Iterator[str]:
    yield from ignored_fields(asked.model_extra)
    if asked.tool_choice == "auto" or isinstance(asked.tool_choice, dict):
        yield "tool_choice"


@dataclass(frozen=True, slots=True)
class ChatCompletion:
    """One reply; its chunks have one id and time."""

    model: str
    with_usage: bool = False
    id: str = field(default_factory=lambda: f"chatcmpl-{secrets.token_urlsafe(12)}")
    created: int = field(default_factory=lambda: int(time.time()))

    def whole(self, text: str, finished: Finished) -> dict[str, Any]:
        message = {"role": "assistant", "content": text, "refusal": None}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
        return {
            **self._head("chat.completion"),
            "choices": [choice],
            "usage": _usage_of(finished),
            "arog": about(finished),
        }

    def first(self) -> bytes:
        return self._chunk({"role": "assistant", "content": ""})

    def piece(self, text: str) -> bytes:
        return self._chunk({"content": text})

    def last(self, _text: str, finished: Finished) -> bytes:
        """The chunk that ends the text, that of the usage where it is wanted, and the end of the stream."""
        ended = self._chunk({}, "stop", arog=about(finished))
        if not self.with_usage:
            return ended + DONE
        usage = {**self._head("chat.completion.chunk"), "choices": [], "usage": _usage_of(finished)}
        return ended + event(usage) + DONE

    def failure(self, error: ProxyError) -> bytes:
        return event(error.openai_body)

    def _chunk(self, delta: dict[str, str], finish: str | None = None, **more: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        usage = {"usage": None} if self.with_usage else {}
        return event({**self._head("chat.completion.chunk"), "choices": [choice], **usage, **more})

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model}


def _usage_of(finished: Finished) -> dict[str, int]:
    sent, got = token_counts(finished)
    return {"prompt_tokens": sent, "completion_tokens": got, "total_tokens": sent + got}
