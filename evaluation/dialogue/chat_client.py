"""ChatClient: sends many prompts to an OpenAI-compatible endpoint and counts what that took. For public data only."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from app.llm.endpoint.model_endpoint import CircuitBreaker, ModelEndpoint
from app.llm.endpoint.request_body import Completion, Dialect, Price, checked_tokens, limit_fields, stream_fields
from app.llm.reasoner import ReasonerError

# Sheikhi et al., tables 12 and 13; top-k = 10 has no field in this protocol.
TEMPERATURE: Final = 0.6
TOP_P: Final = 0.95
SEED: Final = 42
MAX_TOKENS: Final = 4_096
DEADLINE_S: Final = 300.0
CONCURRENCY: Final = 8
_THOUGHT_ENDS: Final = "</think>"
_PRICE = re.compile(r"(\d+(?:\.\d+)?)/(\d+(?:\.\d+)?)")
_URL = re.compile(r"https?://[^/\s]+\S*")

Tell = Callable[[int, int], None]


class VendorError(Exception):
    """The options do not name endpoints as they should; the text quotes none of them."""


class EndpointUnusableError(Exception):
    """The endpoint can't be asked at all; the text says why, and quotes nothing of it."""


@dataclass(slots=True)
class ChatUsage:
    """`estimated`: calls whose tokens the endpoint did not count, or counted as no model can."""

    calls: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: int = 0
    price: Price | None = None

    def since(self, before: ChatUsage) -> ChatUsage:
        return ChatUsage(
            self.calls - before.calls,
            self.failed - before.failed,
            self.prompt_tokens - before.prompt_tokens,
            self.completion_tokens - before.completion_tokens,
            self.estimated - before.estimated,
            self.price,
        )

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
            if self._dialect is None:
                found = await endpoint.probe()
                if found.problem:
                    raise EndpointUnusableError(f"the endpoint can't be used: {found.problem}")
                self._dialect = found.dialect
            return list(await asyncio.gather(*map(one, prompts)))
        finally:
            await endpoint.close()

    async def _one(self, endpoint: ModelEndpoint, prompt: str) -> str | None:
        self.usage.calls += 1
        text = ""
        try:
            completion = await endpoint.complete(self._body(prompt))
        except ReasonerError:
            pass
        else:
            self._count(prompt, completion)
            text = completion.content.rpartition(_THOUGHT_ENDS)[2].strip()
            text = "" if completion.finish_reason == "length" else text
        self.usage.failed += not text
        return text or None

    def _body(self, prompt: str) -> bytes:
        dialect = self._dialect or Dialect()
        body = {
            "model": self.model,
            **limit_fields(dialect, TEMPERATURE, SEED, MAX_TOKENS),
            **({"top_p": TOP_P} if dialect.is_plain else {}),
            **stream_fields(dialect),
            "messages": [{"role": "user", "content": prompt}],
        }
        return json.dumps(body, separators=(",", ":")).encode()

    def _count(self, prompt: str, completion: Completion) -> None:
        # Four bytes a token: the usual rule of thumb, where an endpoint counts nothing.
        asked, told = (len(text.encode()) // 4 + 1 for text in (prompt, completion.content))
        tokens = checked_tokens(completion, asked, told, MAX_TOKENS)
        self.usage.prompt_tokens += tokens.prompt
        self.usage.completion_tokens += tokens.completion
        self.usage.estimated += not tokens.by_endpoint


def vendors(
    urls: Sequence[str], models: Sequence[str], prices: Sequence[str] = (), key_variables: Sequence[str] = ()
) -> list[ChatClient]:
    """One client for each URL. Of models one, or one each; of prices and variables none, one, or one each.

    Raises VendorError.
    """
    if not all(_URL.fullmatch(url) for url in urls):
        raise VendorError("--endpoint takes a base URL such as http://host/v1")
    if urls and not models:
        raise VendorError("--endpoint needs --model, once or once for each endpoint")
    given = {"--model": models, "--price": prices, "--key-variable": key_variables}
    for option, each in given.items():
        if len(each) not in (0, 1, len(urls)):
            raise VendorError(f"{option} is given once, or once for each endpoint")
    columns = (each if len(each) > 1 else [*each, ""][:1] * len(urls) for each in given.values())
    return [
        ChatClient(url, model, _key(variable), _price(price))
        for url, model, price, variable in zip(urls, *columns, strict=True)
    ]


def _price(text: str) -> Price | None:
    if not text:
        return None
    if (found := _PRICE.fullmatch(text)) is None:
        raise VendorError("--price is money for a million tokens, as prompt/completion: 0.15/0.60")
    return Price(float(found[1]), float(found[2]))


def _key(variable: str) -> str:
    """A key is named by its variable: a command line can be read by others."""
    if variable and variable not in os.environ:
        raise VendorError("--key-variable names an environment variable that is not set")
    return os.environ.get(variable, "")
