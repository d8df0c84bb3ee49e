"""GET, POST and DELETE /admin/keys: API keys."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import Query
from starlette.concurrency import run_in_threadpool

from app.accounts.api_keys import KeyRecord, NotPermittedError
from app.api.auth import CallerOf, ServicesOf
from app.api.routes.descriptions import NOT_FOUND
from app.api.routes.routers import admin_router, owner_router
from client_sdk.protocol import KeyCreated, KeyList, KeyListed, NewKey


@admin_router.post("/keys", status_code=201, response_model=KeyCreated)
async def create_key(wanted: NewKey, caller: CallerOf, services: ServicesOf) -> KeyCreated:
    """Makes a key. It is shown this once. Only the operator's key may make keys for another tenant."""
    if wanted.tenant != caller.tenant and not caller.is_operator:
        raise NotPermittedError
    create = partial(
        services.store.access.create, wanted.tenant, wanted.role, wanted.grants, wanted.days, wanted.label
    )
    issued = await run_in_threadpool(create)
    return KeyCreated(
        key_id=issued.key_id, key=issued.key, tenant=wanted.tenant, grants=wanted.grants, role=wanted.role
    )


@admin_router.delete("/keys/{key_id}", status_code=204, responses=NOT_FOUND)
async def revoke_key(
    key_id: str, caller: CallerOf, services: ServicesOf, tenant: Annotated[str | None, Query(max_length=63)] = None
) -> None:
    """Ends a key at once. The operator may name another tenant."""
    if tenant not in (None, caller.tenant) and not caller.is_operator:
        raise NotPermittedError
    await run_in_threadpool(services.store.access.revoke, tenant or caller.tenant, key_id)


@owner_router.get("/keys", response_model=KeyList)
async def list_keys(
    caller: CallerOf, services: ServicesOf, tenant: Annotated[str | None, Query(max_length=63)] = None
) -> KeyList:
    """The tenant's API keys, oldest first, revoked ones too, without their secrets. The operator may name a tenant."""
    if tenant not in (None, caller.tenant) and not caller.is_operator:
        raise NotPermittedError
    records = await run_in_threadpool(services.store.access.keys, tenant or caller.tenant)
    return KeyList(tenant=tenant or caller.tenant, own=caller.key_id, keys=[_listed(record) for record in records])


def _listed(record: KeyRecord) -> KeyListed:
    return KeyListed(
        key_id=record.key_id,
        role=record.role,
        grants=sorted(record.grants),
        created_at=record.created_at,
        expires_at=record.expires_at,
        revoked_at=record.revoked_at,
        label=record.label,
        last_used_at=record.last_used_at,
    )
