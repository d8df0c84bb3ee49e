"""Devices: the public keys that capsules of one API key may be sealed to."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from client_sdk.protocol.base import Wire
from client_sdk.protocol.capsule import MAX_PUBLIC_KEY_CHARS, PUBLIC_KEY_FORM, SuiteName


class NewDevice(Wire):
    """POST /devices: a device is known by its public key's fingerprint alone; the key itself is not kept."""

    public_key: str = Field(max_length=MAX_PUBLIC_KEY_CHARS, description=PUBLIC_KEY_FORM)


class Device(Wire):
    """One device of an API key. A revoked one stays listed, and gets no capsule ever again."""

    fingerprint: str = Field(description="SHA-256 of the public key's bytes, hex")
    suite: SuiteName
    registered_at: datetime
    revoked_at: datetime | None = None


class DeviceList(Wire):
    """GET /devices, oldest first. `required`: capsules go to registered devices alone, which an admin registers."""

    key_id: str
    required: bool
    devices: list[Device]
