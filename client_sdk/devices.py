"""Registers, lists and revokes devices: the public keys that the names in an API key's answers may be sealed to."""

from __future__ import annotations

from typing import Self
from urllib.parse import quote

import httpx2

from client_sdk.errors import BadRequestError
from client_sdk.protocol import Device, DeviceList, NewDevice
from client_sdk.transport.address import Bearer, checked_key, checked_url
from client_sdk.transport.drivers import BlockingDriver
from client_sdk.transport.flow import Call, RetryPolicy, exchange

PATIENCE = RetryPolicy(timeout_s=30.0)
MIN_PREFIX = 8


class Devices:
    """The devices of one API key: of the caller's own, or, with an admin's, of the key `key_id` in the same tenant.

        with Devices("http://127.0.0.1:8000", api_key) as devices:
            devices.register(KeyPair.generate().public_text)

    `plain_http` and `http` are as for Chat. Every method raises ArogError.
    """

    def __init__(
        self,
        url: str,
        api_key: Bearer,
        *,
        key_id: str | None = None,
        plain_http: bool = False,
        http: httpx2.Client | None = None,
    ) -> None:
        self._params = {} if key_id is None else {"key": key_id}
        self._driver = BlockingDriver(checked_url(url, plain_http), checked_key(api_key), http)

    def all(self) -> DeviceList:
        """Returns the devices, oldest first, including revoked ones."""
        call = Call("GET", "/devices", params=self._params, repeatable=True)
        return self._driver.run(exchange(call, DeviceList, PATIENCE))

    def register(self, public_text: str) -> Device:
        """Registers a device; a registered one may be registered again, a revoked one is refused."""
        body = NewDevice(public_key=public_text).model_dump_json().encode()
        call = Call("POST", "/devices", body, self._params, repeatable=True)
        return self._driver.run(exchange(call, Device, PATIENCE))

    def revoke(self, fingerprint: str) -> Device:
        """Revokes a device for good, by its fingerprint or the beginning of it (at least 8 characters)."""
        found = [one for one in self.all().devices if one.fingerprint.startswith(fingerprint)]
        if len(fingerprint) < MIN_PREFIX or len(found) != 1:
            hint = f"give {MIN_PREFIX} characters or more of a fingerprint that `arog device list` shows"
            raise BadRequestError(f"{len(found)} devices match that fingerprint", code="which_device", hint=hint)
        call = Call("DELETE", f"/devices/{quote(found[0].fingerprint, safe='')}", params=self._params, repeatable=True)
        return self._driver.run(exchange(call, Device, PATIENCE))

    def close(self) -> None:
        self._driver.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()
