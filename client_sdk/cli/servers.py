"""`arog proxy` and `arog mcp`: servers for other programs on this machine."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from client_sdk.cli.main import tell_wait
from client_sdk.cli.settings import ApiKey, Language, Names, PlainHttp, Url, choose, names_options
from client_sdk.errors import NotConfiguredError
from client_sdk.transport.address import TIMEOUT_S, checked_url, secret_of

PORT = 8100
_GET_EXTRA = "in a clone of arog, get it with: pip install '.[{}]'"

ProxyKey = Annotated[
    str,
    typer.Option(
        envvar="AROG_PROXY_KEY",
        help="What clients must give as their API key; better there, or in AROG_PROXY_KEY_FILE",
    ),
]


def proxy(
    url: Url = None,
    api_key: ApiKey = None,
    host: Annotated[str, typer.Option(help="Where to listen; another machine's clients need AROG_PROXY_KEY")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Where to listen; 0 takes a free one")] = PORT,
    key: ProxyKey = "",
    evidence: Annotated[bool, typer.Option("--evidence", help="End each answer with the path to it")] = False,
    names: Names = 50,
    language: Language = None,
    timeout_s: Annotated[float, typer.Option("--timeout", min=1, help="Seconds for one question")] = TIMEOUT_S,
    allow_host: Annotated[
        list[str] | None, typer.Option(help="A name by which clients may call this machine, e.g. host.docker.internal")
    ] = None,
    allow_origin: Annotated[
        list[str] | None, typer.Option(help="A page that may ask from a browser, e.g. http://localhost:3000")
    ] = None,
    plain_http: PlainHttp = False,
) -> None:
    """Serve OpenAI's and Anthropic's API on this machine, for programs that ask graphs. Names are restored here.

    Open WebUI, LibreChat, the openai package: http://127.0.0.1:8100/v1. The anthropic package: the same without /v1.
    """
    where, key = choose(url, api_key, None), secret_of("AROG_PROXY_KEY", os.environ, key)
    from client_sdk.crypto.key_file import load_or_create_key

    try:
        from client_sdk.proxy.app import AccessDecision, serve
        from client_sdk.proxy.sessions import Upstream
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] in ("starlette", "uvicorn"):
            raise NotConfiguredError(
                "the proxy is an extra", code="no_proxy", hint=_GET_EXTRA.format("proxy")
            ) from None
        raise
    where_to, limits = checked_url(where.url, plain_http), names_options(names, language)
    upstream = Upstream(where_to, where.api_key, load_or_create_key(), timeout_s, plain_http, limits)
    access = AccessDecision(key, frozenset(map(str.lower, allow_host or ())), frozenset(allow_origin or ()))
    serve(upstream, access, host, port, evidence=evidence)


def mcp(
    url: Url = None,
    api_key: ApiKey = None,
    graph: Annotated[
        str | None, typer.Option(envvar="AROG_GRAPH", help="The graph to ask where none is named  [default: demo]")
    ] = None,
    pseudonyms: Annotated[
        bool, typer.Option("--pseudonyms", help="Restore no name: the client's model reads pseudonyms alone")
    ] = False,
    names: Names = 50,
    timeout_s: Annotated[float, typer.Option("--timeout", min=1, help="Seconds for one question")] = TIMEOUT_S,
    plain_http: PlainHttp = False,
) -> None:
    """Serve the graphs as tools to MCP clients. Claude Desktop, VS Code and others start this command themselves.

    Names are restored here, so the client's own model reads them; --pseudonyms keeps them from it.
    """
    where = choose(url, api_key, graph)
    try:
        from client_sdk.mcp import ServiceAccess, serve_on_stdio
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in ("mcp", "mcp_types", "anyio"):
            raise
        raise NotConfiguredError("MCP is an extra", code="no_mcp", hint=_GET_EXTRA.format("mcp")) from None
    service = ServiceAccess(
        checked_url(where.url, plain_http), where.api_key, where.graph,
        restore_names=not pseudonyms, names=names, timeout_s=timeout_s, plain_http=plain_http, on_wait=tell_wait,
    )  # fmt: skip
    if not pseudonyms:
        # Reports an unusable key file now instead of at the first question.
        from client_sdk.crypto.key_file import load_or_create_key

        load_or_create_key()
    serve_on_stdio(service)
