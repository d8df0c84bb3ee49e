"""Erasures from a graph: shown first, then done."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool

from app.api.auth import CallerOf, ServicesOf
from app.api.routes.descriptions import _AMBIGUOUS, NOT_FOUND, GraphName
from app.api.routes.routers import admin_router
from app.graphs.erasure import Eraser, ErasureRequest
from client_sdk.protocol import ForgetChoice, ForgetPlan, ForgetThing, JobStatus


@admin_router.post("/graphs/{name}/forget/plan", response_model=ForgetPlan, responses=NOT_FOUND)
async def plan_forgetting(name: GraphName, wanted: ForgetThing, caller: CallerOf, services: ServicesOf) -> ForgetPlan:
    """Counts what an erasure would remove; nothing is changed. Names of a choice are not told here."""
    return await run_in_threadpool(_plan, services.forgetter, caller.tenant, name, wanted)


@admin_router.post("/graphs/{name}/forget", status_code=202, response_model=JobStatus, responses=_AMBIGUOUS)
async def forget_thing(name: GraphName, wanted: ForgetThing, caller: CallerOf, services: ServicesOf) -> JobStatus:
    """Takes a thing out of a graph and all that is kept of it, in the background; the job's notes tell the scan."""
    job = await run_in_threadpool(services.forgetter.job, caller.tenant, name, _wish(wanted))
    return await run_in_threadpool(services.jobs.start, caller.tenant, name, job.run, lambda: None)


def _plan(forgetter: Eraser, tenant: str, graph: str, wanted: ForgetThing) -> ForgetPlan:
    choices = forgetter.choices(tenant, graph, wanted.name)
    if len(choices) > 1 and wanted.choice is None:
        told = [ForgetChoice(id=each.id, concept=each.concept, relations=list(each.relations)) for each in choices]
        return ForgetPlan(choices=told)
    return ForgetPlan(choices=[], sentences=forgetter.plan(tenant, graph, _wish(wanted)).sentences())


def _wish(wanted: ForgetThing) -> ErasureRequest:
    return ErasureRequest(wanted.name, wanted.choice, tuple(wanted.with_kinds), wanted.with_mentions)
