"""Routes for admins about graphs and the jobs that change them.

Graphs are loaded, previewed, listed, reported on and deleted; concepts are renamed, things erased, cases approved.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Final, TypeVar

from fastapi import Path as InPath
from fastapi import Query
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from app.api.layers import is_upload
from app.api.problems import BadRequestError
from app.api.routes.routers import NOT_ADMITTED, NOT_FOUND, GraphName, admin_router, described
from app.api.state import CallerOf, ServicesOf
from app.api.uploads import UPLOAD_SCHEMA, Upload, receive_upload
from app.graphs.admin import ENDINGS
from app.graphs.concept_refinement import ConceptRefiner
from app.graphs.erasure.plan import ErasureRequest
from app.graphs.jobs import JobControl
from app.settings import ConfigurationError
from app.wiring.services import Services
from client_sdk.protocol import (
    MAX_PUBLIC_KEY_CHARS,
    PUBLIC_KEY_FORM,
    CaseChoice,
    CaseList,
    CasesChanged,
    ForgetChoice,
    ForgetPlan,
    ForgetThing,
    GraphList,
    GraphPolicy,
    GraphPreview,
    GraphReport,
    GraphVersions,
    JobStatus,
    PolicyChanges,
    RefineConcepts,
    RefineEstimate,
    RollbackGraph,
)

JobId = Annotated[str, InPath(max_length=64)]
Body = TypeVar("Body", bound=BaseModel)
_LOAD_BODY: Final = {
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
_FILES: Final = {"requestBody": {"required": True, "content": {"multipart/form-data": UPLOAD_SCHEMA}}}
_JOB_ERRORS: Final = NOT_FOUND | described({409: "not_waiting: the job is not waiting for approval"})
_FORGET_ERRORS: Final = NOT_FOUND | described({409: "ambiguous_name: choose one of the plan's; or graph_busy"})
_ROLLBACK_ERRORS: Final = NOT_FOUND | described({409: "graph_busy", 422: "rollback_failed: no such version is kept"})
_BESIDE_ERRORS: Final = NOT_FOUND | described({422: "not_public: a graph whose files are not all public"})
_PREVIEW_ERRORS: Final = NOT_ADMITTED | described(
    {409: "preview_busy: another preview of this tenant is being made, or too many of others"}
)


class LoadByPath(BaseModel):
    """The JSON body that loads a graph from files on the server's own disk."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    path: str = Field(min_length=1, max_length=1000)
    ontology: str | None = Field(default=None, min_length=1, max_length=1000)
    policy: str | None = Field(default=None, max_length=1_000_000)


@admin_router.post("/graphs/{name}", status_code=202, openapi_extra=_LOAD_BODY)
async def load_graph(
    request: Request, name: GraphName, caller: CallerOf, services: ServicesOf, hold: bool = False
) -> JobStatus:
    """Loads a graph, or a new version of it, in the background; GET /admin/jobs/{id} tells its progress.

    With `hold` the new version waits at most ten minutes for POST /admin/jobs/{id}/live before it replaces the old
    one.
    """
    gate = JobControl(holds=hold)
    if is_upload(request.scope):
        upload = await _received(request, services)
        return await run_in_threadpool(_start_upload, services, caller.tenant, name, upload, gate)
    if request.headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
        raise BadRequestError("The body is neither multipart/form-data nor JSON.", "Set the header Content-Type.")
    wanted = _parsed(LoadByPath, await request.body(), "body")
    paths = [wanted.path] + ([wanted.ontology] if wanted.ontology else [])
    sources = [_allowed(path, services.store.settings.allowed_load_dir) for path in paths]
    load = services.graphs.load(caller.tenant, name, sources, wanted.policy, gate.wait)
    return await run_in_threadpool(services.jobs.start, caller.tenant, name, load.run, gate=gate)


@admin_router.post("/preview", responses=_PREVIEW_ERRORS, openapi_extra=_FILES)
async def preview_files(
    request: Request,
    caller: CallerOf,
    services: ServicesOf,
    sample: Annotated[int, Query(ge=0, le=100, description="how many entities to show")] = 10,
    public_key: Annotated[str | None, Query(max_length=MAX_PUBLIC_KEY_CHARS, description=PUBLIC_KEY_FORM)] = None,
) -> GraphPreview:
    """Shows what a model would see of files under a policy. Nothing is loaded, kept or sent; the files are deleted.

    The sample's names are sealed to `public_key`; without one the reply has no names. If the body has a part `changes`
    (PolicyChanges), the given or proposed policy is changed so first. The reply contains the policy that was used.
    """
    await run_in_threadpool(services.store.devices.admit, caller, public_key)
    if not is_upload(request.scope):
        raise BadRequestError("The body is not multipart/form-data.", "Send the files as parts named `file`.")
    upload = await _received(request, services)
    return await run_in_threadpool(_preview, services, caller.tenant, upload, sample, public_key)


