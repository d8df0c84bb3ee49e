"""`arog mcp`: tools for MCP clients, which ask a graph and restore names on the asker's own machine."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from typing import Final

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
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from client_sdk.answers.answer import Answer
from client_sdk.answers.answer_notes import remarks
from client_sdk.answers.safe_output import MarkdownNeutraliser, printable
from client_sdk.client import AsyncChat
from client_sdk.crypto.key_file import forbid_core_dumps
from client_sdk.errors import (
    ArogError,
    BadRequestError,
    RefusedError,
    UnknownConversationError,
    in_sentences,
    tell_failure,
)
from client_sdk.protocol import MAX_MESSAGE_CHARS, LedgerRow
from client_sdk.trace import Trace, readable_payload
from client_sdk.transport.address import TIMEOUT_S, Bearer
from client_sdk.transport.flow import OnWait, log_wait

_NAMES_ARE_READ: Final = (
    "It holds real names of a private graph, put back on this machine: the model that this client works with reads "
    "them, and so does whoever runs that model."
)
_NAMES_STAY: Final = (
    "It holds pseudonyms such as Eq7f2k in place of names: no name leaves the service, and none can be looked up here."
)
_HINTS: Final = {
    "not_authenticated": "Check AROG_API_KEY in the client's settings of this server",
    "unknown_graph": "`list_graphs` names those that may be asked",
}


@dataclass(frozen=True, slots=True)
class ServiceAccess:
    """The service, the graph to ask by default, and whether names are restored here or not at all."""

    url: str
    api_key: Bearer = field(repr=False)
    graph: str
    restore_names: bool = True
    names: int = 50
    timeout_s: float = TIMEOUT_S
    plain_http: bool = False
    on_wait: OnWait = log_wait


class NoArguments(BaseModel):
    """The arguments of a tool that takes none."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class Question(NoArguments):
    """The arguments of `ask`."""

    question: str = Field(min_length=1, max_length=MAX_MESSAGE_CHARS, description="The question, in plain words")
    graph: str | None = Field(default=None, description="The graph to ask; list_graphs names them")
    new_dialogue: bool = Field(default=False, description="Forget what was asked of this graph before")


@dataclass(frozen=True, slots=True)
class _GraphTool:
    title: str
    does: str
    arguments: type[NoArguments] = NoArguments
    holds_names: bool = True


_TOOLS: Final = {
    "ask": _GraphTool(
        "Ask a graph",
        "Ask a private knowledge graph a question in plain words, and get its answer. Questions of one session may "
        "lean on earlier ones: 'and Rose?', 'the second one'.",
        Question,
    ),
    "why": _GraphTool(
        "Explain the last answer",
        "Explain the last answer: the path that was followed through the graph, and the facts that were looked at.",
    ),
    "what_the_model_saw": _GraphTool(
        "Show what the service's model saw",
        "Show what the language model behind the service was sent and replied for the last answer, in pseudonyms.",
    ),
    "list_graphs": _GraphTool("List the graphs", "List the graphs that may be asked.", holds_names=False),
}


class Dialogues:
    """The dialogues of one MCP client: one for each graph that it asks, and the newest answer of all.

    They are kept in memory only. Every method raises ArogError.
    """

    def __init__(self, service: ServiceAccess, http: httpx2.AsyncClient) -> None:
        self._service, self._http = service, http
        self._chats: dict[str, AsyncChat] = {}
        self._newest: tuple[AsyncChat, Answer] | None = None

    async def call(self, tool: str, arguments: NoArguments) -> str:
        """Returns the result of a tool."""
        if isinstance(arguments, Question):
            return await self._ask(arguments)
        match tool:
            case "why":
                return self._why()
            case "what_the_model_saw":
                return await self._what_the_model_saw()
        graphs = await self._open(self._service.graph).graphs()
        return "\n".join(graphs) or "There is no graph that this API key may ask."

    async def _ask(self, asked: Question) -> str:
        """Asks in the dialogue with the graph, or in a new one; returns the answer and what to know beside it.

        Links, images and tags in it are made inactive. If names are not restored, no word of the question is repeated,
        because it may be a name.
        """
        name, before, after = asked.graph or self._service.graph, "", ""
        chat = self._chats.get(name) or self._open(name)
        if asked.new_dialogue:
            await chat.reset()
        try:
            answer = await chat.ask(asked.question)
        except UnknownConversationError:
            await chat.reset()
            answer = await chat.ask(asked.question)
            before = "The earlier dialogue had expired, so this was asked without it.\n\n"
        # Stored only after an answer, because the graph of an unanswered dialogue may not exist.
        self._chats[name], self._newest = chat, (chat, answer)
        if answer.inexact and not self._service.restore_names:
            answer, after = replace(answer, inexact={}), "\n\nA name of the question was read in another spelling."
        return MarkdownNeutraliser().push(before + answer.text + remarks(answer) + after)

    def _why(self) -> str:
        _, answer = self._asked()
        facts = [f"- {fact}" for fact in answer.evidence] or ["- none"]
        notes = ["Notes:", *(f"- {note}" for note in answer.notes)] if answer.notes else []
        return MarkdownNeutraliser().push("\n".join([answer.why(), "Facts that were looked at:", *facts, *notes]))

    async def _what_the_model_saw(self) -> str:
        """Returns the prompts and replies of the newest answer, with names if they are restored and permitted.

        Otherwise returns its requests in pseudonyms, oldest first.
        """
        chat, answer = self._asked()
        if self._service.restore_names:
            try:
                return _trace_text(await chat.trace(answer.id))
            except RefusedError as refused:
                if refused.code != "unknown_answer":
                    raise
        return _ledger_text((await chat.ledger(answer.id))[::-1])

    def _asked(self) -> tuple[AsyncChat, Answer]:
        if self._newest is None:
            raise BadRequestError("nothing has been asked yet", code="no_answer", hint="call `ask` first")
        return self._newest

    def _open(self, graph: str) -> AsyncChat:
        service = self._service
        return AsyncChat(
            service.url,
            service.api_key,
            graph,
            timeout_s=service.timeout_s,
            plain_http=service.plain_http,
            restore_names=service.restore_names,
            on_wait=service.on_wait,
            http=self._http,
            names=service.names,
            suggestions=0,
        )


