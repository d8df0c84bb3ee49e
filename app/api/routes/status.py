"""Health, readiness, metrics, budgets and endpoints."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response

from app.accounts.api_keys import Caller, NotPermittedError
from app.accounts.quotas import read_budget
from app.api.auth import (
    CallerOf,
    ServicesOf,
)
from app.api.routes.routers import admin_router, probe_router
from app.api.state import (
    StateOf,
)
from app.telemetry.metrics import CONTENT_TYPE
from app.wiring.endpoints import probe_all, status_of
from app.wiring.services import Services
from client_sdk.protocol import EndpointList, Readiness, TokenBudget


@probe_router.get("/healthz")
async def get_health() -> dict[str, str]:
    """Says that the process lives."""
    return {"status": "ok"}


@probe_router.get("/readyz", response_model=Readiness, responses={503: {"model": Readiness}})
async def get_readiness(state: StateOf) -> JSONResponse:
    """Says what is missing before questions can be asked."""
    told = await state.readiness()
    return JSONResponse(told.model_dump(), 200 if told.ready else 503)


@probe_router.get("/metrics", response_class=Response)
async def get_metrics(state: StateOf) -> Response:
    """Counts and durations in Prometheus' text format; no label tells of a tenant, graph or name."""
    return Response(state.metrics.exposition(), media_type=CONTENT_TYPE)


@admin_router.get("/budget", response_model=TokenBudget)
async def get_budget(
    caller: CallerOf, services: ServicesOf, tenant: Annotated[str | None, Query(max_length=63)] = None
) -> TokenBudget:
    """Tokens that the tenant has taken today, and may. The operator may name another tenant."""
    if tenant not in (None, caller.tenant) and not caller.is_operator:
        raise NotPermittedError
    return await run_in_threadpool(read_budget, services.store.engine, services.store.budgets, tenant or caller.tenant)


@admin_router.get("/endpoints", response_model=EndpointList)
async def list_endpoints(caller: CallerOf, services: ServicesOf) -> EndpointList:
    """The model endpoints in the order in which they are asked. For the operator's key alone."""
    return _endpoints_for(caller, services)


@admin_router.post("/endpoints/probe", response_model=EndpointList)
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
