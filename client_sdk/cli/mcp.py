"""`arog mcp`: the graphs as tools for a client of the Model Context Protocol, on this machine."""

from __future__ import annotations

from typing import Annotated

import typer

from client_sdk.cli.errors import tell_wait
from client_sdk.cli.settings import ApiKey, PlainHttp, Url, choose
from client_sdk.errors import NotConfiguredError
from client_sdk.transport.address import TIMEOUT_S, checked_url

_GET_MCP = "in a clone of arog, get it with: pip install '.[mcp]'"


def mcp(
    url: Url = None,
    api_key: ApiKey = None,
    graph: Annotated[
        str | None, typer.Option(envvar="AROG_GRAPH", help="The graph to ask where none is named  [default: demo]")
    ] = None,
    pseudonyms: Annotated[
        bool, typer.Option("--pseudonyms", help="Restore no name: the client's model reads pseudonyms alone")
    ] = False,
    names: Annotated[int, typer.Option(min=1, max=10_000, help="How many names of one set to restore")] = 50,
    timeout_s: Annotated[float, typer.Option("--timeout", min=1, help="Seconds for one question")] = TIMEOUT_S,
    plain_http: PlainHttp = False,
) -> None:
    """Serve the graphs as tools to MCP clients. Claude Desktop, VS Code and others start it by themselves.

    Names are restored here: the model that the client works with then reads them. --pseudonyms keeps them from it.
    """
    where = choose(url, api_key, graph)
    try:
        from client_sdk.mcp.dialogues import ServiceAccess
        from client_sdk.mcp.server import serve_on_stdio
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in ("mcp", "mcp_types", "anyio"):
            raise
        raise NotConfiguredError("MCP is an extra", code="no_mcp", hint=_GET_MCP) from None
    service = ServiceAccess(
        checked_url(where.url, plain_http), where.api_key, where.graph,
        restore_names=not pseudonyms, names=names, timeout_s=timeout_s, plain_http=plain_http, on_wait=tell_wait,
    )  # fmt: skip
    if not pseudonyms:
        # An unusable key file is told now, and not at the first question.
        from client_sdk.crypto.key_file import load_or_create_key

        load_or_create_key()
    serve_on_stdio(service)