@admin_router.get("/graphs")
def list_graphs(caller: CallerOf, services: ServicesOf) -> GraphList:
    """Lists the graphs of the tenant, with their counts."""
    return GraphList(graphs=services.graphs.summaries(caller.tenant))


@admin_router.delete("/graphs/{name}", status_code=204, responses=NOT_FOUND)
def delete_graph(name: GraphName, caller: CallerOf, services: ServicesOf) -> None:
    """Deletes a graph, all its versions and its conversations."""
    with services.jobs.no_job_on(caller.tenant, name):
        services.graphs.delete(caller.tenant, name)


@admin_router.put("/graphs/{name}/beside/{public}", status_code=204, responses=_BESIDE_ERRORS)
def put_graph_beside(name: GraphName, public: GraphName, caller: CallerOf, services: ServicesOf) -> None:
    """Puts a public graph beside another one, for everybody who may ask that one."""
    services.graphs.put_beside(caller.tenant, name, public)


@admin_router.delete("/graphs/{name}/beside/{public}", status_code=204, responses=NOT_FOUND)
def take_graph_from_beside(name: GraphName, public: GraphName, caller: CallerOf, services: ServicesOf) -> None:
    """Ends what PUT began: the public graph stands beside the other one no more."""
    services.graphs.take_from_beside(caller.tenant, name, public)


@admin_router.get("/graphs/{name}/versions", responses=NOT_FOUND)
def list_versions(name: GraphName, caller: CallerOf, services: ServicesOf) -> GraphVersions:
    """Lists the versions of a graph: the live one, and those that are kept and can be made live again."""
    return services.graphs.versions(caller.tenant, name)


@admin_router.post("/graphs/{name}/rollback", status_code=202, responses=_ROLLBACK_ERRORS)
def roll_back_graph(
    name: GraphName, caller: CallerOf, services: ServicesOf, wanted: RollbackGraph | None = None
) -> JobStatus:
    """Starts a job that makes a kept version of a graph live; without a body, the one loaded before the live one.

    Questions in flight finish on the version that they began with, and the version that was live is kept. The job's
    notes tell what is gained and lost.
    """
    plan = services.graphs.rollback(caller.tenant, name, None if wanted is None else wanted.version)
    return services.jobs.start(caller.tenant, name, plan.run)


@admin_router.get("/graphs/{name}/policy", responses=NOT_FOUND)
def get_policy(name: GraphName, caller: CallerOf, services: ServicesOf) -> GraphPolicy:
    """Returns the policy of a graph's current version, as TOML, and the roles that keys may be granted."""
    return services.graphs.policy(caller.tenant, name)


@admin_router.get("/graphs/{name}/report", responses=NOT_FOUND)
def report_graph(
    name: GraphName, caller: CallerOf, services: ServicesOf, k: Annotated[int | None, Query(ge=2, le=100_000)] = None
) -> GraphReport:
    """Reports how well prompts about a graph hide the entities they are about, and which names the guard lets pass.

    The report warns where a prompt fits fewer than `k` entities; without `k` the service's own threshold applies.
    """
    return services.graphs.report(caller.tenant, name, k)


@admin_router.get("/graphs/{name}/concepts/refine", responses=NOT_FOUND)
def estimate_refining(
    name: GraphName, caller: CallerOf, services: ServicesOf, least: Annotated[int, Query(ge=2)] = 20
) -> RefineEstimate:
    """Returns the number of calls, and the most they can cost, if the model endpoint renamed a graph's concepts.

    Only concepts that at least `least` entities share would be renamed. Nothing is sent.
    """
    return _refiner_of(services).estimate(caller.tenant, name, least)


@admin_router.post("/graphs/{name}/concepts/refine", status_code=202, responses=NOT_FOUND)
async def refine_concepts(
    name: GraphName, wanted: RefineConcepts, caller: CallerOf, services: ServicesOf
) -> JobStatus:
    """Lets the model endpoint rename concepts, in the background, in a new version of the graph."""
    loop = asyncio.get_running_loop()
    job = await run_in_threadpool(
        _refiner_of(services).job,
        caller.tenant,
        caller.key_id,
        name,
        wanted.least,
        lambda asking: asyncio.run_coroutine_threadsafe(asking, loop).result(),
    )
    return await run_in_threadpool(services.jobs.start, caller.tenant, name, job.run)


@admin_router.post("/graphs/{name}/forget/plan", responses=NOT_FOUND)
def plan_forgetting(name: GraphName, wanted: ForgetThing, caller: CallerOf, services: ServicesOf) -> ForgetPlan:
    """Counts what an erasure would remove; nothing is changed.

    If several things have the name, it lists them without names.
    """
    choices = services.forgetter.choices(caller.tenant, name, wanted.name)
    if len(choices) > 1 and wanted.choice is None:
        told = [ForgetChoice(id=each.id, concept=each.concept, relations=list(each.relations)) for each in choices]
        return ForgetPlan(choices=told)
    plan = services.forgetter.plan(caller.tenant, name, _erasure_of(wanted))
    return ForgetPlan(choices=[], sentences=plan.sentences())


