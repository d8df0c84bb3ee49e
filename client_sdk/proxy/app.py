"""The proxy's ASGI application: a question in the words of three protocols, models, and errors in their shapes."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

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
from client_sdk.proxy.chat_completions import read_chat_completion
from client_sdk.proxy.errors import ProxyError, bad_request, error_for, internal, unknown_model
from client_sdk.proxy.events import Reply
from client_sdk.proxy.messages import read_message_request
from client_sdk.proxy.questions import Question
from client_sdk.proxy.responses import ResponseHistory, read_response_request
from client_sdk.proxy.sessions import Sessions, Upstream
from client_sdk.proxy.streaming import HUNG_UP, ReplyStream, joined
from client_sdk.transport.hang_up import while_connected

PATHS: Final = (
    "POST /v1/chat/completions", "POST /v1/responses", "POST /v1/messages", "GET /v1/models", "GET /healthz",
)  # fmt: skip
MAX_BODY_BYTES: Final = 8 * 1024 * 1024
# Clients that can tell one chat from another with the same turns; LibreChat's and others' headers can be set.
_CHAT_ID_HEADERS: Final = ("x-arog-chat", "x-openwebui-chat-id")
_PERSON_HEADERS: Final = ("x-arog-person", "x-openwebui-user-id")
_IGNORED: Final = "x-arog-ignored"


def create_app(
    upstream: Upstream, entry: AccessDecision, *, evidence: bool = False, http: httpx2.AsyncClient | None = None
) -> ASGIApp:
    """`evidence`: answers end with the path that led to them. `http` may be a client of one's own."""
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
            app.state.sessions, app.state.since = Sessions(upstream, client, evidence=evidence), int(time.time())
            app.state.history = ResponseHistory()
            yield

    return lifespan


async def _complete_chat(request: Request) -> Response:
    return await _answer(request, *read_chat_completion(await _body(request), _chat_id(request)))


async def _respond(request: Request) -> Response:
    history: ResponseHistory = request.app.state.history
    return await _answer(request, *read_response_request(await _body(request), _chat_id(request), history))


async def _send_message(request: Request) -> Response:
    return await _answer(request, *read_message_request(await _body(request), _chat_id(request)))


async def _answer(request: Request, question: Question, reply: Reply) -> Response:
    """The one path of all protocols to the service."""
    question = replace(question, person=_told_in(request, _PERSON_HEADERS))
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
    sessions: Sessions = request.app.state.sessions
    return JSONResponse(_list_of(await sessions.models(), request.app.state.since))


async def _tell_model(request: Request) -> Response:
    sessions: Sessions = request.app.state.sessions
    if request.path_params["id"] not in await sessions.models():
        raise unknown_model()
    return JSONResponse(_model_of(request.path_params["id"], request.app.state.since))


async def _tell_health(_request: Request) -> Response:
    return JSONResponse({"status": "ok"})


def _list_of(ids: list[str], since: int) -> dict[str, Any]:
    ends = {"first_id": ids[0] if ids else None, "last_id": ids[-1] if ids else None}
    return {"object": "list", "data": [_model_of(id, since) for id in ids], "has_more": False, **ends}


def _model_of(id: str, since: int) -> dict[str, Any]:
    """A model as OpenAI's clients read it, and as Anthropic's do: their fields don't meet."""
    born = datetime.fromtimestamp(since, UTC).isoformat()
    anthropic = {"type": "model", "display_name": id, "created_at": born}
    return {"id": id, "object": "model", "created": since, "owned_by": "arog", **anthropic}


def _chat_id(request: Request) -> str:
    return _told_in(request, _CHAT_ID_HEADERS)


def _told_in(request: Request, headers: Sequence[str]) -> str:
    return next((request.headers[name] for name in headers if name in request.headers), "")


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


async def _as_told(request: Request, error: Exception) -> Response:
    assert isinstance(error, ProxyError)
    return as_reply(error, request.scope)


async def _as_mapped(request: Request, error: Exception) -> Response:
    assert isinstance(error, ArogError)
    return as_reply(error_for(error), request.scope)


async def _as_unknown(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    sentence = f"this proxy has {', '.join(PATHS)}, and nothing else"
    told = bad_request(sentence, code="not_found" if error.status_code == 404 else "bad_method")
    told.status = error.status_code
    return as_reply(told, request.scope, error.headers)


async def _as_internal(request: Request, _error: Exception) -> Response:
    """The framework raises it again, and ErrorMiddleware tells where it came from."""
    return as_reply(internal(), request.scope)
