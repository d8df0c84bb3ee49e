"""`arog device`: the devices that the names of an API key's answers are sealed to."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from client_sdk.cli.settings import TAKES_ID, ApiKey, PlainHttp, Url, choose

if TYPE_CHECKING:
    from client_sdk.devices import Devices

app = typer.Typer(help="The devices that an API key's names are sealed to.", no_args_is_help=True)

KeyId = Annotated[str | None, typer.Option("--key", help="Another API key's id, for an admin: `arog api-key list`")]


@app.command(context_settings=TAKES_ID)
def register(
    public_key: Annotated[str | None, typer.Argument(help="The device's; this one's by default")] = None,
    url: Url = None,
    api_key: ApiKey = None,
    key_id: KeyId = None,
    plain_http: PlainHttp = False,
) -> None:
    """Register a device by its public key (`arog keygen` prints it there)."""
    with _open(url, api_key, key_id, plain_http) as devices:
        from client_sdk.crypto.key_file import load_or_create_key

        device = devices.register(public_key or load_or_create_key().public_text)
    print(f"registered: {device.fingerprint}")


@app.command("list")
def list_devices(url: Url = None, api_key: ApiKey = None, key_id: KeyId = None, plain_http: PlainHttp = False) -> None:
    """Every device of the API key, oldest first: fingerprint, since when, whether revoked; this one is marked."""
    with _open(url, api_key, key_id, plain_http) as devices:
        told = devices.all()
    from client_sdk.crypto.key_file import load_key
    from client_sdk.crypto.sealing import fingerprint_of

    own = load_key()
    mark = fingerprint_of(own.public_text) if own else ""
    for device in told.devices:
        state = f"revoked {device.revoked_at:%Y-%m-%d}" if device.revoked_at else "valid"
        here = "  (this one)" if device.fingerprint == mark else ""
        print(f"{device.fingerprint}  {device.registered_at:%Y-%m-%d}  {state}  {device.suite}{here}")
    rule = "go to registered devices alone" if told.required else "go to every public key that is not revoked here"
    print(f"key {told.key_id}: names {rule}", file=sys.stderr)


@app.command(context_settings=TAKES_ID)
def revoke(
    fingerprint: Annotated[str, typer.Argument(help="As `arog device list` shows it, or its first 8 characters")],
    url: Url = None,
    api_key: ApiKey = None,
    key_id: KeyId = None,
    plain_http: PlainHttp = False,
) -> None:
    """End a device at once: nothing is sealed to it any more. Lost with its API key? Revoke that, too."""
    with _open(url, api_key, key_id, plain_http) as devices:
        device = devices.revoke(fingerprint)
    print(f"revoked: {device.fingerprint}")


def _open(url: str | None, api_key: str | None, key_id: str | None, plain_http: bool) -> Devices:
    where = choose(url, api_key, None)
    from client_sdk.devices import Devices

    return Devices(where.url, where.api_key, key_id=key_id, plain_http=plain_http)
