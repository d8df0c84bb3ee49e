"""Health, readiness, metrics, budgets and endpoints."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from app.accounts.api_keys import Caller, NotPermittedError
from app.api.auth import CallerOf, ServicesOf
from app.api.routes.routers import administering, watching
from app.telemetry.metrics import CONTENT_TYPE, Metrics
from app.wiring.endpoints import probe_all, status_of
from app.wiring.services import Services
from client_sdk.protocol import EndpointList, Readiness, TokenBudget


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


@administering.get("/budget", response_model=TokenBudget)
async def tell_budget(
    caller: CallerOf, services: ServicesOf, tenant: Annotated[str | None, Query(max_length=63)] = None
) -> TokenBudget:
    """Tokens that the tenant has taken today, and may. The operator may name another tenant."""
    if tenant not in (None, caller.tenant) and not caller.is_operator:
        raise NotPermittedError
    return await run_in_threadpool(services.store.budget_of, tenant or caller.tenant)


@administering.get("/endpoints", response_model=EndpointList)
async def list_endpoints(caller: CallerOf, services: ServicesOf) -> EndpointList:
    """The model endpoints in the order in which they are asked. For the operator's key alone."""
    return _endpoints_for(caller, services)


@administering.post("/endpoints/probe", response_model=EndpointList)
async def probe_endpoints(caller: CallerOf, services: ServicesOf) -> EndpointList:
    """Finds out anew what each endpoint can do. For the operator's key alone."""
    _endpoints_for(caller, services)
    await probe_all(services.thinking.endpoints)
    return _endpoints_for(caller, services)


def _endpoints_for(caller: Caller, services: Services) -> EndpointList:
    if not caller.is_operator:
        raise NotPermittedError
    endpoints = enumerate(services.thinking.endpoints, start=1)
    return EndpointList(endpoints=[status_of(position, each, with_model=True) for position, each in endpoints])
