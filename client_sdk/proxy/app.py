"""The proxy's HTTP application and server: access control, routes of three protocols, models, and errors.

Requests come from programs of this machine, with the proxy's key if it has one.
"""

from __future__ import annotations

import asyncio
import errno
import hashlib
import hmac
import ipaddress
import socket
import sys
import time
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, Final

import httpx2
import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from client_sdk.crypto.key_file import forbid_core_dumps
from client_sdk.errors import ArogError, NotConfiguredError, tell_failure
from client_sdk.proxy.errors import ProxyError, bad_request, error_for, internal, unknown_model
from client_sdk.proxy.protocols import (
    Reply,
    ResponseHistory,
    read_chat_completion,
    read_message_request,
    read_response_request,
)
from client_sdk.proxy.questions import Question
from client_sdk.proxy.sessions import HUNG_UP, ReplyStream, Sessions, Upstream, joined
from client_sdk.transport.hang_up import while_connected

PATHS: Final = "POST /v1/chat/completions, POST /v1/responses, POST /v1/messages, GET /v1/models, GET /healthz"
MAX_BODY_BYTES: Final = 8 * 1024 * 1024
# Headers that tell apart chats with the same turns: Open WebUI's, and one that other clients can be set to send.
_CHAT_ID_HEADERS: Final = ("x-arog-chat", "x-openwebui-chat-id")
_PERSON_HEADERS: Final = ("x-arog-person", "x-openwebui-user-id")
_IGNORED: Final = "x-arog-ignored"
_SHUTDOWN_S: Final = 5


@dataclass(frozen=True, slots=True)
class AccessDecision:
    """The conditions on which a request is let in.

    `key`: the proxy's own key, "" for none. `hosts`: names by which a request may call this machine, beside localhost
    and addresses. `origins`: origins of web pages that may ask from a browser.
    """

    key: str = field(default="", repr=False)
    hosts: frozenset[str] = frozenset()
    origins: frozenset[str] = frozenset()


class AccessMiddleware:
    """Lets a request in if it calls a known host name, comes from no foreign page, and has the key if one is set.

    Promise: a page in the user's browser can't ask, neither across origins nor by a name of its own that it points at
    this machine (DNS rebinding). Condition: browsers send Host and Origin unchanged. Not promised: without a key any
    program of any user of this machine may ask.
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
        if headers.get("origin") not in (None, *self._entry.origins):
            sentence = "pages of that origin may not ask; --allow-origin lets one in"
            return ProxyError(403, sentence, "permission_error", "origin_not_allowed")
        if path != "/healthz" and not self._has_key(headers):
            sentence = "this proxy has a key of its own, and this is not it"
            return ProxyError(401, sentence, "authentication_error", "invalid_api_key")
        return None

    def _has_key(self, headers: Headers) -> bool:
        if not self._entry.key:
            return True
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        given = bearer.strip() if scheme.lower() == "bearer" else headers.get("x-api-key", "")
        # Digests have one length, so the time to compare them reveals nothing about the key's length.
        return hmac.compare_digest(_digest(given), _digest(self._entry.key))


class ErrorMiddleware:
    """Replies to uncaught errors, whose text the server would print although it may contain names."""

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
    """True if a Host header names this machine: an IP address, localhost, or one of `known`. The port is ignored.

    Addresses need no list, because a page has a bare address as its origin only if the server there sent it.
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
    """Returns the error as a reply in the protocol of the request of `scope`."""
    # Both protocols list models at the same path, but Anthropic's clients send a version with every request.
    is_anthropic = scope["path"].startswith("/v1/messages") or "anthropic-version" in Headers(scope=scope)
    body = error.anthropic_body if is_anthropic else error.openai_body
    return JSONResponse(body, error.status, headers={**error.headers, **(headers or {})})


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()


