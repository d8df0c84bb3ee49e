"""POST /admin/graphs/{graph}/concepts: better names for concepts, and what they would cost."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import Query
from starlette.concurrency import run_in_threadpool

from app.api.auth import CallerOf, ServicesOf
from app.api.problems import BadRequestError
from app.api.routes.descriptions import NOT_FOUND, GraphName
from app.api.routes.routers import admin_router
from app.graphs.concept_refinement import ConceptRefiner
from app.settings import ConfigurationError
from app.wiring.services import Services
from client_sdk.protocol import JobStatus, RefineConcepts, RefineEstimate


@admin_router.get("/graphs/{name}/concepts/refine", response_model=RefineEstimate, responses=NOT_FOUND)
async def estimate_refining(
    name: GraphName, caller: CallerOf, services: ServicesOf, least: Annotated[int, Query(ge=2)] = 20
) -> RefineEstimate:
    """Estimates what renaming concepts by the model endpoint would ask and cost at most; nothing is sent."""
    return await run_in_threadpool(_refiner_of(services).estimate, caller.tenant, name, least)


@admin_router.post("/graphs/{name}/concepts/refine", status_code=202, response_model=JobStatus, responses=NOT_FOUND)
async def refine_concepts(
    name: GraphName, wanted: RefineConcepts, caller: CallerOf, services: ServicesOf
) -> JobStatus:
    """Has the model endpoint name concepts anew, in the background; a new version of the graph carries them."""
    loop = asyncio.get_running_loop()
    job = await run_in_threadpool(
        _refiner_of(services).job,
        caller.tenant,
        caller.key_id,
        name,
        wanted.least,
        lambda asking: asyncio.run_coroutine_threadsafe(asking, loop).result(),
    )
    return await run_in_threadpool(services.jobs.start, caller.tenant, name, job.run, lambda: None)


def _refiner_of(services: Services) -> ConceptRefiner:
    try:
        return services.refiner
    except ConfigurationError:
        raise BadRequestError(
            "Renaming concepts needs a model endpoint, and none is set up.", "Have AROG_REASONER=endpoint set."
        ) from None
