"""Responses to OpenAI's clients: a completion, its chunks, the list of models."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from client_sdk.answers.answer import Answer
from client_sdk.protocol import Usage
from client_sdk.proxy.errors import ProxyError
from client_sdk.proxy.requests import DEFAULT, STRATEGIES, Wanted

DONE: Final = b"data: [DONE]\n\n"


@dataclass(frozen=True, slots=True)
class Spoken:
    """The end of an answer: the answer, and what it cost with all that was asked for it."""

    answer: Answer
    usage: tuple[Usage, ...]


@dataclass(frozen=True, slots=True)
class Completion:
    """One reply; its chunks have one id and time."""

    wanted: Wanted
    id: str = field(default_factory=lambda: f"chatcmpl-{secrets.token_urlsafe(12)}")
    created: int = field(default_factory=lambda: int(time.time()))

    def whole(self, text: str, spoken: Spoken) -> dict[str, Any]:
        message = {"role": "assistant", "content": text, "refusal": None}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
        told = {"usage": usage_of(spoken.usage), "arog": about(spoken.answer)}
        return {**self._head("chat.completion"), "choices": [choice], **told}

    def first(self) -> bytes:
        return self._chunk({"role": "assistant", "content": ""})

    def text(self, piece: str) -> bytes:
        return self._chunk({"content": piece})

    def last(self, spoken: Spoken) -> bytes:
        """The chunk that ends the text, that of the usage where it is wanted, and the end of the stream."""
        ended = self._chunk({}, "stop", arog=about(spoken.answer))
        if not self.wanted.include_usage:
            return ended + DONE
        usage = {**self._head("chat.completion.chunk"), "choices": [], "usage": usage_of(spoken.usage)}
        return ended + event(usage) + DONE

    def _chunk(self, delta: dict[str, str], finish: str | None = None, **more: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        usage = {"usage": None} if self.wanted.include_usage else {}
        return event({**self._head("chat.completion.chunk"), "choices": [choice], **usage, **more})

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": self.id, "object": kind, "created": self.created, "model": self.wanted.model}


def event(content: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(content, ensure_ascii=False).encode("utf-8", "replace") + b"\n\n"


def comment(word: str) -> bytes:
    """A line that keeps a connection open and is read by nobody."""
    return f": {word}\n\n".encode()


def failure(error: ProxyError) -> bytes:
    """An error in the midst of a stream ends it."""
    return event(error.body)


def about(answer: Answer) -> dict[str, Any]:
    """Further facts of an answer: `arog ledger --answer ID` shows what the model was sent for it."""
    return {"answer": answer.id, "answered": answer.answered, "grounded": answer.grounded}


def usage_of(usages: Iterable[Usage]) -> dict[str, int]:
    usages = tuple(usages)
    sent = sum(each.prompt_tokens for each in usages)
    got = sum(each.completion_tokens for each in usages)
    return {"prompt_tokens": sent, "completion_tokens": got, "total_tokens": sent + got}


def model_ids(graphs: Iterable[str], strategies: Iterable[str]) -> list[str]:
    """One model for each graph and strategy; the default strategy needs no word."""
    offered = [name for name in STRATEGIES if name in set(strategies)]
    return [graph if name == DEFAULT else f"{graph}:{name}" for graph in graphs for name in offered]


def model(id: str, since: int) -> dict[str, Any]:
    return {"id": id, "object": "model", "created": since, "owned_by": "arog"}
