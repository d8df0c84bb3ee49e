"""Devices: the public keys to which the capsules of an API key may be sealed."""

from __future__ import annotations

import datetime as dt
from typing import Final

from sqlalchemy import ColumnElement, Engine, Row, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from app.accounts.api_keys import OPERATOR_KEY_ID, OPERATOR_TENANT, Caller, UnknownKeyError
from app.database.tables import api_keys, devices
from client_sdk.crypto.sealing import fingerprint_of, parse_public_key
from client_sdk.protocol import Device, DeviceList

MAX_DEVICES: Final = 100


class DeviceNotAdmittedError(Exception):
    """No capsule is sealed to this public key: it was revoked, or registration is required and it has none."""


class UnknownDeviceError(Exception):
    """The API key has no device of that fingerprint."""


class TooManyDevicesError(Exception):
    """The API key already has MAX_DEVICES devices, including revoked ones."""


class Devices:
    """The devices of API keys, as fingerprints of their public keys.

    Promise: a revoked device gets no further capsule from any replica; with `required`, only registered devices get
    one. Limit: without `required` the holder of the API key may send another public key, so if a device is lost with
    its API key, that key must be revoked. What was sealed before can still be opened with the device.
    """

    def __init__(self, engine: Engine, required: bool) -> None:
        self._engine, self.required = engine, required

    def admit(self, caller: Caller, public_key: str | None) -> None:
        """Checks a public key before anything is sealed to it. Raises BadPublicKeyError, DeviceNotAdmittedError."""
        if public_key is None:
            return
        device = self._find(caller.tenant, caller.key_id, fingerprint_of(public_key))
        if (self.required and device is None) or (device is not None and device.revoked_at is not None):
            raise DeviceNotAdmittedError

    def register(self, tenant: str, key_id: str, public_key: str) -> Device:
        """Registers a device; repeating that is no error, but a revoked device is refused.

        Raises BadPublicKeyError, UnknownKeyError, DeviceNotAdmittedError, TooManyDevicesError.
        """
        self._require_key(tenant, key_id)
        suite, fingerprint = parse_public_key(public_key).suite.name, fingerprint_of(public_key)
        if self._find(tenant, key_id, fingerprint) is None:
            self._insert(tenant, key_id, fingerprint, suite)
        found = self._find(tenant, key_id, fingerprint)
        if found is None or found.revoked_at is not None:
            raise DeviceNotAdmittedError
        return found

    def revoke(self, tenant: str, key_id: str, fingerprint: str) -> Device:
        """Revokes a device at once in every replica; repeating that is no error. Raises UnknownDeviceError."""
        ours = _is(tenant, key_id, fingerprint)
        with self._engine.begin() as connection:
            connection.execute(update(devices).where(ours, devices.c.revoked_at.is_(None)).values(revoked_at=_now()))
        found = self._find(tenant, key_id, fingerprint)
        if found is None:
            raise UnknownDeviceError
        return found

    def of(self, tenant: str, key_id: str) -> DeviceList:
        """Returns every device of the API key, oldest first, including revoked ones. Raises UnknownKeyError."""
        self._require_key(tenant, key_id)
        ours = (devices.c.tenant == tenant) & (devices.c.key_id == key_id)
        with self._engine.connect() as connection:
            rows = connection.execute(select(devices).where(ours).order_by(devices.c.registered_at)).all()
        return DeviceList(key_id=key_id, required=self.required, devices=[_device(row) for row in rows])

    def _insert(self, tenant: str, key_id: str, fingerprint: str, suite: str) -> None:
        row = {"tenant": tenant, "key_id": key_id, "fingerprint": fingerprint, "suite": suite, "registered_at": _now()}
        ours = (devices.c.tenant == tenant) & (devices.c.key_id == key_id)
        try:
            with self._engine.begin() as connection:
                if connection.execute(select(func.count()).where(ours)).scalar_one() >= MAX_DEVICES:
                    raise TooManyDevicesError
                connection.execute(insert(devices).values(row))
        except IntegrityError:
            # Another request has registered it meanwhile.
            pass

    def _find(self, tenant: str, key_id: str, fingerprint: str) -> Device | None:
        with self._engine.connect() as connection:
            row = connection.execute(select(devices).where(_is(tenant, key_id, fingerprint))).one_or_none()
        return None if row is None else _device(row)

    def _require_key(self, tenant: str, key_id: str) -> None:
        if (tenant, key_id) == (OPERATOR_TENANT, OPERATOR_KEY_ID):
            return
        ours = (api_keys.c.tenant == tenant) & (api_keys.c.key_id == key_id)
        with self._engine.connect() as connection:
            if connection.execute(select(api_keys.c.key_id).where(ours)).one_or_none() is None:
                raise UnknownKeyError


def _is(tenant: str, key_id: str, fingerprint: str) -> ColumnElement[bool]:
    return (devices.c.tenant == tenant) & (devices.c.key_id == key_id) & (devices.c.fingerprint == fingerprint)


def _device(row: Row[tuple[object, ...]]) -> Device:
    return Device(
        fingerprint=row.fingerprint, suite=row.suite, registered_at=row.registered_at, revoked_at=row.revoked_at
    )


def _now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)