def create_app(
    upstream: Upstream, entry: AccessDecision, *, evidence: bool = False, http: httpx2.AsyncClient | None = None
) -> ASGIApp:
    """Returns the proxy's application. `evidence`: answers end with the path that led to them.

    `http` may be your own client.
    """

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with http or httpx2.AsyncClient() as client:
            app.state.sessions, app.state.since = Sessions(upstream, client, evidence=evidence), int(time.time())
            app.state.history = ResponseHistory()
            yield

    app = Starlette(
        routes=[
            Route("/v1/chat/completions", _complete_chat, methods=["POST"]),
            Route("/v1/responses", _respond, methods=["POST"]),
            Route("/v1/messages", _send_message, methods=["POST"]),
            Route("/v1/messages/count_tokens", _refuse_to_count, methods=["POST"]),
            Route("/v1/models", _list_models, methods=["GET"]),
            Route("/v1/models/{id:path}", _tell_model, methods=["GET"]),
            Route("/healthz", _tell_health, methods=["GET"]),
        ],
        exception_handlers=dict.fromkeys((ProxyError, ArogError, HTTPException, Exception), _tell_error),
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    framed: ASGIApp = AccessMiddleware(app, entry)
    if entry.origins:
        framed = CORSMiddleware(
            framed, sorted(entry.origins), ["GET", "POST"], allow_headers=["*"], expose_headers=[_IGNORED]
        )
    return ErrorMiddleware(framed)


async def _complete_chat(request: Request) -> Response:
    return await _answer(request, *read_chat_completion(await _body(request)))


async def _respond(request: Request) -> Response:
    history: ResponseHistory = request.app.state.history
    return await _answer(request, *read_response_request(await _body(request), history))


async def _send_message(request: Request) -> Response:
    return await _answer(request, *read_message_request(await _body(request)))


async def _answer(request: Request, question: Question, reply: Reply) -> Response:
    """Asks the service, and replies in the request's protocol; all protocols come through here."""
    chat_id, person = _told_in(request, _CHAT_ID_HEADERS), _told_in(request, _PERSON_HEADERS)
    question = replace(question, chat_id=chat_id, person=person)
    sessions: Sessions = request.app.state.sessions
    headers = {_IGNORED: ", ".join(dict.fromkeys(question.ignored))} if question.ignored else {}
    if question.stream:
        return ReplyStream(reply, sessions.talk(question), headers)
    done = await while_connected(request.receive, joined(sessions.talk(question)))
    return JSONResponse(reply.whole(*done), headers=headers) if done else Response(status_code=HUNG_UP)


async def _refuse_to_count(_request: Request) -> Response:
    sentence = "tokens are not counted before a question is asked; each reply says in `usage` what it took"
    raise ProxyError(404, sentence, "invalid_request_error", "not_counted")


async def _list_models(request: Request) -> Response:
    ids, since = await request.app.state.sessions.models(), request.app.state.since
    ends = {"first_id": ids[0] if ids else None, "last_id": ids[-1] if ids else None}
    models = [_model_of(id, since) for id in ids]
    return JSONResponse({"object": "list", "data": models, "has_more": False, **ends})


async def _tell_model(request: Request) -> Response:
    id = request.path_params["id"]
    if id not in await request.app.state.sessions.models():
        raise unknown_model()
    return JSONResponse(_model_of(id, request.app.state.since))


async def _tell_health(_request: Request) -> Response:
    return JSONResponse({"status": "ok"})


def _model_of(id: str, since: int) -> dict[str, Any]:
    """Returns a model in the fields of both OpenAI's and Anthropic's protocol, which do not collide."""
    born = datetime.fromtimestamp(since, UTC).isoformat()
    anthropic = {"type": "model", "display_name": id, "created_at": born}
    return {"id": id, "object": "model", "created": since, "owned_by": "arog", **anthropic}


def _told_in(request: Request, headers: Sequence[str]) -> str:
    return next((request.headers[name] for name in headers if name in request.headers), "")


async def _body(request: Request) -> bytes:
    """Returns the request's body. Raises ProxyError if it is too long, or its type is not JSON.

    The type matters because a page of another origin can send any other type without asking the server first.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise ProxyError(415, "the body's Content-Type is not application/json", "invalid_request_error", "bad_type")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise ProxyError(
                413, f"the body is longer than {MAX_BODY_BYTES} bytes", "invalid_request_error", "too_large"
            )
    return bytes(body)


async def _tell_error(request: Request, error: Exception) -> Response:
    match error:
        case ProxyError():
            return as_reply(error, request.scope)
        case ArogError():
            return as_reply(error_for(error), request.scope)
        case HTTPException():
            code = "not_found" if error.status_code == 404 else "bad_method"
            told = bad_request(f"this proxy has {PATHS}, and nothing else", code=code)
            told.status = error.status_code
            return as_reply(told, request.scope, error.headers)
    # Starlette raises the error again after this reply, and ErrorMiddleware prints where it came from.
    return as_reply(internal(), request.scope)


def serve(upstream: Upstream, entry: AccessDecision, host: str, port: int, *, evidence: bool = False) -> None:
    """Runs the proxy until a signal comes.

    Raises NotConfiguredError if it can't listen at `host` and `port`, or would let in other machines without a key.
    """
    if not is_loopback(host) and not entry.key:
        hint = "set AROG_PROXY_KEY to a long random text, and give that to clients as their API key"
        raise NotConfiguredError(f"on {host} other machines could ask", code="no_proxy_key", hint=hint)
    listening = _listen(host, port)
    forbid_core_dumps()
    for line in _welcome(upstream, entry, host, listening.getsockname()[1]):
        print(line, file=sys.stderr, flush=True)
    # The server's own log would contain paths and errors, so it is turned off.
    config = uvicorn.Config(
        create_app(upstream, entry, evidence=evidence),
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_SHUTDOWN_S,
    )
    uvicorn.Server(config).run(sockets=[listening])


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family)
    except OSError as problem:
        if problem.errno == errno.EADDRINUSE:
            raise NotConfiguredError(f"port {port} is taken", code="port_taken", hint="give another --port") from None
        hint = "give an address of this machine as --host, and a port that you may use as --port"
        raise NotConfiguredError(
            f"nothing can listen on {host}, port {port}", code="no_such_address", hint=hint
        ) from None


def _welcome(upstream: Upstream, entry: AccessDecision, host: str, port: int) -> list[str]:
    """Returns lines that tell where the proxy runs, and which models (graphs that the key may ask) it offers."""
    shown = f"[{host}]" if ":" in host else host
    key = "AROG_PROXY_KEY" if entry.key else "any text"
    lines = [f"The proxy runs at http://{shown}:{port}/v1 (API key of clients: {key}). Ctrl-C ends it."]
    if not is_loopback(host):
        lines.append("Real names travel readable between it and its clients: trust the network in between.")

    async def served() -> list[str]:
        async with httpx2.AsyncClient() as http:
            return await Sessions(upstream, http).models()

    try:
        models = asyncio.run(served())
    except ArogError as problem:
        return [*lines, f"The service can't be used yet: {problem} ({problem.hint})."]
    return [*lines, f"Models: {', '.join(models)}" if models else "There is no graph that this API key may ask."]
