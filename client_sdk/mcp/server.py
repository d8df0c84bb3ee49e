"""The MCP server: hands calls of tools on to the dialogues, and tells failures as results that a person can read."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib.metadata import version

import anyio
import httpx2
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)
from pydantic import ValidationError

from client_sdk.confidential import forbid_core_dumps, tell_failure
from client_sdk.errors import ArogError
from client_sdk.mcp.dialogues import Dialogues, ServiceAccess, told
from client_sdk.mcp.tools import NAMES_ARE_READ, NAMES_STAY, TOOLS, GraphTool, description

_BY_NAME = {tool.name: tool for tool in TOOLS}
Context = ServerRequestContext[Dialogues]


def make_server(service: ServiceAccess, http: httpx2.AsyncClient | None = None) -> Server[Dialogues]:
    """A server whose every connection has dialogues of its own. `http` may be a client of one's own."""
    names = service.restore_names

    async def list_tools(_context: Context, _params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=[_listed(tool, names) for tool in TOOLS])

    async def call_tool(context: Context, params: CallToolRequestParams) -> CallToolResult:
        return await _called(context.lifespan_context, params.name, params.arguments or {}, names)

    about = "Ask private knowledge graphs in plain words."
    return Server(
        "arog",
        version=version("arog"),
        title="arog",
        description=about,
        instructions=f"{about} Of each result: {NAMES_ARE_READ if names else NAMES_STAY}",
        lifespan=_lifespan(service, http),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def serve_on_stdio(service: ServiceAccess) -> None:
    """Serves one client on standard input and output, until it goes."""
    # Its log would hold requests and texts of errors, which clients write into files.
    logging.getLogger("mcp").setLevel(logging.CRITICAL + 1)
    forbid_core_dumps()
    anyio.run(_serve, make_server(service))


async def _serve(server: Server[Dialogues]) -> None:
    async with stdio_server() as (reads, writes):
        await server.run(reads, writes, server.create_initialization_options())


def _lifespan(
    service: ServiceAccess, http: httpx2.AsyncClient | None
) -> Callable[[Server[Dialogues]], AbstractAsyncContextManager[Dialogues]]:
    @asynccontextmanager
    async def lifespan(_server: Server[Dialogues]) -> AsyncIterator[Dialogues]:
        if http is not None:
            yield Dialogues(service, http)
            return
        async with httpx2.AsyncClient() as client:
            yield Dialogues(service, client)

    return lifespan


def _listed(tool: GraphTool, names: bool) -> Tool:
    return Tool(
        name=tool.name,
        title=tool.title,
        description=description(tool, names),
        input_schema=tool.arguments.model_json_schema(),
        annotations=ToolAnnotations(read_only_hint=True, destructive_hint=False, open_world_hint=False),
    )


async def _called(dialogues: Dialogues, name: str, given: Mapping[str, object], names: bool) -> CallToolResult:
    tool = _BY_NAME.get(name)
    if tool is None:
        return _failed(f"There is no such tool. There are: {', '.join(_BY_NAME)}.")
    try:
        arguments = tool.arguments.model_validate(given)
        return CallToolResult(content=[TextContent(type="text", text=await tool.run(dialogues, arguments, names))])
    except ValidationError as problem:
        return _failed(_argument_problem(problem))
    except ArogError as error:
        return _failed(told(error))
    except Exception as error:
        tell_failure(error, "arog mcp")
        return _failed("Something failed inside `arog mcp`; its standard error says where.")


def _failed(sentence: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=sentence)], is_error=True)


def _argument_problem(problem: ValidationError) -> str:
    """Says which arguments are wrong, and how; never what they held, nor the names of unknown ones."""
    found = problem.errors(include_input=False, include_url=False, include_context=False)
    known = {name for tool in TOOLS for name in tool.arguments.model_fields}
    told = {f"{place if (place := str(each['loc'][0])) in known else 'an argument'}: {each['msg']}" for each in found}
    return f"The arguments are not valid: {'; '.join(sorted(told))}."
