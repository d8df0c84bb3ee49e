"""The part of a prompt that an endpoint takes from its prefix cache, against the constant part that it could take."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import httpx2

TIMEOUT_S: Final = 120.0


@dataclass(frozen=True, slots=True)
class CacheShare:
    """Tokens of the second prompt: all of them, those from the cache, and those of the part that never changes."""

    prompt: int
    cached: int
    constant: int

    @property
    def of_constant(self) -> float:
        return self.cached / self.constant if self.constant else 0.0


def cache_share(url: str, bodies: Sequence[bytes]) -> CacheShare:
    """Sends two bodies of different questions one after the other, and reads the second one's usage.

    The constant part is the system message, which both share; its tokens are counted by the endpoint itself, as those
    of a prompt without an input less those of an empty one. Raises httpx2.HTTPError, KeyError.
    """
    first, second = (json.loads(body) for body in bodies)
    shared = second["messages"][0]["content"]
    nothing = _prompt_tokens(url, second | {"messages": _messages("", "")})
    alone = _prompt_tokens(url, second | {"messages": _messages(shared, "")})
    _usage(url, first)
    usage = _usage(url, second)
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
    return CacheShare(usage["prompt_tokens"], cached, alone - nothing)


def _messages(system: str, user: str) -> list[dict[str, str]]:
    return [{"role": "system", "content": system}, {"role": "user", "content": user}]


def _prompt_tokens(url: str, body: dict[str, Any]) -> int:
    return int(_usage(url, body)["prompt_tokens"])


def _usage(url: str, body: dict[str, Any]) -> dict[str, Any]:
    whole = {key: each for key, each in body.items() if key not in ("stream", "stream_options")}
    reply = httpx2.post(f"{url}/chat/completions", json=whole, timeout=TIMEOUT_S)
    reply.raise_for_status()
    usage: dict[str, Any] = reply.json()["usage"]
    return usage
