"""The routes of admins: graphs loaded, listed and deleted, jobs watched, keys made and ended."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from fastapi import Query
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from app.api.auth import CallerOf, ServicesOf
from app.api.limits import is_upload
from app.api.problems import BadRequestError
from app.api.routes.descriptions import _LOAD_BODY, NOT_FOUND, GraphName
from app.api.routes.routers import admin_router
from app.api.uploads import Upload, receive_upload
from app.graphs.admin import ENDINGS
from app.graphs.job_control import JobControl
from app.wiring.services import Services
from client_sdk.protocol import GraphList, GraphReport, JobStatus


class LoadByPath(BaseModel):
    """The JSON body of a load from the server's own disk."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    path: str = Field(min_length=1, max_length=1000)
    ontology: str | None = Field(default=None, min_length=1, max_length=1000)
    policy: str | None = Field(default=None, max_length=1_000_000)


@admin_router.post("/graphs/{name}", status_code=202, response_model=JobStatus, openapi_extra=_LOAD_BODY)
async def load_graph(
    request: Request, name: GraphName, caller: CallerOf, services: ServicesOf, hold: bool = False
) -> JobStatus:
    """Loads a graph, or a new version of it, in the background; GET /admin/jobs/{id} tells how far it is.

    With `hold` it waits, at most ten minutes, for POST /admin/jobs/{id}/live before the version takes its place.
    """
    gate = JobControl(holds=hold)
    if is_upload(request.scope):
        content_type = request.headers["content-type"]
        upload = await receive_upload(request.stream(), content_type, services.store.incoming, ENDINGS)
        return await run_in_threadpool(_start_upload, services, caller.tenant, name, upload, gate)
    wanted = await _read_body(request)
    paths = [wanted.path] + ([wanted.ontology] if wanted.ontology else [])
    sources = [_allowed(path, services.store.settings.allowed_load_dir) for path in paths]
    load = services.graphs.load(caller.tenant, name, sources, wanted.policy, gate.wait)
    return await run_in_threadpool(services.jobs.start, caller.tenant, name, load.run, lambda: None, gate)


@admin_router.get("/graphs", response_model=GraphList)
async def list_graphs(caller: CallerOf, services: ServicesOf) -> GraphList:
    """Every graph of the tenant, with its counts."""
    return GraphList(graphs=await run_in_threadpool(services.graphs.summaries, caller.tenant))


@admin_router.delete("/graphs/{name}", status_code=204, responses=NOT_FOUND)
async def delete_graph(name: GraphName, caller: CallerOf, services: ServicesOf) -> None:
    """Deletes a graph, all its versions and its conversations."""
    services.jobs.refuse_while_loading(caller.tenant, name)
    await run_in_threadpool(services.graphs.delete, caller.tenant, name)


@admin_router.get("/graphs/{name}/report", response_model=GraphReport, responses=NOT_FOUND)
async def report_graph(
    name: GraphName, caller: CallerOf, services: ServicesOf, k: Annotated[int | None, Query(ge=2, le=100_000)] = None
) -> GraphReport:
    """Reports how well prompts about a graph hide whom they show, and which names the guard lets pass."""
    return await run_in_threadpool(services.graphs.report, caller.tenant, name, k)


def _start_upload(services: Services, tenant: str, name: str, upload: Upload, gate: JobControl) -> JobStatus:
    try:
        sources = [*upload.files, *upload.ontologies]
        load = services.graphs.load(tenant, name, sources, upload.policy, gate.wait, is_recorded=True)
    except BaseException:
        upload.delete()
        raise
    return services.jobs.start(tenant, name, load.run, upload.delete, gate)


async def _read_body(request: Request) -> LoadByPath:
    if request.headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
        raise BadRequestError("The body is neither multipart/form-data nor JSON.", "Set the header Content-Type.")
    try:
        return LoadByPath.model_validate_json(await request.body())
    except ValidationError as error:
        places = [{**found, "loc": ("body", *found["loc"])} for found in error.errors(include_input=False)]
        raise RequestValidationError(places) from None


def _allowed(path: str, folder: Path | None) -> Path:
    """The real file that `path` means, if it lies within `folder`, links followed. Raises BadRequestError."""
    if folder is None:
        raise BadRequestError(
            "Loading from a path is not set up here.", "Upload the file, or have AROG_ALLOWED_LOAD_DIR set."
        )
    root = folder.resolve()
    try:
        file = (root / path).resolve()
        inside = file.is_relative_to(root) and file.is_file()
    except (OSError, ValueError):
        inside = False
    if not inside:
        raise BadRequestError(
            "There is no such file within the allowed folder.", "Give a path within AROG_ALLOWED_LOAD_DIR."
        )
    return file
