"""Further routes of admins, those that the page for owners needs: previews, policies, keys, held loads, the ledger."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi import Path as InPath
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import StreamingResponse

from app.access import KeyRecord, NotPermitted
from app.api.admin import NOT_FOUND, GraphName
from app.api.auth import AdminRoute, CallerOf, ServicesOf
from app.api.limits import is_upload
from app.api.routes import ERRORS, NOT_ADMITTED
from app.api.uploads import UPLOAD_SCHEMA, Upload, receive_upload
from app.graph_admin import ENDINGS
from app.problems import BadRequest
from app.wiring import Services
from client_sdk.protocol import (
    MAX_PUBLIC_KEY_CHARS,
    PUBLIC_KEY_FORM,
    ErrorBody,
    GraphPolicy,
    GraphPreview,
    JobStatus,
    KeyList,
    KeyListed,
    LedgerCheck,
)

LINES = "application/x-ndjson"
_FILES = {"requestBody": {"required": True, "content": {"multipart/form-data": UPLOAD_SCHEMA}}}
_CONFLICT: dict[int | str, dict[str, Any]] = {
    **NOT_FOUND, 409: {"model": ErrorBody, "description": "not_waiting: the job waits for nobody's word here"},
}  # fmt: skip
_PREVIEW: dict[int | str, dict[str, Any]] = {
    403: NOT_ADMITTED,
    409: {"model": ErrorBody, "description": "preview_busy: another preview is being made"},
}
_EXPORT: dict[int | str, dict[str, Any]] = {
    200: {"content": {LINES: {"schema": {"type": "string"}}}, "description": "docs/operations.md describes the lines"},
    409: {"model": ErrorBody, "description": "ledger_broken: its end was changed from outside"},
}
JobId = Annotated[str, InPath(max_length=64)]
Cursor = Annotated[str | None, Query(max_length=4_096, description="where the call before stopped")]

owning = APIRouter(prefix="/admin", route_class=AdminRoute, responses={
    **ERRORS, 403: {"model": ErrorBody, "description": "not_permitted: it takes a key of the role admin"},
})  # fmt: skip


@owning.post("/preview", response_model=GraphPreview, responses=_PREVIEW, openapi_extra=_FILES)
async def preview_files(
    request: Request,
    caller: CallerOf,
    services: ServicesOf,
    sample: Annotated[int, Query(ge=0, le=100, description="how many entities to show")] = 10,
    public_key: Annotated[str | None, Query(max_length=MAX_PUBLIC_KEY_CHARS, description=PUBLIC_KEY_FORM)] = None,
) -> GraphPreview:
    """What a model would see of files under a policy. Nothing is loaded, kept or sent; the files are deleted at once.

    Names of the sample come sealed to `public_key`; without it there are none.
    """
    await run_in_threadpool(services.store.devices.admit, caller, public_key)
    if not is_upload(request.scope):
        raise BadRequest("The body is not multipart/form-data.", "Send the files as parts named `file`.")
    upload = await receive_upload(request.stream(), request.headers["content-type"], services.store.incoming, ENDINGS)
    return await run_in_threadpool(_preview, services, upload, sample, public_key)


@owning.get("/graphs/{name}/policy", response_model=GraphPolicy, responses=NOT_FOUND)
async def get_policy(name: GraphName, caller: CallerOf, services: ServicesOf) -> GraphPolicy:
    """The policy of a graph's current version, as TOML, and the roles that keys may be granted."""
    return await run_in_threadpool(services.graphs.policy, caller.tenant, name)


@owning.post("/jobs/{job_id}/live", response_model=JobStatus, responses=_CONFLICT)
async def let_live(job_id: JobId, caller: CallerOf, services: ServicesOf) -> JobStatus:
    """Lets the version of a load that was asked to hold take its place."""
    return await run_in_threadpool(services.jobs.let_through, caller.tenant, job_id)


@owning.delete("/jobs/{job_id}", response_model=JobStatus, responses=_CONFLICT)
async def stop_job(job_id: JobId, caller: CallerOf, services: ServicesOf) -> JobStatus:
    """Stops a job at its next step; the graph stays as it was. One that has ended stays so."""
    return await run_in_threadpool(services.jobs.stop, caller.tenant, job_id)


@owning.get("/keys", response_model=KeyList)
async def list_keys(
    caller: CallerOf, services: ServicesOf, tenant: Annotated[str | None, Query(max_length=63)] = None
) -> KeyList:
    """The tenant's API keys, oldest first, revoked ones too, without their secrets. The operator may name a tenant."""
    if tenant not in (None, caller.tenant) and not caller.is_operator:
        raise NotPermitted
    records = await run_in_threadpool(services.store.access.keys, tenant or caller.tenant)
    return KeyList(tenant=tenant or caller.tenant, own=caller.key_id, keys=[_listed(record) for record in records])


@owning.get("/ledger/check", response_model=LedgerCheck)
async def check_ledger(caller: CallerOf, services: ServicesOf, cursor: Cursor = None) -> LedgerCheck:
    """Checks that no row of the tenant's ledger was changed, deleted, added or moved: at most 5,000 rows a call.

    Where more are left, `cursor` of the reply goes into the next call.
    """
    return await run_in_threadpool(services.store.audit.check, caller.tenant, cursor)


@owning.post("/ledger/export", response_class=StreamingResponse, responses=_EXPORT)
async def export_ledger(caller: CallerOf, services: ServicesOf, payloads: bool = False) -> StreamingResponse:
    """The tenant's ledger as JSON lines, signed as it is now; with `payloads` what was sent and replied."""
    lines: Iterator[str] = await run_in_threadpool(services.store.audit.lines, caller.tenant, payloads)
    return StreamingResponse(lines, media_type=LINES)


def _preview(services: Services, upload: Upload, sample: int, public_key: str | None) -> GraphPreview:
    try:
        sources = [*upload.files, *upload.ontologies]
        return services.graphs.previewer.preview(sources, upload.policy, sample, public_key)
    finally:
        upload.delete()


def _listed(record: KeyRecord) -> KeyListed:
    return KeyListed(
        key_id=record.key_id,
        role=record.role,
        grants=sorted(record.grants),
        created_at=record.created_at,
        expires_at=record.expires_at,
        revoked_at=record.revoked_at,
    )
