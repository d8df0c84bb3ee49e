"""What an endpoint gives back for one body, and the interface of what takes bodies."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from app.llm.endpoint.request_body import RequestTemplate


@dataclass(frozen=True, slots=True)
class Completion:
    """What an endpoint gave back for one body. Token counts are None where it reports none, and any number else.

    `has_odd_usage`: it reported something as a count that is no whole number. `retries` are the requests that failed
    before this one.
    """

    content: str
    finish_reason: str
    prompt_tokens: int | None
    completion_tokens: int | None
    retries: int = 0
    has_odd_usage: bool = False
    is_streamed: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Price:
    """Money for a million tokens, in the currency of the settings."""

    prompt: float
    completion: float

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1_000_000


class CompletesChats(Protocol):
    """An endpoint that takes the body of a chat completion as bytes."""

    @property
    def wording(self) -> RequestTemplate:
        """How its bodies are written; it changes when the endpoint has been probed."""
        ...

    @property
    def price(self) -> Price | None: ...

    @property
    def is_ready(self) -> bool:
        """False while it rests after failing again and again."""
        ...

    async def complete(self, body: bytes, tenant: str = "") -> Completion:
        """Sends exactly `body`, when it is the turn of `tenant`.

        Raises ReasonerUnavailable, ReasonerRefused, ReplyUnusable.
        """
        ...
