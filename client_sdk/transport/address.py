"""The service's address and API key: read from the environment, and checked before use."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping
from pathlib import Path

from client_sdk.errors import NotConfiguredError

Bearer = str | Callable[[], str]
"""An API key, or a function that gives a person's token of the moment."""
DEFAULT_URL = "http://127.0.0.1:8000"
DEFAULT_GRAPH = "demo"
# Mode bits a secret's file must not have. Its group may read it, because mounted secrets allow that.
_MODE_OF_OTHERS = 0o027
TIMEOUT_S = 120.0
"""The default deadline, in seconds, of one question with all its retries."""


def settings_from_env(environment: Mapping[str, str]) -> tuple[str, Bearer, str]:
    """Returns the address, API key and graph, from AROG_URL, AROG_API_KEY or AROG_API_KEY_FILE, and AROG_GRAPH.

    Raises NotConfiguredError without a key.
    """
    return (
        environment.get("AROG_URL") or url_on_this_machine(environment),
        checked_key(secret_of("AROG_API_KEY", environment)),
        environment.get("AROG_GRAPH") or DEFAULT_GRAPH,
    )


def url_on_this_machine(environment: Mapping[str, str]) -> str:
    """Returns the service's default address: on loopback, at AROG_PORT as `arog serve` reads it, else at 8000."""
    port = environment.get("AROG_PORT", "").strip()
    if not port:
        return DEFAULT_URL
    if not port.isascii() or not port.isdigit() or not 0 < int(port) < 65_536:
        hint = "set it to the service's port, or AROG_URL to its whole address"
        raise NotConfiguredError("AROG_PORT is no port that can be asked", code="bad_port", hint=hint)
    return f"http://127.0.0.1:{port}"


def secret_of(name: str, environment: Mapping[str, str], option: str | None = None) -> str:
    """Returns `option` if given, else the setting `name`, else the text of the file in `name`_FILE, else "".

    Raises NotConfiguredError if both settings are set, or the file can't be read, or others can read it.
    """
    given, path = environment.get(name, ""), environment.get(f"{name}_FILE", "")
    if not path or (option and option != given):
        return option or given
    if given:
        raise NotConfiguredError(f"{name} and {name}_FILE are both set", code="set_twice", hint="leave one out")
    return _text_of(Path(path), f"{name}_FILE")


def _text_of(path: Path, name: str) -> str:
    try:
        mode, text = path.stat().st_mode, path.read_text("ascii")
    except (OSError, UnicodeDecodeError):
        hint = "name a file of one line that this user can read"
        raise NotConfiguredError(f"the file of {name} can't be read", code="bad_key_file", hint=hint) from None
    if mode & _MODE_OF_OTHERS:
        hint = f"run: chmod 600 {path}"
        raise NotConfiguredError(f"others can read the file of {name}", code="bad_key_file", hint=hint)
    return text.strip()


def checked_key(api_key: Bearer) -> Bearer:
    """Returns `api_key`. Raises NotConfiguredError, without quoting it, unless it can be sent in a header."""
    if callable(api_key):
        return lambda: _sendable(api_key())
    return _sendable(api_key)


def _sendable(api_key: str) -> str:
    if not api_key:
        hint = (
            "set AROG_API_KEY, or give api_key; an admin makes keys with `arog api-key create`, or `arog login` signs "
        )
        hint += "you in"
        raise NotConfiguredError("there is no API key", code="no_api_key", hint=hint)
    if not api_key.isascii() or not api_key.isprintable() or " " in api_key:
        raise NotConfiguredError(
            "the API key holds characters that no key has", code="bad_api_key", hint="copy it anew"
        )
    return api_key


def checked_url(url: str, plain_http: bool) -> str:
    """Returns `url`.

    Raises NotConfiguredError unless it is https, or http to this machine (to any machine, with `plain_http`).
    """
    # Imported late, because most checks end before an address is parsed.
    import httpx2

    try:
        parsed = httpx2.URL(url)
    except httpx2.InvalidURL:
        parsed = httpx2.URL("")
    if parsed.scheme not in ("http", "https") or not parsed.host or parsed.query or parsed.userinfo:
        hint = f"it looks like {DEFAULT_URL} or https://host"
        raise NotConfiguredError("the service's URL is not valid", code="bad_url", hint=hint)
    if parsed.scheme == "http" and not plain_http and not _is_this_machine(parsed.host):
        hint = "use https, or say plain_http (--plain-http) where the network in between is trusted"
        raise NotConfiguredError("over http the question would travel readable", code="plain_http", hint=hint)
    return url


def _is_this_machine(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
