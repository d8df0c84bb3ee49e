"""Jobs: how far they are, approving a load, stopping one."""

from __future__ import annotations

from starlette.concurrency import run_in_threadpool

from app.api.auth import CallerOf, ServicesOf
from app.api.routes.descriptions import _CONFLICT, NOT_FOUND, JobId
from app.api.routes.routers import admin_router, owner_router
from client_sdk.protocol import JobStatus


@admin_router.get("/jobs/{job_id}", response_model=JobStatus, responses=NOT_FOUND)
async def get_job(job_id: str, caller: CallerOf, services: ServicesOf) -> JobStatus:
    """Shows the progress of a load, or its end."""
    return await run_in_threadpool(services.jobs.status, caller.tenant, job_id)


@owner_router.post("/jobs/{job_id}/live", response_model=JobStatus, responses=_CONFLICT)
async def approve_job(job_id: JobId, caller: CallerOf, services: ServicesOf) -> JobStatus:
    """Lets the version of a load that was asked to hold take its place."""
    return await run_in_threadpool(services.jobs.approve, caller.tenant, job_id)


@owner_router.delete("/jobs/{job_id}", response_model=JobStatus, responses=_CONFLICT)
async def stop_job(job_id: JobId, caller: CallerOf, services: ServicesOf) -> JobStatus:
    """Stops a job at its next step; the graph stays as it was. One that has ended stays so."""
    return await run_in_threadpool(services.jobs.stop, caller.tenant, job_id)
