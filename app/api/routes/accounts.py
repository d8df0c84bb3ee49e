"""Routes not about one graph: API keys and devices, the ledger, budgets, model endpoints, health and metrics."""

from __future__ import annotations

import datetime as dt
from dataclasses import asdict
from typing import Annotated, Final

from fastapi import Path, Query
from starlette.responses import JSONResponse, Response, StreamingResponse

from app.accounts.api_keys import Caller, NotPermittedError, break_glass
from app.accounts.names_read import read_ledger_page
from app.accounts.quotas import read_budget
from app.api.problems import NoSignInError
from app.api.routes.routers import (
    NOT_ADMITTED,
    NOT_FOUND,
    Errors,
    GraphName,
    admin_router,
    caller_router,
    described,
    probe_router,
)
from app.api.state import CallerOf, ServicesOf, StateOf
from app.telemetry.metrics import CONTENT_TYPE
from app.wiring.administration import access_search_in
from app.wiring.endpoints import probe_all, status_of
from app.wiring.services import Services
from client_sdk.protocol import (
    MAX_PUBLIC_KEY_CHARS,
    PUBLIC_KEY_FORM,
    AccessList,
    BreakGlass,
    Device,
    DeviceList,
    EndpointList,
    ExportForm,
    GlassBroken,
    KeyCreated,
    KeyList,
    KeyListed,
    LedgerCheck,
    LedgerPage,
    NewDevice,
    NewKey,
    ReaderDay,
    ReaderDays,
    Readiness,
    SealedTrace,
    SignIn,
    TokenBudget,
    WhoRead,
)

TenantOf = Annotated[str | None, Query(max_length=63)]
KeyOf = Annotated[str | None, Query(max_length=32, description="another API key's id, for an admin")]
_SIGN_IN_ERRORS: Final = described({404: "no_sign_in: no provider is set", 503: "not_ready: see /readyz"})
_LINES: Final = "application/x-ndjson"
_DEVICE_ERRORS: Final = described(
    {
        403: "not_permitted; or device_not_admitted: it was revoked",
        404: "unknown_device or unknown_key",
        409: "too_many_devices",
    }
)
_TRACE_ERRORS: Final = NOT_ADMITTED | described(
    {404: "unknown_answer: not there, another's, or no right to look into it"}
)
_EXPORT: Final[Errors] = {
    200: {
        "content": {_LINES: {"schema": {"type": "string"}}},
        "description": "docs/operations/ledger.md describes the lines",
    },
    **described({409: "ledger_broken: its end was changed from outside"}),
}

_GLASS_ERRORS: Final = described(
    {403: "not_permitted: the key has no grant `break-glass:GRAPH`", 404: "unknown_graph"}
)
_ACCESS_EXPORT: Final[Errors] = {
    200: {
        "content": {_LINES: {"schema": {"type": "string"}}, "text/plain": {"schema": {"type": "string"}}},
        "description": "docs/operations/access.md describes the lines",
    },
}


@probe_router.get("/healthz")
async def get_health() -> dict[str, str]:
    """Tells that the process is running."""
    return {"status": "ok"}


@probe_router.get("/readyz", response_model=Readiness, responses={503: {"model": Readiness}})
async def get_readiness(state: StateOf) -> JSONResponse:
    """Tells what is missing before questions can be asked; the status is 503 until the service is ready."""
    told = await state.readiness()
    return JSONResponse(told.model_dump(), 200 if told.ready else 503)


@probe_router.get("/metrics", response_class=Response)
async def get_metrics(state: StateOf) -> Response:
    """Returns counts and durations in Prometheus' text format; no label contains a tenant, graph or name."""
    return Response(state.metrics.exposition(), media_type=CONTENT_TYPE)


@probe_router.get("/sign-in", responses=_SIGN_IN_ERRORS)
def get_sign_in(services: ServicesOf) -> SignIn:
    """Tells at which OpenID provider persons sign in, and by which client id; it takes no key."""
    provider = services.store.provider
    if provider is None:
        raise NoSignInError
    return SignIn(issuer=provider.issuer, client_id=provider.client_id, scopes=services.store.settings.oidc_scopes)


@admin_router.get("/budget")
def get_budget(caller: CallerOf, services: ServicesOf, tenant: TenantOf = None) -> TokenBudget:
    """Returns the tokens that the tenant has used today, and its limit. The operator may name another tenant."""
    return read_budget(services.store.engine, services.store.budgets, _tenant_for(caller, tenant))


