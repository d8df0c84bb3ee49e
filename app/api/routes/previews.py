"""POST /admin/preview: what a model would see of files, before they are loaded."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from app.api.auth import CallerOf, ServicesOf
from app.api.limits import is_upload
from app.api.problems import BadRequestError
from app.api.routes.descriptions import _FILES, _PREVIEW, NOT_FOUND, GraphName
from app.api.routes.routers import owner_router
from app.api.uploads import Upload, receive_upload
from app.graphs.admin import ENDINGS
from app.wiring.services import Services
from client_sdk.protocol import MAX_PUBLIC_KEY_CHARS, PUBLIC_KEY_FORM, GraphPolicy, GraphPreview, PolicyChanges


@owner_router.post("/preview", response_model=GraphPreview, responses=_PREVIEW, openapi_extra=_FILES)
async def preview_files(
    request: Request,
    caller: CallerOf,
    services: ServicesOf,
    sample: Annotated[int, Query(ge=0, le=100, description="how many entities to show")] = 10,
    public_key: Annotated[str | None, Query(max_length=MAX_PUBLIC_KEY_CHARS, description=PUBLIC_KEY_FORM)] = None,
) -> GraphPreview:
    """Shows what a model would see of files under a policy. Nothing is loaded, kept or sent; the files are deleted.

    Names of the sample come sealed to `public_key`; without it there are none. `changes` (PolicyChanges) are made to
    the policy, given or proposed, and the reply has the policy that they yield.
    """
    await run_in_threadpool(services.store.devices.admit, caller, public_key)
    if not is_upload(request.scope):
        raise BadRequestError("The body is not multipart/form-data.", "Send the files as parts named `file`.")
    upload = await receive_upload(request.stream(), request.headers["content-type"], services.store.incoming, ENDINGS)
    return await run_in_threadpool(_preview, services, caller.tenant, upload, sample, public_key)


@owner_router.get("/graphs/{name}/policy", response_model=GraphPolicy, responses=NOT_FOUND)
async def get_policy(name: GraphName, caller: CallerOf, services: ServicesOf) -> GraphPolicy:
    """The policy of a graph's current version, as TOML, and the roles that keys may be granted."""
    return await run_in_threadpool(services.graphs.policy, caller.tenant, name)


def _preview(services: Services, tenant: str, upload: Upload, sample: int, public_key: str | None) -> GraphPreview:
    try:
        sources = [*upload.files, *upload.ontologies]
        changes = _changes(upload.changes)
        return services.graphs.previewer.preview(tenant, sources, upload.policy, sample, public_key, changes)
    finally:
        upload.delete()


def _changes(text: str | None) -> PolicyChanges | None:
    try:
        return None if text is None else PolicyChanges.model_validate_json(text)
    except ValidationError as error:
        places = [{**found, "loc": ("changes", *found["loc"])} for found in error.errors(include_input=False)]
        raise RequestValidationError(places) from None
