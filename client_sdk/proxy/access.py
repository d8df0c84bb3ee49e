"""Access to the proxy: requests of this machine's own programs, with the proxy's key where it has one."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from client_sdk.confidential import tell_failure
from client_sdk.proxy.errors import ProxyError, internal

OPEN_PATHS: Final = frozenset({"/healthz"})


@dataclass(frozen=True, slots=True)
class AccessDecision:
    """The conditions of a request. `hosts` are names by which it may call this machine beside localhost and addresses;
    `origins` are those of pages that may ask from a browser."""

    key: str = field(default="", repr=False)
    hosts: frozenset[str] = frozenset()
    origins: frozenset[str] = frozenset()


class AccessMiddleware:
    """Lets in whoever calls this machine by a known name, from no foreign page, with the key where there is one.

    Promise: a page in the user's browser can't ask, neither across origins nor by a name of its own that it points
    at this machine (DNS rebinding). Condition: browsers send Host and Origin as they are. Not promised: without a
    key any program of any user of this machine may ask.
    """

    def __init__(self, app: ASGIApp, entry: AccessDecision) -> None:
        self._app, self._entry = app, entry

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (refusal := self._refusal(Headers(scope=scope), scope["path"])):
            await as_reply(refusal, scope)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _refusal(self, headers: Headers, path: str) -> ProxyError | None:
        if not is_known_host(headers.get("host", ""), self._entry.hosts):
            sentence = "this machine is not known by that name; --allow-host lets it in"
            return ProxyError(403, sentence, "permission_error", "host_not_allowed")
        if not self._is_own_page(headers):
            sentence = "pages of that origin may not ask; --allow-origin lets one in"
            return ProxyError(403, sentence, "permission_error", "origin_not_allowed")
        if path not in OPEN_PATHS and not self._has_key(headers):
            sentence = "this proxy has a key of its own, and this is not it"
            return ProxyError(401, sentence, "authentication_error", "invalid_api_key")
        return None

    def _is_own_page(self, headers: Headers) -> bool:
        origin = headers.get("origin")
        return origin is None or origin in self._entry.origins

    def _has_key(self, headers: Headers) -> bool:
        if not self._entry.key:
            return True
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        given = bearer.strip() if scheme.lower() == "bearer" else headers.get("x-api-key", "")
        # Digests are of one length, so the time of comparing them tells nothing of the key's.
        return hmac.compare_digest(_digest(given), _digest(self._entry.key))


class ErrorMiddleware:
    """Answers what nobody caught; the server would print its text, which may hold names."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        began = False

        async def sent(message: Message) -> None:
            nonlocal began
            began = began or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, sent)
        except Exception as error:
            if scope["type"] != "http":
                raise
            tell_failure(error, "the proxy")
            if not began:
                await as_reply(internal(), scope)(scope, receive, send)


def is_known_host(host: str, known: Collection[str]) -> bool:
    """True where a Host header names this machine: an address, localhost, or one of `known`. Ports don't matter.

    A page can't come from a bare address unless the server there gave it out, so addresses need no list.
    """
    name = host[1:].partition("]")[0] if host.startswith("[") else host.rpartition(":")[0] or host
    name = name.lower().rstrip(".")
    if name == "localhost" or name in known:
        return True
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def as_reply(error: ProxyError, scope: Scope, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """The error in the shape of the protocol that the request of `scope` speaks."""
    body = error.anthropic_body if speaks_anthropic(scope) else error.openai_body
    return JSONResponse(body, error.status, headers={**error.headers, **(headers or {})})


def speaks_anthropic(scope: Scope) -> bool:
    """Anthropic's clients send their version with every request; models are asked for at the same path as OpenAI's."""
    return scope["path"].startswith("/v1/messages") or "anthropic-version" in Headers(scope=scope)


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()
