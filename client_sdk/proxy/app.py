"""The proxy's ASGI application: chat completions, models, and errors in OpenAI's shape."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Final

import httpx2
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from client_sdk.errors import ArogError
from client_sdk.proxy.access import AccessDecision, AccessMiddleware, ErrorMiddleware, as_reply
from client_sdk.proxy.errors import ProxyError, bad_request, error_for, internal, unknown_model
from client_sdk.proxy.requests import read_question
from client_sdk.proxy.responses import Completion, model
from client_sdk.proxy.sessions import Sessions, Upstream
from client_sdk.proxy.streaming import HUNG_UP, CompletionStream, joined, while_connected

MAX_BODY_BYTES: Final = 8 * 1024 * 1024
# Clients that can tell one chat from another with the same turns; LibreChat's and others' headers can be set.
_CHAT_ID_HEADERS: Final = ("x-arog-chat", "x-openwebui-chat-id")
_IGNORED: Final = "x-arog-ignored"


def create_app(
    upstream: Upstream, entry: AccessDecision, *, evidence: bool = False, http: httpx2.AsyncClient | None = None
) -> ASGIApp:
    """`evidence`: answers end with the path that led to them. `http` may be a client of one's own."""
    app = Starlette(
        routes=[
            Route("/v1/chat/completions", _complete, methods=["POST"]),
            Route("/v1/models", _list_models, methods=["GET"]),
            Route("/v1/models/{id:path}", _tell_model, methods=["GET"]),
            Route("/healthz", _tell_health, methods=["GET"]),
        ],
        exception_handlers={
            ProxyError: _as_told,
            ArogError: _as_mapped,
            HTTPException: _as_unknown,
            Exception: _as_internal,
        },
        lifespan=_lifespan(upstream, evidence, http),
    )
    app.router.redirect_slashes = False
    framed: ASGIApp = AccessMiddleware(app, entry)
    if entry.origins:
        framed = CORSMiddleware(
            framed, sorted(entry.origins), ["GET", "POST"], allow_headers=["*"], expose_headers=[_IGNORED]
        )
    return ErrorMiddleware(framed)


def _lifespan(
    upstream: Upstream, evidence: bool, http: httpx2.AsyncClient | None
) -> Callable[[Starlette], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with http or httpx2.AsyncClient() as client:
            app.state.talks, app.state.since = Sessions(upstream, client, evidence=evidence), int(time.time())
            yield

    return lifespan


async def _complete(request: Request) -> Response:
    chat_id = next((request.headers[name] for name in _CHAT_ID_HEADERS if name in request.headers), "")
    wanted = read_question(await _body(request), chat_id)
    talks: Sessions = request.app.state.talks
    completion, told = Completion(wanted), {_IGNORED: ", ".join(wanted.ignored)} if wanted.ignored else {}
    if wanted.stream:
        return CompletionStream(completion, talks.talk(wanted), told)
    done = await while_connected(request, joined(talks.talk(wanted)))
    return JSONResponse(completion.whole(*done), headers=told) if done else Response(status_code=HUNG_UP)


async def _list_models(request: Request) -> Response:
    talks: Sessions = request.app.state.talks
    listed = [model(id, request.app.state.since) for id in await talks.models()]
    return JSONResponse({"object": "list", "data": listed})


async def _tell_model(request: Request) -> Response:
    talks: Sessions = request.app.state.talks
    if request.path_params["id"] not in await talks.models():
        raise unknown_model()
    return JSONResponse(model(request.path_params["id"], request.app.state.since))


async def _tell_health(_request: Request) -> Response:
    return JSONResponse({"status": "ok"})


async def _body(request: Request) -> bytes:
    """Raises ProxyError. A page of another origin can send any type but this one unasked."""
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


async def _as_told(_request: Request, error: Exception) -> Response:
    assert isinstance(error, ProxyError)
    return as_reply(error)


async def _as_mapped(_request: Request, error: Exception) -> Response:
    assert isinstance(error, ArogError)
    return as_reply(error_for(error))


async def _as_unknown(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    sentence = "this proxy has POST /v1/chat/completions and GET /v1/models, and nothing else"
    told = bad_request(sentence, code="not_found" if error.status_code == 404 else "bad_method")
    told.status = error.status_code
    return as_reply(told, error.headers)


async def _as_internal(_request: Request, _error: Exception) -> Response:
    """The framework raises it again, and ErrorMiddleware tells where it came from."""
    return as_reply(internal())