def _trace_text(trace: Trace) -> str:
    """Returns each prompt and reply as it left, in pseudonyms, and at the end the names that these stand for."""
    if not trace.steps:
        return "The model was sent nothing."
    parts = []
    for number, step in enumerate(trace.steps, start=1):
        prompt, reply = readable_payload(step.prompt), readable_payload(step.reply)
        parts += [f"{number}. {step.step}: sent", prompt, "replied", reply]
    met = sorted(word for word in trace.pseudonyms if any(word in part for part in parts))
    if met:
        parts.append("\n".join(["On this machine:", *(f"{word} = {trace.with_names(word)}" for word in met)]))
    return printable("\n\n".join(parts))


def _ledger_text(rows: Sequence[LedgerRow]) -> str:
    """Returns the requests as they left, in pseudonyms."""
    parts = [f"{number}. {row.step}: sent\n\n{readable_payload(row.payload)}" for number, row in enumerate(rows, 1)]
    return printable("\n\n".join(parts)) or "The model was sent nothing."


def make_server(service: ServiceAccess, http: httpx2.AsyncClient | None = None) -> Server[Dialogues]:
    """Returns a server that gives each connection its own dialogues. `http` may be your own client."""
    of_names = _NAMES_ARE_READ if service.restore_names else _NAMES_STAY

    async def list_tools(
        _context: ServerRequestContext[Dialogues], _params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return ListToolsResult(tools=[_listed(name, tool, of_names) for name, tool in _TOOLS.items()])

    async def call_tool(context: ServerRequestContext[Dialogues], params: CallToolRequestParams) -> CallToolResult:
        return await _called(context.lifespan_context, params.name, params.arguments or {})

    @asynccontextmanager
    async def lifespan(_server: Server[Dialogues]) -> AsyncIterator[Dialogues]:
        async with nullcontext(http) if http is not None else httpx2.AsyncClient() as client:
            yield Dialogues(service, client)

    about = "Ask private knowledge graphs in plain words."
    return Server(
        "arog",
        version=version("arog"),
        title="arog",
        description=about,
        instructions=f"{about} Of each result: {of_names}",
        lifespan=lifespan,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def serve_on_stdio(service: ServiceAccess) -> None:
    """Serves one client on standard input and output, until it disconnects."""
    # The library's log would contain requests and texts of errors, which clients write into files.
    logging.getLogger("mcp").setLevel(logging.CRITICAL + 1)
    forbid_core_dumps()
    server = make_server(service)

    async def serve() -> None:
        async with stdio_server() as (reads, writes):
            await server.run(reads, writes, server.create_initialization_options())

    anyio.run(serve)


def _listed(name: str, tool: _GraphTool, of_names: str) -> Tool:
    """Returns a tool as it is described to a client's model."""
    return Tool(
        name=name,
        title=tool.title,
        description=f"{tool.does} {of_names}" if tool.holds_names else tool.does,
        input_schema=tool.arguments.model_json_schema(),
        annotations=ToolAnnotations(read_only_hint=True, destructive_hint=False, open_world_hint=False),
    )


async def _called(dialogues: Dialogues, name: str, given: Mapping[str, object]) -> CallToolResult:
    """Returns the result of a call; a failure is a sentence that a person can read."""
    if name not in _TOOLS:
        return _result(f"There is no such tool. There are: {', '.join(_TOOLS)}.", is_error=True)
    try:
        return _result(await dialogues.call(name, _TOOLS[name].arguments.model_validate(given)))
    except ValidationError as problem:
        return _result(_argument_problem(problem), is_error=True)
    except ArogError as error:
        told = in_sentences(error, _HINTS)
        return _result(told[0].upper() + told[1:], is_error=True)
    except Exception as error:
        tell_failure(error, "arog mcp")
        return _result("Something failed inside `arog mcp`; its standard error says where.", is_error=True)


def _result(text: str, *, is_error: bool = False) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=is_error)


def _argument_problem(problem: ValidationError) -> str:
    """Returns a sentence on which arguments are wrong and why, without their content or the names of unknown ones."""
    found = problem.errors(include_input=False, include_url=False, include_context=False)
    told = {
        f"{place if (place := str(each['loc'][0])) in Question.model_fields else 'an argument'}: {each['msg']}"
        for each in found
    }
    return f"The arguments are not valid: {'; '.join(sorted(told))}."