@admin_router.post("/graphs/{name}/forget", status_code=202, responses=_FORGET_ERRORS)
def forget_thing(name: GraphName, wanted: ForgetThing, caller: CallerOf, services: ServicesOf) -> JobStatus:
    """Starts a job that erases a thing from a graph and everything that is kept about it.

    The job's notes tell what was deleted and which traces the scan still found.
    """
    job = services.forgetter.job(caller.tenant, name, _erasure_of(wanted))
    return services.jobs.start(caller.tenant, name, job.run)


@admin_router.get("/graphs/{name}/cases", responses=NOT_ADMITTED | NOT_FOUND)
def list_cases(
    name: GraphName,
    caller: CallerOf,
    services: ServicesOf,
    public_key: Annotated[str | None, Query(max_length=MAX_PUBLIC_KEY_CHARS, description=PUBLIC_KEY_FORM)] = None,
) -> CaseList:
    """Lists what the service has learnt from ratings of a graph's answers (its cases), and how it affected answers.

    A case holds the words of a question without its names, and the path of relations that leads to the right answer.
    With `public_key` each has up to three sample answers, whose names are sealed to it.
    """
    services.store.devices.admit(caller, public_key)
    return services.cases.listed(caller.tenant, name, public_key, caller)


@admin_router.post("/graphs/{name}/cases/approve", responses=NOT_FOUND)
def approve_cases(name: GraphName, wanted: CaseChoice, caller: CallerOf, services: ServicesOf) -> CasesChanged:
    """Lets cases count for every key that may ask the graph and whose role sees their relations."""
    return services.cases.approve(caller.tenant, name, wanted)


@admin_router.post("/graphs/{name}/cases/forget", responses=NOT_FOUND)
def forget_cases(name: GraphName, wanted: CaseChoice, caller: CallerOf, services: ServicesOf) -> CasesChanged:
    """Deletes cases, so that later questions do not use them."""
    return services.cases.forget(caller.tenant, name, wanted)


@admin_router.get("/jobs/{job_id}", responses=NOT_FOUND)
def get_job(job_id: str, caller: CallerOf, services: ServicesOf) -> JobStatus:
    """Returns the progress of a job, or its outcome."""
    return services.jobs.status(caller.tenant, job_id)


@admin_router.post("/jobs/{job_id}/live", responses=_JOB_ERRORS)
def approve_job(job_id: JobId, caller: CallerOf, services: ServicesOf) -> JobStatus:
    """Lets the new version of a load that was started with `hold` replace the old one."""
    return services.jobs.approve(caller.tenant, job_id)


@admin_router.delete("/jobs/{job_id}", responses=NOT_FOUND)
def stop_job(job_id: JobId, caller: CallerOf, services: ServicesOf) -> JobStatus:
    """Stops a job at its next step, without a change to the graph. A job that has ended stays as it is."""
    return services.jobs.stop(caller.tenant, job_id)


async def _received(request: Request, services: Services) -> Upload:
    return await receive_upload(request.stream(), request.headers["content-type"], services.store.incoming, ENDINGS)


def _start_upload(services: Services, tenant: str, name: str, upload: Upload, gate: JobControl) -> JobStatus:
    try:
        sources = [*upload.files, *upload.ontologies]
        load = services.graphs.load(tenant, name, sources, upload.policy, gate.wait, is_recorded=True)
    except BaseException:
        upload.delete()
        raise
    return services.jobs.start(tenant, name, load.run, upload.delete, gate)


def _preview(services: Services, tenant: str, upload: Upload, sample: int, public_key: str | None) -> GraphPreview:
    try:
        sources = [*upload.files, *upload.ontologies]
        changes = None if upload.changes is None else _parsed(PolicyChanges, upload.changes, "changes")
        return services.graphs.previewer.preview(tenant, sources, upload.policy, sample, public_key, changes)
    finally:
        upload.delete()


def _parsed(kind: type[Body], text: str | bytes, place: str) -> Body:
    """Parses JSON that FastAPI does not read itself. Raises RequestValidationError, as FastAPI would."""
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        places = [{**found, "loc": (place, *found["loc"])} for found in error.errors(include_input=False)]
        raise RequestValidationError(places) from None


def _allowed(path: str, folder: Path | None) -> Path:
    """Returns the real path of a file within `folder`, after following links.

    Raises BadRequestError if there is no such file, or no folder is set.
    """
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


def _refiner_of(services: Services) -> ConceptRefiner:
    try:
        return services.refiner
    except ConfigurationError:
        raise BadRequestError(
            "Renaming concepts needs a model endpoint, and none is set up.", "Have AROG_REASONER=endpoint set."
        ) from None


def _erasure_of(wanted: ForgetThing) -> ErasureRequest:
    return ErasureRequest(wanted.name, wanted.choice, tuple(wanted.with_kinds), wanted.with_mentions)
