"""/devices: to whose public key names are sealed, and to whose no more."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest

from app.accounts.api_keys import MAX_DEVICES, DeviceNotAdmittedError, Devices
from client_sdk.crypto.sealing import KeyPair, capsule_context, fingerprint_of, open_capsule
from client_sdk.protocol import ChatAnswer, Device, DeviceList, ErrorBody
from tests.support.service import OPERATOR, Running, bearer, question, running

LAPTOP, PHONE = KeyPair.generate(), KeyPair.generate(post_quantum=True)


@pytest.fixture
async def strict(tmp_path: Path) -> AsyncIterator[Running]:
    """The service with registered devices alone."""
    async with running(tmp_path, require_devices=True) as service:
        service.load()
        yield service


def refused(reply: httpx2.Response, status: int, code: str) -> None:
    assert (reply.status_code, ErrorBody.model_validate_json(reply.content).code) == (status, code)


async def ask(service: Running, headers: dict[str, str], pair: KeyPair, **more: object) -> httpx2.Response:
    return await service.http.post("/chat", json=question(public_key=pair.public_text, **more), headers=headers)


async def register(
    service: Running, headers: dict[str, str], pair: KeyPair, params: dict[str, str] | None = None
) -> httpx2.Response:
    body = {"public_key": pair.public_text}
    return await service.http.post("/devices", json=body, headers=headers, params=params)


async def revoke(
    service: Running, headers: dict[str, str], pair: KeyPair, params: dict[str, str] | None = None
) -> httpx2.Response:
    address = f"/devices/{fingerprint_of(pair.public_text)}"
    return await service.http.delete(address, headers=headers, params=params)


async def listed(service: Running, headers: dict[str, str]) -> DeviceList:
    return DeviceList.model_validate_json((await service.http.get("/devices", headers=headers)).content)


def names_in(reply: httpx2.Response, pair: KeyPair) -> set[str]:
    answer = ChatAnswer.model_validate_json(reply.content)
    assert answer.capsule is not None
    content = open_capsule(answer.capsule, pair, capsule_context(answer))
    return {name for names in content.table.values() for name in names.names}


async def test_devices_are_registered_and_listed_without_their_keys(service: Running) -> None:
    headers = service.key("default", "clinic")
    for pair in (LAPTOP, PHONE, LAPTOP):
        assert (await register(service, headers, pair)).status_code == 200
    reply = await service.http.get("/devices", headers=headers)
    devices = DeviceList.model_validate_json(reply.content).devices
    assert [one.fingerprint for one in devices] == [fingerprint_of(pair.public_text) for pair in (LAPTOP, PHONE)]
    assert [one.suite for one in devices] == [LAPTOP.suite, PHONE.suite]
    assert LAPTOP.public_text not in reply.text
    refused(await service.http.post("/devices", json={"public_key": "x"}, headers=headers), 422, "bad_public_key")


async def test_a_revoked_device_gets_no_name_any_more_also_from_another_replica(service: Running) -> None:
    headers = service.key("default", "clinic", "inspect:clinic")
    for pair in (LAPTOP, PHONE):
        await register(service, headers, pair)
    asked = (await ask(service, headers, LAPTOP)).json()["id"]
    device = Device.model_validate_json((await revoke(service, headers, LAPTOP)).content)
    assert device.revoked_at is not None
    before = len(service.reasoner.sent)
    refused(await ask(service, headers, LAPTOP), 403, "device_not_admitted")
    refused(await ask(service, headers, LAPTOP, stream=True), 403, "device_not_admitted")
    trace = {"public_key": LAPTOP.public_text}
    refused(await service.http.get(f"/trace/{asked}", params=trace, headers=headers), 403, "device_not_admitted")
    assert len(service.reasoner.sent) == before
    assert "Quenby Thistlewood" in names_in(await ask(service, headers, PHONE), PHONE)
    caller = service.services.store.access.authenticate(headers["Authorization"].removeprefix("Bearer "))
    replica = Devices(service.services.store.engine, required=False)
    with pytest.raises(DeviceNotAdmittedError):
        replica.admit(caller, LAPTOP.public_text)


async def test_a_revoked_device_stays_revoked(service: Running) -> None:
    headers = service.key("default", "clinic")
    await register(service, headers, LAPTOP)
    first = (await revoke(service, headers, LAPTOP)).json()
    assert (await revoke(service, headers, LAPTOP)).json() == first
    refused(await register(service, headers, LAPTOP), 403, "device_not_admitted")
    refused(await revoke(service, headers, PHONE), 404, "unknown_device")


async def test_devices_belong_to_one_api_key(service: Running) -> None:
    one, other = service.key("default", "clinic"), service.key("default", "clinic")
    await register(service, one, LAPTOP)
    refused(await revoke(service, other, LAPTOP), 404, "unknown_device")
    await revoke(service, one, LAPTOP)
    assert (await ask(service, other, LAPTOP)).status_code == 200
    assert (await listed(service, other)).devices == []


async def test_where_devices_are_required_an_api_key_alone_gets_no_name(strict: Running) -> None:
    headers = strict.key("default", "clinic")
    refused(await ask(strict, headers, LAPTOP), 403, "device_not_admitted")
    refused(await register(strict, headers, LAPTOP), 403, "not_permitted")
    reply = await strict.http.post("/chat", json=question(), headers=headers)
    assert (reply.status_code, reply.json()["capsule"]) == (200, None)
    told = await listed(strict, headers)
    assert told.required
    assert (await register(strict, OPERATOR, LAPTOP, {"key": told.key_id})).status_code == 200
    assert "Quenby Thistlewood" in names_in(await ask(strict, headers, LAPTOP), LAPTOP)
    refused(await ask(strict, headers, PHONE), 403, "device_not_admitted")
    assert (await revoke(strict, headers, LAPTOP)).status_code == 200
    refused(await ask(strict, headers, LAPTOP), 403, "device_not_admitted")


async def test_an_admin_names_keys_of_its_own_tenant_and_a_user_none(service: Running) -> None:
    user, south = service.key("default", "clinic"), service.key("south", "*", role="admin")
    key_id = (await listed(service, user)).key_id
    for call in (register, revoke):
        refused(await call(service, user, LAPTOP, {"key": "k0"}), 403, "not_permitted")
    refused(await register(service, south, LAPTOP, {"key": key_id}), 404, "unknown_key")
    refused(await revoke(service, south, LAPTOP, {"key": key_id}), 404, "unknown_device")
    refused(await service.http.get("/devices", params={"key": key_id}, headers=south), 404, "unknown_key")
    assert (await register(service, OPERATOR, LAPTOP, {"key": key_id})).status_code == 200
    assert [one.fingerprint for one in (await listed(service, user)).devices] == [fingerprint_of(LAPTOP.public_text)]
    assert (await register(service, OPERATOR, LAPTOP)).status_code == 200


async def test_a_key_has_so_many_devices_and_no_more(service: Running) -> None:
    store = service.services.store
    issued = store.access.create("default", "user", ["clinic"])
    for _ in range(MAX_DEVICES):
        device = store.devices.register("default", issued.key_id, KeyPair.generate().public_text)
        store.devices.revoke("default", issued.key_id, device.fingerprint)
    refused(await register(service, bearer(issued.key), LAPTOP), 409, "too_many_devices")
    assert (await ask(service, bearer(issued.key), LAPTOP)).status_code == 200
