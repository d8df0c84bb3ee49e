"""The service's address and the key it is asked with: read from the environment, and checked before use."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping

from client_sdk.errors import NotConfiguredError

DEFAULT_URL = "http://127.0.0.1:8000"
DEFAULT_GRAPH = "demo"
TIMEOUT_S = 120.0
"""Seconds for one question with all its repetitions, where nothing else is said."""


def settings_from_env(environment: Mapping[str, str]) -> tuple[str, str, str]:
    """AROG_URL, AROG_API_KEY, AROG_GRAPH. Raises NotConfiguredError when there is no key."""
    return (
        environment.get("AROG_URL") or DEFAULT_URL,
        checked_key(environment.get("AROG_API_KEY", "")),
        environment.get("AROG_GRAPH") or DEFAULT_GRAPH,
    )


def checked_key(api_key: str) -> str:
    """Raises NotConfiguredError unless `api_key` can stand in a header; says nothing of it."""
    if not api_key:
        hint = "set AROG_API_KEY, or give api_key; an admin makes keys with `arog api-key create`"
        raise NotConfiguredError("there is no API key", code="no_api_key", hint=hint)
    if not api_key.isascii() or not api_key.isprintable() or " " in api_key:
        raise NotConfiguredError(
            "the API key holds characters that no key has", code="bad_api_key", hint="copy it anew"
        )
    return api_key


def checked_url(url: str, plain_http: bool) -> str:
    """Raises NotConfiguredError unless `url` is https, or http to this machine (to any, with `plain_http`)."""
    # Most checks fail before an address is looked at.
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
