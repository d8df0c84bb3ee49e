"""Runs the proxy: takes its port, says where it is, and serves until a signal comes."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import socket
import sys

import httpx2
import uvicorn

from client_sdk.confidential import forbid_core_dumps
from client_sdk.errors import ArogError, NotConfiguredError
from client_sdk.proxy.access import AccessDecision
from client_sdk.proxy.app import create_app
from client_sdk.proxy.sessions import Sessions, Upstream

_SHUTDOWN_S = 5


def serve(upstream: Upstream, entry: AccessDecision, host: str, port: int, *, evidence: bool = False) -> None:
    """Raises NotConfiguredError where it can't listen there, or would listen to other machines without a key."""
    if not is_loopback(host) and not entry.key:
        hint = "set AROG_PROXY_KEY to a long random text, and give that to clients as their API key"
        raise NotConfiguredError(f"on {host} other machines could ask", code="no_proxy_key", hint=hint)
    listening = _listen(host, port)
    forbid_core_dumps()
    for line in _welcome(upstream, entry, host, listening.getsockname()[1]):
        print(line, file=sys.stderr, flush=True)
    # The server's own log would tell paths and errors.
    config = uvicorn.Config(
        create_app(upstream, entry, evidence=evidence),
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_SHUTDOWN_S,
    )
    uvicorn.Server(config).run(sockets=[listening])


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family)
    except OSError as problem:
        if problem.errno == errno.EADDRINUSE:
            raise NotConfiguredError(f"port {port} is taken", code="port_taken", hint="give another --port") from None
        hint = "give an address of this machine as --host, and a port that you may use as --port"
        raise NotConfiguredError(
            f"nothing can listen on {host}, port {port}", code="no_such_address", hint=hint
        ) from None


def _welcome(upstream: Upstream, entry: AccessDecision, host: str, port: int) -> list[str]:
    """Says where it is, and which models there are: names of graphs, which the user has a grant for."""
    shown = f"[{host}]" if ":" in host else host
    key = "AROG_PROXY_KEY" if entry.key else "any text"
    lines = [f"The proxy runs at http://{shown}:{port}/v1 (API key of clients: {key}). Ctrl-C ends it."]
    if not is_loopback(host):
        lines.append("Real names travel readable between it and its clients: trust the network in between.")
    try:
        models = asyncio.run(_models(upstream))
    except ArogError as problem:
        return [*lines, f"The service can't be used yet: {problem} ({problem.hint})."]
    return [*lines, f"Models: {', '.join(models)}" if models else "There is no graph that this API key may ask."]


async def _models(upstream: Upstream) -> list[str]:
    async with httpx2.AsyncClient() as http:
        return await Sessions(upstream, http).models()
