"""Completion: what an endpoint gives back for one body, its counts of tokens checked; and who takes bodies."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Protocol

from app.llm.endpoint.request_body import RequestTemplate
from app.llm.reasoner import Tokens


@dataclass(frozen=True, slots=True)
class Completion:
    """An endpoint's reply to one body. Token counts are None where it reports none, and any number else.

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
        """The template of its bodies; it changes when the endpoint has been probed."""
        ...

    @property
    def price(self) -> Price | None: ...

    @property
    def is_ready(self) -> bool:
        """False while it rests after failing again and again."""
        ...

    async def complete(self, body: bytes, tenant: str = "") -> Completion:
        """Sends exactly `body`, when it is the turn of `tenant`.

        Raises ReasonerUnavailableError, ReasonerRefusedError, ReplyUnusableError.
        """
        ...


MAX_TIMES_OURS: Final = 2
"""Tokenisers differ: of JSON and English one may make so many times the tokens of another."""

MAX_FRAME_TOKENS: Final = 256
"""The most that a chat template and a schema in another form may add to a prompt."""


def checked_tokens(completion: Completion, prompt_tokens: int, written_tokens: int, max_tokens: int) -> Tokens:
    """The endpoint's counts where both can be right, else ours; retries and price are the caller's to add.

    `prompt_tokens` and `written_tokens` are counted by us, `max_tokens` is what the request asked for at most.
    Promise: neither count is below zero; the prompt's is at most MAX_TIMES_OURS times ours and MAX_FRAME_TOKENS, the
    reply's at most `max_tokens`, whatever the endpoint says. Limit: counts that are too low, but not below zero, are
    believed.
    """
    prompt, written = completion.prompt_tokens, completion.completion_tokens
    most = prompt_tokens * MAX_TIMES_OURS + MAX_FRAME_TOKENS
    is_odd = completion.has_odd_usage or not (_is_within(prompt, most) and _is_within(written, max_tokens))
    if prompt is None or written is None or is_odd:
        return Tokens(prompt_tokens, min(written_tokens, max_tokens), odd_counts=int(is_odd))
    return Tokens(prompt, written, by_endpoint=True)


def _is_within(reported: int | None, most: int) -> bool:
    """None is not odd: many endpoints report nothing."""
    return reported is None or 0 <= reported <= most