@admin_router.get("/endpoints")
async def list_endpoints(caller: CallerOf, services: ServicesOf) -> EndpointList:
    """Lists the model endpoints in the order in which they are tried. Only for the operator's key."""
    return _endpoints_for(caller, services)


@admin_router.post("/endpoints/probe")
async def probe_endpoints(caller: CallerOf, services: ServicesOf) -> EndpointList:
    """Tests again what each endpoint can do, and lists them. Only for the operator's key."""
    _endpoints_for(caller, services)
    await probe_all(services.thinking.endpoints)
    return _endpoints_for(caller, services)


@admin_router.post("/keys", status_code=201)
def create_key(wanted: NewKey, caller: CallerOf, services: ServicesOf) -> KeyCreated:
    """Makes a key. Its secret is shown only in this reply.

    Only the operator's key may make keys for another tenant.
    """
    tenant = _tenant_for(caller, wanted.tenant)
    issued = services.store.access.create(tenant, wanted.role, wanted.grants, wanted.days, wanted.label)
    return KeyCreated(key_id=issued.key_id, key=issued.key, tenant=tenant, grants=wanted.grants, role=wanted.role)


@admin_router.delete("/keys/{key_id}", status_code=204, responses=NOT_FOUND)
def revoke_key(key_id: str, caller: CallerOf, services: ServicesOf, tenant: TenantOf = None) -> None:
    """Revokes a key at once. The operator may name another tenant."""
    services.store.access.revoke(_tenant_for(caller, tenant), key_id)


@admin_router.get("/keys")
def list_keys(caller: CallerOf, services: ServicesOf, tenant: TenantOf = None) -> KeyList:
    """Lists the tenant's API keys, oldest first, including revoked ones, without secrets.

    The operator may name a tenant.
    """
    of = _tenant_for(caller, tenant)
    keys = [
        KeyListed(
            key_id=record.key_id,
            role=record.role,
            grants=sorted(record.grants),
            created_at=record.created_at,
            expires_at=record.expires_at,
            revoked_at=record.revoked_at,
            label=record.label,
            last_used_at=record.last_used_at,
        )
        for record in services.store.access.keys(of)
    ]
    return KeyList(tenant=of, own=caller.key_id, keys=keys)


@caller_router.get("/devices", responses=_DEVICE_ERRORS)
def list_devices(caller: CallerOf, services: ServicesOf, key: KeyOf = None) -> DeviceList:
    """Lists the devices of this API key, oldest first, including revoked ones.

    An admin may name another key of the tenant.
    """
    return services.store.devices.of(caller.tenant, _key_for(caller, key))


@caller_router.post("/devices", responses=_DEVICE_ERRORS)
def register_device(wanted: NewDevice, caller: CallerOf, services: ServicesOf, key: KeyOf = None) -> Device:
    """Registers a public key as a device of this API key; it may be registered again.

    Where devices are required, an admin registers them, and may name another key of the tenant.
    """
    if services.store.devices.required and not caller.is_admin:
        raise NotPermittedError
    return services.store.devices.register(caller.tenant, _key_for(caller, key), wanted.public_key)


@caller_router.delete("/devices/{fingerprint}", responses=_DEVICE_ERRORS)
def revoke_device(
    fingerprint: Annotated[str, Path(max_length=64)], caller: CallerOf, services: ServicesOf, key: KeyOf = None
) -> Device:
    """Revokes a device at once: nothing more is sealed to its public key.

    An admin may name another key of the tenant.
    """
    return services.store.devices.revoke(caller.tenant, _key_for(caller, key), fingerprint)


