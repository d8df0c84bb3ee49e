"""ChatClient: sends many prompts to an OpenAI-compatible endpoint and counts what that took. For public data only."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from app.llm.endpoint.dialects import Dialect, limit_fields, stream_fields
from app.llm.endpoint.model_endpoint import ModelEndpoint
from app.llm.endpoint.request_body import Completion, Price, checked_tokens
from app.llm.endpoint.retry import CircuitBreaker
from app.llm.reasoner import ReasonerError

# Sheikhi et al., tables 12 and 13; top-k = 10 has no field in this protocol.
TEMPERATURE: Final = 0.6
TOP_P: Final = 0.95
SEED: Final = 42
MAX_TOKENS: Final = 4_096
DEADLINE_S: Final = 300.0
CONCURRENCY: Final = 8
_THOUGHT_ENDS = "</think>"
_BYTES_A_TOKEN = 4  # the usual rule of thumb, where an endpoint counts nothing

Tell = Callable[[int, int], None]


@dataclass(slots=True)
class ChatUsage:
    """`estimated`: calls whose tokens the endpoint did not count, or counted as no model can."""

    calls: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: int = 0
    price: Price | None = None

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    @property
    def cost(self) -> float | None:
        """In the currency of the price; None without one."""
        return None if self.price is None else self.price.of(self.prompt_tokens, self.completion_tokens)

    @property
    def cost_of_thousand(self) -> float | None:
        """Money for a thousand calls; None without a price, or without a call."""
        cost = self.cost
        return None if cost is None or not self.calls else 1_000 * cost / self.calls


class CompletesPrompts(Protocol):
    """A model that answers prompts, each on its own."""

    @property
    def usage(self) -> ChatUsage: ...

    def complete(self, prompts: Sequence[str], tell: Tell = ...) -> list[str | None]:
        """One reply for each; None where the call failed."""
        ...


class EndpointUnusableError(Exception):
    """The endpoint can't be asked at all; the text says why, and quotes nothing of it."""


@dataclass(slots=True)
class ChatClient:
    """`url` is the endpoint's base URL. A reply that was cut off is a failed call: its last line can't be told."""

    url: str
    model: str
    api_key: str = field(default="", repr=False)
    price: Price | None = None
    deadline_s: float = DEADLINE_S
    usage: ChatUsage = field(init=False)
    _dialect: Dialect | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.usage = ChatUsage(price=self.price)

    def complete(self, prompts: Sequence[str], tell: Tell = lambda _done, _total: None) -> list[str | None]:
        """Raises EndpointUnusableError where the endpoint does not answer a first short request."""
        return asyncio.run(self._all(prompts, tell))

    async def _all(self, prompts: Sequence[str], tell: Tell) -> list[str | None]:
        endpoint = ModelEndpoint(self.url, self.model, self.api_key, self.deadline_s, concurrency=CONCURRENCY)
        # One call that fails must not fail those behind it: each has its own figure.
        endpoint.breaker = CircuitBreaker(threshold=sys.maxsize)
        done = 0

        async def one(prompt: str) -> str | None:
            nonlocal done
            reply = await self._one(endpoint, prompt)
            done += 1
            tell(done, len(prompts))
            return reply

        try:
            self._dialect = self._dialect or await _dialect_of(endpoint)
            return list(await asyncio.gather(*(one(prompt) for prompt in prompts)))
        finally:
            await endpoint.close()

    async def _one(self, endpoint: ModelEndpoint, prompt: str) -> str | None:
        self.usage.calls += 1
        body = _body(self.model, prompt, self._dialect or Dialect())
        try:
            completion = await endpoint.complete(body)
        except ReasonerError:
            self.usage.failed += 1
            return None
        self._count(prompt, completion)
        text = completion.content.rpartition(_THOUGHT_ENDS)[2].strip()
        if not text or completion.finish_reason == "length":
            self.usage.failed += 1
            return None
        return text

    def _count(self, prompt: str, completion: Completion) -> None:
        tokens = checked_tokens(completion, _estimate(prompt), _estimate(completion.content), MAX_TOKENS)
        self.usage.prompt_tokens += tokens.prompt
        self.usage.completion_tokens += tokens.completion
        self.usage.estimated += not tokens.by_endpoint


def _estimate(text: str) -> int:
    return len(text.encode()) // _BYTES_A_TOKEN + 1


async def _dialect_of(endpoint: ModelEndpoint) -> Dialect:
    found = await endpoint.probe()
    if found.problem:
        raise EndpointUnusableError(f"the endpoint can't be used: {found.problem}")
    return found.dialect


def _body(model: str, prompt: str, dialect: Dialect) -> bytes:
    body = {
        "model": model,
        **limit_fields(dialect, TEMPERATURE, SEED, MAX_TOKENS),
        **({"top_p": TOP_P} if dialect.is_plain else {}),
        **stream_fields(dialect),
        "messages": [{"role": "user", "content": prompt}],
    }
    return json.dumps(body, separators=(",", ":")).encode()
