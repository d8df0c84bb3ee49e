"""The routes of admins: graphs loaded, listed and deleted, jobs watched, keys made and ended."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi import Path as InPath
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from app.access import Caller, NotPermitted
from app.api.auth import AdminRoute, CallerOf, ServicesOf
from app.api.limits import is_upload
from app.api.routes import ERRORS
from app.api.uploads import UPLOAD_SCHEMA, Upload, receive_upload
from app.endpoint_wiring import probe_all, status_of
from app.forgetting import Forgetter, Wish
from app.graph_admin import ENDINGS
from app.job_gate import JobGate
from app.problems import BadRequest
from app.refining import ConceptRefiner
from app.settings import SettingsProblem
from app.wiring import Services
from client_sdk.protocol import (
    EndpointList,
    ErrorBody,
    ForgetChoice,
    ForgetPlan,
    ForgetThing,
    GraphList,
    GraphReport,
    JobStatus,
    KeyCreated,
    NewKey,
    RefineConcepts,
    RefineEstimate,
    TokenBudget,
)

GRAPH_NAME = r"^[a-z0-9][a-z0-9_-]{0,62}$"
GraphName = Annotated[str, InPath(pattern=GRAPH_NAME)]
NOT_FOUND: dict[int | str, dict[str, Any]] = {404: {"model": ErrorBody, "description": "nothing of that id here"}}
_AMBIGUOUS: dict[int | str, dict[str, Any]] = {
    **NOT_FOUND,
    409: {"model": ErrorBody, "description": "ambiguous_name: choose one of the plan's; or graph_busy"},
}
_LOAD_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": UPLOAD_SCHEMA,
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["path"],
                    "additionalProperties": False,
                    "properties": {
                        "path": {"type": "string", "description": "a file within AROG_ALLOWED_LOAD_DIR"},
                        "ontology": {"type": "string", "description": "another such file"},
                        "policy": {"type": "string", "description": "TOML; the proposed policy by default"},
                    },
                },
                "example": {"path": "clinic.ttl"},
            },
        },
    }
}


class LoadByPath(BaseModel):
    """The JSON body of a load from the server's own disk."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    path: str = Field(min_length=1, max_length=1000)
    ontology: str | None = Field(default=None, min_length=1, max_length=1000)
    policy: str | None = Field(default=None, max_length=1_000_000)


administering = APIRouter(prefix="/admin", route_class=AdminRoute, responses={
    **ERRORS, 403: {"model": ErrorBody, "description": "not_permitted: it takes a key of the role admin"},
})  # fmt: skip


@administering.post("/graphs/{name}", status_code=202, response_model=JobStatus, openapi_extra=_LOAD_BODY)
async def load_graph(
    request: Request, name: GraphName, caller: CallerOf, services: ServicesOf, hold: bool = False
) -> JobStatus:
    """Loads a graph, or a new version of it, in the background; GET /admin/jobs/{id} tells how far it is.

    With `hold` it waits, at most ten minutes, for POST /admin/jobs/{id}/live before the version takes its place.
    """
    gate = JobGate(holds=hold)
    if is_upload(request.scope):
        content_type = request.headers["content-type"]
        upload = await receive_upload(request.stream(), content_type, services.store.incoming, ENDINGS)
        return await run_in_threadpool(_start_upload, services, caller.tenant, name, upload, gate)
    wanted = await _read_body(request)
    paths = [wanted.path] + ([wanted.ontology] if wanted.ontology else [])
    sources = [_allowed(path, services.store.settings.allowed_load_dir) for path in paths]
    work = services.graphs.loading(caller.tenant, name, sources, wanted.policy, gate.wait)
    return await run_in_threadpool(services.jobs.start, caller.tenant, name, work, lambda: None, gate)


@administering.get("/graphs", response_model=GraphList)
async def list_graphs(caller: CallerOf, services: ServicesOf) -> GraphList:
    """Every graph of the tenant, with its counts."""
    return GraphList(graphs=await run_in_threadpool(services.graphs.summaries, caller.tenant))


@administering.delete("/graphs/{name}", status_code=204, responses=NOT_FOUND)
async def delete_graph(name: GraphName, caller: CallerOf, services: ServicesOf) -> None:
    """Deletes a graph, all its versions and its conversations."""
    services.jobs.refuse_while_loading(caller.tenant, name)
    await run_in_threadpool(services.graphs.delete, caller.tenant, name)


@administering.get("/graphs/{name}/report", response_model=GraphReport, responses=NOT_FOUND)
async def report_graph(
    name: GraphName, caller: CallerOf, services: ServicesOf, k: Annotated[int | None, Query(ge=2, le=100_000)] = None
) -> GraphReport:
    """How well prompts about a graph hide whom they show, and which names the guard lets pass."""
    return await run_in_threadpool(services.graphs.report, caller.tenant, name, k)


@administering.get("/graphs/{name}/concepts/refine", response_model=RefineEstimate, responses=NOT_FOUND)
async def estimate_refining(
    name: GraphName, caller: CallerOf, services: ServicesOf, least: Annotated[int, Query(ge=2)] = 20
) -> RefineEstimate:
    """What naming concepts anew by the model endpoint would ask about, and cost at most; nothing is sent."""
    return await run_in_threadpool(_refiner_of(services).estimate, caller.tenant, name, least)


@administering.post("/graphs/{name}/concepts/refine", status_code=202, response_model=JobStatus, responses=NOT_FOUND)
async def refine_concepts(
    name: GraphName, wanted: RefineConcepts, caller: CallerOf, services: ServicesOf
) -> JobStatus:
    """Has the model endpoint name concepts anew, in the background; a new version of the graph carries them."""
    loop = asyncio.get_running_loop()
    work = await run_in_threadpool(
        _refiner_of(services).refining,
        caller.tenant,
        caller.key_id,
        name,
        wanted.least,
        lambda asking: asyncio.run_coroutine_threadsafe(asking, loop).result(),
    )
    return await run_in_threadpool(services.jobs.start, caller.tenant, name, work, lambda: None)


