"""The routes of those who ask: questions, graphs, ledger, traces, devices; and health, readiness and metrics."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from app.access import Caller, NotPermitted, require_grant
from app.api.auth import AuthenticatedRoute, CallerOf, ServicesOf
from app.api.pacing import Pace
from app.api.streaming import AnswerStream, while_connected
from app.metrics import CONTENT_TYPE, Metrics
from app.problems import BadRequest
from app.stopwatch import OnStage, tell_nobody
from client_sdk.protocol import (
    MAX_PUBLIC_KEY_CHARS,
    PUBLIC_KEY_FORM,
    ChatAnswer,
    ChatRequest,
    Device,
    DeviceList,
    ErrorBody,
    GraphNames,
    LedgerPage,
    NewDevice,
    Readiness,
    SealedTrace,
)

CHAT_EXAMPLES: dict[str, Any] = {
    "first": {
        "summary": "A first question; without a public key the answer stays in pseudonyms",
        "value": {
            "graph": "clinic",
            "messages": [{"role": "user", "content": "How many patients lie on the ward of Nurse Ida Holm?"}],
        },
    },
    "follow_up": {
        "summary": "A follow-up: the assistant's turn goes back as the service sent it",
        "value": {
            "graph": "clinic",
            "conversation": "q3hX0b1v8RkW2nTz5mYc7dLs",
            "messages": [
                {"role": "user", "content": "Who is the doctor of Nora Lindqvist?"},
                {"role": "assistant", "content": "It is Eq7f2k."},
                {"role": "user", "content": "Which other patients has he?"},
            ],
            "strategy": "sets",
            "options": {"width": 3, "depth": 3},
            "public_key": "hSDwCYkwp1R0i33ctD73Wg2_Og0mOBr066SpjqqbTmo",
        },
    },
}
ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorBody, "description": words}
    for status, words in {
        400: "bad_request: the request can't be read, for it is not UTF-8",
        401: "not_authenticated: no valid API key",
        413: "too_large: the body is over its limit",
        422: "bad_request: a field is missing or not allowed",
        429: "rate_limited: see the header Retry-After",
        500: "internal; or blocked: the guard stopped the request",
        503: "not_ready: see /readyz",
    }.items()
}
NOT_ADMITTED: dict[str, Any] = {
    "model": ErrorBody, "description": "device_not_admitted: the public key was revoked, or is not registered"
}  # fmt: skip
CHAT_ERRORS: dict[int | str, dict[str, Any]] = {
    403: NOT_ADMITTED,
    404: {"model": ErrorBody, "description": "unknown_graph (not there, or no grant) or unknown_conversation"},
    409: {"model": ErrorBody, "description": "conversation_busy: ask again"},
    502: {"model": ErrorBody, "description": "model_unavailable"},
    504: {"model": ErrorBody, "description": "deadline"},
}
CHAT_EVENTS: dict[str, Any] = {
    "description": "the answer; with `stream`, server-sent events: docs/api.md lists them",
    "content": {
        "text/event-stream": {
            "schema": {
                "type": "object",
                "description": "one event of the stream",
                "required": ["event", "data"],
                "properties": {
                    "event": {"enum": ["stage", "text", "evidence", "usage", "answer", "error"]},
                    "data": {"type": "string", "contentMediaType": "application/json"},
                },
            }
        }
    },
}
TRACE_ERRORS: dict[int | str, dict[str, Any]] = {
    403: NOT_ADMITTED,
    404: {"model": ErrorBody, "description": "unknown_answer: not there, another's, or no right to look into it"},
}

DEVICE_ERRORS: dict[int | str, dict[str, Any]] = {
    403: {"model": ErrorBody, "description": "not_permitted; or device_not_admitted: it was revoked"},
    404: {"model": ErrorBody, "description": "unknown_device or unknown_key"},
    409: {"model": ErrorBody, "description": "too_many_devices"},
}
KeyOf = Annotated[str | None, Query(max_length=32, description="another API key's id, for an admin")]

asking = APIRouter(route_class=AuthenticatedRoute, responses=ERRORS)
watching = APIRouter()


@asking.post(
    "/chat",
    response_model=ChatAnswer,
    responses={200: CHAT_EVENTS, **CHAT_ERRORS},
    openapi_extra={"requestBody": {"content": {"application/json": {"examples": CHAT_EXAMPLES}}}},
)
async def post_chat(
    request: Request, question: ChatRequest, caller: CallerOf, services: ServicesOf
) -> ChatAnswer | Response:
    """Asks a graph the last message. The answer is in pseudonyms; the capsule holds their names for the caller.

    Whoever hangs up before the answer is there ends the work on it.
    """
    require_grant(caller, question.graph)
    await run_in_threadpool(services.store.devices.admit, caller, question.public_key)
    if question.messages[-1].role != "user":
        raise BadRequest("The last of `messages` is not the user's.", "Put the question last, with the role `user`.")

    pace: Pace = request.app.state.pace

    async def answering(on_stage: OnStage) -> ChatAnswer:
        answer = await services.chat.answer(caller, question, on_stage)
        metrics: Metrics = request.app.state.metrics
        metrics.count_answer(question.strategy, answer)
        return pace.told(answer)

    if question.stream:
        return AnswerStream(answering, pace)
    return await while_connected(request, pace.kept(answering(tell_nobody)))


@asking.get("/graphs", response_model=GraphNames)
async def get_graphs(caller: CallerOf, services: ServicesOf) -> GraphNames:
    """The graphs that this key may ask, and the strategies that are offered."""
    names = await run_in_threadpool(services.graphs.names, caller.tenant)
    graphs = [name for name in names if caller.may_ask(name)]
    return GraphNames(graphs=graphs, strategies=services.chat.strategies)


@asking.get("/ledger", response_model=LedgerPage)
async def get_ledger(
    caller: CallerOf,
    services: ServicesOf,
    answer: Annotated[str | None, Query(max_length=64, description="only what one answer sent")] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> LedgerPage:
    """What the model was shown for this key's questions, newest first; an admin sees those of the whole tenant."""
    return await run_in_threadpool(services.store.ledger_page, caller, answer, limit)


