"""Devices of a caller: registered, listed and revoked."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query
from starlette.concurrency import run_in_threadpool

from app.accounts.api_keys import Caller, NotPermittedError
from app.api.auth import CallerOf, ServicesOf
from app.api.routes.descriptions import DEVICE_ERRORS
from app.api.routes.routers import caller_router
from client_sdk.protocol import Device, DeviceList, NewDevice

KeyOf = Annotated[str | None, Query(max_length=32, description="another API key's id, for an admin")]


@caller_router.get("/devices", response_model=DeviceList, responses=DEVICE_ERRORS)
async def list_devices(caller: CallerOf, services: ServicesOf, key: KeyOf = None) -> DeviceList:
    """The devices of this API key, oldest first, revoked ones too. An admin may name another key of the tenant."""
    return await run_in_threadpool(services.store.devices.of, caller.tenant, _whose(caller, key))


@caller_router.post("/devices", response_model=Device, responses=DEVICE_ERRORS)
async def register_device(wanted: NewDevice, caller: CallerOf, services: ServicesOf, key: KeyOf = None) -> Device:
    """Registers a public key as a device of this API key; doing so twice is no error.

    Where devices are required, an admin does it, who may name another key of the tenant.
    """
    if services.store.devices.required and not caller.is_admin:
        raise NotPermittedError
    register = services.store.devices.register
    return await run_in_threadpool(register, caller.tenant, _whose(caller, key), wanted.public_key)


@caller_router.delete("/devices/{fingerprint}", response_model=Device, responses=DEVICE_ERRORS)
async def revoke_device(
    fingerprint: Annotated[str, Path(max_length=64)], caller: CallerOf, services: ServicesOf, key: KeyOf = None
) -> Device:
    """Ends a device at once: nothing is sealed to its public key any more. An admin may name another key."""
    return await run_in_threadpool(services.store.devices.revoke, caller.tenant, _whose(caller, key), fingerprint)


def _whose(caller: Caller, key: str | None) -> str:
    if key not in (None, caller.key_id) and not caller.is_admin:
        raise NotPermittedError
    return key or caller.key_id
