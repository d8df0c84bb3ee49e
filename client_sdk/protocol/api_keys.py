"""GET and POST /admin/keys, GET and POST /devices: API keys, and the public keys that capsules are sealed to."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from client_sdk.protocol.base import Wire
from client_sdk.protocol.capsule import MAX_PUBLIC_KEY_CHARS, PUBLIC_KEY_FORM, SuiteName

KeyRole = Literal["user", "admin"]


class NewKey(Wire):
    """POST /admin/keys: a key for `tenant` that may ask the graphs in `grants`, and trace those in `inspect:GRAPH`.

    `GRAPH#ROLE` grants what the graph's policy shows that role.
    """

    tenant: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")]
    grants: list[Annotated[str, StringConstraints(min_length=1, max_length=127)]]
    role: KeyRole = "user"
    days: float | None = Field(
        default=None, gt=0, le=3650, strict=True, description="days until it expires; null: never"
    )
    label: Annotated[str, StringConstraints(max_length=80)] = Field(
        default="", description="what to call it, for those who look after keys"
    )


class KeyCreated(Wire):
    """The reply to NewKey. `key` is shown this once; the service keeps its hash alone."""

    key_id: str
    key: str = Field(repr=False)
    tenant: str
    grants: list[str]
    role: KeyRole


class KeyListed(Wire):
    """One API key as GET /admin/keys lists it: nothing that could be asked with."""

    key_id: str
    role: KeyRole
    grants: list[str]
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    label: str = ""
    last_used_at: datetime | None = Field(default=None, description="kept to ten minutes; null: never used")


class KeyList(Wire):
    """GET /admin/keys, oldest first, revoked ones too. `own` is the id of the key that asks."""

    tenant: str
    own: str
    keys: list[KeyListed]


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