@administering.post("/graphs/{name}/forget/plan", response_model=ForgetPlan, responses=NOT_FOUND)
async def plan_forgetting(name: GraphName, wanted: ForgetThing, caller: CallerOf, services: ServicesOf) -> ForgetPlan:
    """What forgetting would take out, in counts; nothing is changed. Names of a choice are not told here."""
    return await run_in_threadpool(_plan, services.forgetter, caller.tenant, name, wanted)


@administering.post("/graphs/{name}/forget", status_code=202, response_model=JobStatus, responses=_AMBIGUOUS)
async def forget_thing(name: GraphName, wanted: ForgetThing, caller: CallerOf, services: ServicesOf) -> JobStatus:
    """Takes a thing out of a graph and all that is kept of it, in the background; the job's notes tell the scan."""
    work = await run_in_threadpool(services.forgetter.forgetting, caller.tenant, name, _wish(wanted))
    return await run_in_threadpool(services.jobs.start, caller.tenant, name, work, lambda: None)


@administering.get("/jobs/{job_id}", response_model=JobStatus, responses=NOT_FOUND)
async def get_job(job_id: str, caller: CallerOf, services: ServicesOf) -> JobStatus:
    """How far a load is, or how it ended."""
    return await run_in_threadpool(services.jobs.status, caller.tenant, job_id)


@administering.post("/keys", status_code=201, response_model=KeyCreated)
async def create_key(wanted: NewKey, caller: CallerOf, services: ServicesOf) -> KeyCreated:
    """Makes a key. It is shown this once. Only the operator's key may make keys for another tenant."""
    if wanted.tenant != caller.tenant and not caller.is_operator:
        raise NotPermitted
    create = partial(services.store.access.create, wanted.tenant, wanted.role, wanted.grants, wanted.days)
    issued = await run_in_threadpool(create)
    return KeyCreated(
        key_id=issued.key_id, key=issued.key, tenant=wanted.tenant, grants=wanted.grants, role=wanted.role
    )


@administering.delete("/keys/{key_id}", status_code=204, responses=NOT_FOUND)
async def revoke_key(
    key_id: str, caller: CallerOf, services: ServicesOf, tenant: Annotated[str | None, Query(max_length=63)] = None
) -> None:
    """Ends a key at once. The operator may name another tenant."""
    if tenant not in (None, caller.tenant) and not caller.is_operator:
        raise NotPermitted
    await run_in_threadpool(services.store.access.revoke, tenant or caller.tenant, key_id)


@administering.get("/budget", response_model=TokenBudget)
async def tell_budget(
    caller: CallerOf, services: ServicesOf, tenant: Annotated[str | None, Query(max_length=63)] = None
) -> TokenBudget:
    """Tokens that the tenant has taken today, and may. The operator may name another tenant."""
    if tenant not in (None, caller.tenant) and not caller.is_operator:
        raise NotPermitted
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
        raise NotPermitted
    endpoints = enumerate(services.thinking.endpoints, start=1)
    return EndpointList(endpoints=[status_of(position, each, with_model=True) for position, each in endpoints])


def _plan(forgetter: Forgetter, tenant: str, graph: str, wanted: ForgetThing) -> ForgetPlan:
    choices = forgetter.choices(tenant, graph, wanted.name)
    if len(choices) > 1 and wanted.choice is None:
        told = [ForgetChoice(id=each.id, concept=each.concept, relations=list(each.relations)) for each in choices]
        return ForgetPlan(choices=told)
    return ForgetPlan(choices=[], sentences=forgetter.plan(tenant, graph, _wish(wanted)).sentences())


def _wish(wanted: ForgetThing) -> Wish:
    return Wish(wanted.name, wanted.choice, tuple(wanted.with_kinds), wanted.with_mentions)


def _refiner_of(services: Services) -> ConceptRefiner:
    try:
        return services.refiner
    except SettingsProblem:
        raise BadRequest(
            "Concepts are named anew by a model endpoint, and none is set up here.", "Have AROG_REASONER=endpoint set."
        ) from None


def _start_upload(services: Services, tenant: str, name: str, upload: Upload, gate: JobGate) -> JobStatus:
    try:
        work = services.graphs.loading(tenant, name, [*upload.files, *upload.ontologies], upload.policy, gate.wait)
    except BaseException:
        upload.delete()
        raise
    return services.jobs.start(tenant, name, work, upload.delete, gate)


async def _read_body(request: Request) -> LoadByPath:
    if request.headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
        raise BadRequest("The body is neither multipart/form-data nor JSON.", "Set the header Content-Type.")
    try:
        return LoadByPath.model_validate_json(await request.body())
    except ValidationError as error:
        places = [{**found, "loc": ("body", *found["loc"])} for found in error.errors(include_input=False)]
        raise RequestValidationError(places) from None


def _allowed(path: str, folder: Path | None) -> Path:
    """The real file that `path` means, if it lies within `folder`, links followed. Raises BadRequest."""
    if folder is None:
        raise BadRequest(
            "Loading from a path is not set up here.", "Upload the file, or have AROG_ALLOWED_LOAD_DIR set."
        )
    root = folder.resolve()
    try:
        file = (root / path).resolve()
        inside = file.is_relative_to(root) and file.is_file()
    except (OSError, ValueError):
        inside = False
    if not inside:
        raise BadRequest(
            "There is no such file within the allowed folder.", "Give a path within AROG_ALLOWED_LOAD_DIR."
        )
    return file