@asking.get("/trace/{id}", response_model=SealedTrace, responses=TRACE_ERRORS)
async def get_trace(
    id: Annotated[str, Path(max_length=64, description="an answer's id")],
    caller: CallerOf,
    services: ServicesOf,
    public_key: Annotated[str, Query(max_length=MAX_PUBLIC_KEY_CHARS, description=PUBLIC_KEY_FORM)],
) -> SealedTrace:
    """What the model was sent and said for one answer, with the names, sealed to the caller's key.

    For the key that asked, with the grant `inspect:GRAPH`, and for an admin; to others it is not there.
    """
    await run_in_threadpool(services.store.devices.admit, caller, public_key)
    return await run_in_threadpool(services.tracer.trace, caller, id, public_key)


@asking.get("/devices", response_model=DeviceList, responses=DEVICE_ERRORS)
async def list_devices(caller: CallerOf, services: ServicesOf, key: KeyOf = None) -> DeviceList:
    """The devices of this API key, oldest first, revoked ones too. An admin may name another key of the tenant."""
    return await run_in_threadpool(services.store.devices.of, caller.tenant, _whose(caller, key))


@asking.post("/devices", response_model=Device, responses=DEVICE_ERRORS)
async def register_device(wanted: NewDevice, caller: CallerOf, services: ServicesOf, key: KeyOf = None) -> Device:
    """Registers a public key as a device of this API key; doing so twice is no error.

    Where devices are required, an admin does it, who may name another key of the tenant.
    """
    if services.store.devices.required and not caller.is_admin:
        raise NotPermitted
    register = services.store.devices.register
    return await run_in_threadpool(register, caller.tenant, _whose(caller, key), wanted.public_key)


@asking.delete("/devices/{fingerprint}", response_model=Device, responses=DEVICE_ERRORS)
async def revoke_device(
    fingerprint: Annotated[str, Path(max_length=64)], caller: CallerOf, services: ServicesOf, key: KeyOf = None
) -> Device:
    """Ends a device at once: nothing is sealed to its public key any more. An admin may name another key."""
    return await run_in_threadpool(services.store.devices.revoke, caller.tenant, _whose(caller, key), fingerprint)


def _whose(caller: Caller, key: str | None) -> str:
    if key not in (None, caller.key_id) and not caller.is_admin:
        raise NotPermitted
    return key or caller.key_id


@watching.get("/healthz")
async def get_health() -> dict[str, str]:
    """Says that the process lives."""
    return {"status": "ok"}


@watching.get("/readyz", response_model=Readiness, responses={503: {"model": Readiness}})
async def get_readiness(request: Request) -> JSONResponse:
    """Says what is missing before questions can be asked."""
    told: Readiness = await request.app.state.readiness()
    return JSONResponse(told.model_dump(), 200 if told.ready else 503)


@watching.get("/metrics", response_class=Response)
async def get_metrics(request: Request) -> Response:
    """Counts and durations in Prometheus' text format; no label tells of a tenant, graph or name."""
    metrics: Metrics = request.app.state.metrics
    return Response(metrics.exposition(), media_type=CONTENT_TYPE)
