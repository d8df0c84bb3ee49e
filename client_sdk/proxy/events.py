"""Replies that every protocol gives in its own words: their parts, and the bytes of server-sent events."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Protocol

from client_sdk.answers.answer import Answer
from client_sdk.protocol import Usage
from client_sdk.proxy.background import BackgroundTask
from client_sdk.proxy.errors import ProxyError


@dataclass(frozen=True, slots=True)
class Finished:
    """The end of a reply: the answer, or the chore that was done, and what it cost with all that was asked for it."""

    answer: Answer | None
    usage: tuple[Usage, ...] = ()
    task: BackgroundTask | None = None


class Reply(Protocol):
    """One reply in a protocol's words: whole, or as events. `last` is given all text of those before it."""

    def whole(self, text: str, finished: Finished) -> dict[str, Any]: ...

    def first(self) -> bytes: ...

    def piece(self, text: str) -> bytes: ...

    def last(self, text: str, finished: Finished) -> bytes: ...

    def failure(self, error: ProxyError) -> bytes:
        """An error in the midst of a stream, which ends it."""
        ...


def event(content: dict[str, Any], name: str = "") -> bytes:
    named = f"event: {name}\n".encode() if name else b""
    return named + b"data: " + json.dumps(content, ensure_ascii=False).encode("utf-8", "replace") + b"\n\n"


def comment(word: str) -> bytes:
    """A line that keeps a connection open and is read by nobody."""
    return f": {word}\n\n".encode()


def about(finished: Finished) -> dict[str, Any]:
    """Further facts of an answer: `arog ledger --answer ID` shows what the model was sent for it."""
    if finished.task is not None or finished.answer is None:
        return {"background": finished.task.kind if finished.task else None}
    answer = finished.answer
    told = {"answer": answer.id, "answered": answer.answered, "grounded": answer.grounded}
    return told | {"confidence": answer.confidence}


def token_counts(finished: Finished) -> tuple[int, int]:
    """Tokens that the service's model read and wrote."""
    sent = sum(each.prompt_tokens for each in finished.usage)
    return sent, sum(each.completion_tokens for each in finished.usage)