@caller_router.get("/ledger")
def get_ledger(
    caller: CallerOf,
    services: ServicesOf,
    answer: Annotated[str | None, Query(max_length=64, description="only what one answer sent")] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> LedgerPage:
    """Lists what the model was shown, newest first: for questions of this key, or of the whole tenant for an admin."""
    return read_ledger_page(services.store.ledger, services.store.engine, caller, answer, limit)


@caller_router.get("/trace/{id}", responses=_TRACE_ERRORS)
def get_trace(
    id: Annotated[str, Path(max_length=64, description="an answer's id")],
    caller: CallerOf,
    services: ServicesOf,
    public_key: Annotated[str, Query(max_length=MAX_PUBLIC_KEY_CHARS, description=PUBLIC_KEY_FORM)],
) -> SealedTrace:
    """Shows what the model was sent and replied for one answer, with the names, sealed to the caller's key.

    Only for the key that asked, if it has the grant `inspect:GRAPH`, and for an admin; other keys get 404.
    """
    services.store.devices.admit(caller, public_key)
    return services.tracer.trace(caller, id, public_key)


@admin_router.get("/ledger/check")
def check_ledger(
    caller: CallerOf,
    services: ServicesOf,
    cursor: Annotated[str | None, Query(max_length=4_096, description="where the call before stopped")] = None,
) -> LedgerCheck:
    """Checks that no row of the tenant's ledger was changed, deleted, added or moved: at most 5,000 rows a call.

    If more rows are left, send the reply's `cursor` with the next call.
    """
    return services.store.audit.check(caller.tenant, cursor)


@admin_router.post("/ledger/export", response_class=StreamingResponse, responses=_EXPORT)
def export_ledger(caller: CallerOf, services: ServicesOf, payloads: bool = False) -> StreamingResponse:
    """Returns the tenant's ledger as signed JSON lines; with `payloads`, also what was sent and replied."""
    return StreamingResponse(services.store.audit.lines(caller.tenant, payloads), media_type=_LINES)


@caller_router.post("/graphs/{name}/break-glass", responses=_GLASS_ERRORS)
def break_role(name: GraphName, wanted: BreakGlass, caller: CallerOf, services: ServicesOf) -> GlassBroken:
    """Lifts the role in which this key sees a graph, for some minutes and a reason; both are recorded and alarmed.

    Only for a key with the grant `break-glass:GRAPH`.
    """
    return break_glass(services.store.access_record, caller, name, wanted)


@admin_router.get("/graphs/{name}/readers", responses=NOT_FOUND)
def list_readers(name: GraphName, caller: CallerOf, services: ServicesOf) -> ReaderDays:
    """Lists how many names and facts of a graph each key and person read, by day, and names of the last hour."""
    services.store.catalog.open(caller.tenant, name)
    days = services.store.names_read.days(caller.tenant, name)
    return ReaderDays(graph=name, days=[ReaderDay(**asdict(each)) for each in days])


@admin_router.post("/graphs/{name}/access", responses=NOT_FOUND)
def who_read(name: GraphName, wanted: WhoRead, caller: CallerOf, services: ServicesOf) -> AccessList:
    """Lists who had the names of a thing restored, when and why, newest first."""
    return access_search_in(services.store).who(caller.tenant, name, wanted.name)


@admin_router.post("/access/export", response_class=StreamingResponse, responses=_ACCESS_EXPORT)
def export_access(
    caller: CallerOf,
    services: ServicesOf,
    syslog: Annotated[bool, Query(description="messages of RFC 5424 in place of JSON lines")] = False,
    otlp: Annotated[bool, Query(description="OpenTelemetry's JSON for logs, an entry a line")] = False,
    since: Annotated[dt.datetime | None, Query(description="only entries from this time on")] = None,
) -> StreamingResponse:
    """Returns the tenant's access record, oldest first: who had how many names restored, of which things, and why."""
    form: ExportForm = "otlp" if otlp else "syslog" if syslog else "json"
    lines = services.store.access_record.lines(caller.tenant, since=since, form=form)
    return StreamingResponse(lines, media_type="text/plain" if syslog else _LINES)


def _tenant_for(caller: Caller, tenant: str | None) -> str:
    """Returns the tenant that a request is for: the caller's own, or any for the operator.

    Raises NotPermittedError.
    """
    if tenant not in (None, caller.tenant) and not caller.is_operator:
        raise NotPermittedError
    return tenant or caller.tenant


def _key_for(caller: Caller, key: str | None) -> str:
    """Returns the id of the API key that a request is for: the caller's own, or any of the tenant for an admin.

    Raises NotPermittedError.
    """
    if key not in (None, caller.key_id) and not caller.is_admin:
        raise NotPermittedError
    return key or caller.key_id


def _endpoints_for(caller: Caller, services: Services) -> EndpointList:
    if not caller.is_operator:
        raise NotPermittedError
    endpoints = enumerate(services.thinking.endpoints, start=1)
    return EndpointList(endpoints=[status_of(position, each, with_model=True) for position, each in endpoints])
