"""The dialogues of one MCP client: one for each graph that it asks, and the newest answer of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import httpx2

from client_sdk.answers.answer import Answer
from client_sdk.async_client import AsyncChat
from client_sdk.errors import ArogError, BadRequestError, RefusedError, UnknownConversationError
from client_sdk.protocol import LedgerRow
from client_sdk.trace import Trace
from client_sdk.transport.address import TIMEOUT_S
from client_sdk.transport.waiting import OnWait, log_wait


@dataclass(frozen=True, slots=True)
class ServiceAccess:
    """The service, the graph that is asked where none is named, and how names come: restored here, or not at all."""

    url: str
    api_key: str = field(repr=False)
    graph: str
    restore_names: bool = True
    names: int = 50
    timeout_s: float = TIMEOUT_S
    plain_http: bool = False
    on_wait: OnWait = log_wait


@dataclass(frozen=True, slots=True)
class AnsweredTurn:
    """`began_anew`: the service had the earlier dialogue no more, so the question was asked without it."""

    answer: Answer
    began_anew: bool


class Dialogues:
    """Keeps dialogues in memory, and nothing anywhere else. Every method raises ArogError."""

    def __init__(self, service: ServiceAccess, http: httpx2.AsyncClient) -> None:
        self._service, self._http = service, http
        self._chats: dict[str, AsyncChat] = {}
        self._newest: tuple[AsyncChat, Answer] | None = None

    async def ask(self, question: str, graph: str | None, *, anew: bool) -> AnsweredTurn:
        """Asks in the dialogue with `graph` as it stands, or in a new one."""
        name = graph or self._service.graph
        chat = self._chats.get(name) or self._open(name)
        if anew:
            await chat.reset()
        try:
            answer, began_anew = await chat.ask(question), False
        except UnknownConversationError:
            await chat.reset()
            answer, began_anew = await chat.ask(question), True
        # One that was never answered may be of a graph that is not there.
        self._chats[name], self._newest = chat, (chat, answer)
        return AnsweredTurn(answer, began_anew)

    async def graphs(self) -> list[str]:
        """The names of the graphs that the key may ask."""
        return await self._open(self._service.graph).graphs()

    def newest(self) -> Answer:
        return self._asked()[1]

    async def trace(self) -> Trace | Sequence[LedgerRow]:
        """Prompts and replies of the newest answer with names where they are restored and the key may have them, else
        its requests in pseudonyms, oldest first."""
        chat, answer = self._asked()
        if self._service.restore_names:
            try:
                return await chat.trace(answer.id)
            except RefusedError as refused:
                if refused.code != "unknown_answer":
                    raise
        return (await chat.ledger(answer.id))[::-1]

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


_HINTS = {
    "not_authenticated": "Check AROG_API_KEY in the client's settings of this server",
    "unknown_graph": "`list_graphs` names those that may be asked",
}


def told(error: ArogError) -> str:
    """One line for whoever reads a tool's result: what happened, what to do, and the id to look it up."""
    parts = [str(error), _HINTS.get(error.code, error.hint)]
    sentences = [part[0].upper() + part[1:] for part in parts if part]
    ended = [each if each.endswith((".", "?", "!")) else f"{each}." for each in sentences]
    return " ".join([*ended, f"(id {error.id})"] if error.id else ended)
