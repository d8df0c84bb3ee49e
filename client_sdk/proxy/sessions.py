"""Talks: each question is asked in the dialogue that its history belongs to, and its answer becomes inert text."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Final

import httpx2

from client_sdk.answers.answer import Answer
from client_sdk.answers.answer_notes import remarks
from client_sdk.answers.safe_output import MarkdownNeutraliser
from client_sdk.async_client import AsyncChat
from client_sdk.crypto.sealing import KeyPair
from client_sdk.dialogue import Turn
from client_sdk.dialogue_cache import CachedDialogue, DialogueCache, earlier
from client_sdk.errors import UnknownConversationError
from client_sdk.protocol import GraphNames, Usage
from client_sdk.proxy.requests import Wanted
from client_sdk.proxy.responses import Spoken, model_ids
from client_sdk.streaming import Stage, TextPiece
from client_sdk.transport.address import TIMEOUT_S
from client_sdk.transport.calls import graphs_call
from client_sdk.transport.drivers import AsyncDriver
from client_sdk.transport.flow import RetryPolicy, exchange

MODELS_S: Final = 20.0


@dataclass(frozen=True, slots=True)
class Upstream:
    """The service, and the key pair that its names are sealed to."""

    url: str
    api_key: str = field(repr=False)
    key: KeyPair = field(repr=False)
    timeout_s: float = TIMEOUT_S
    plain_http: bool = False
    names: int = 50


class Sessions:
    """All talks of one proxy. Keeps dialogues in memory, and nothing anywhere else."""

    def __init__(self, upstream: Upstream, http: httpx2.AsyncClient, *, evidence: bool = False) -> None:
        self._upstream, self._http, self._evidence = upstream, http, evidence
        self._histories: DialogueCache[AsyncChat] = DialogueCache()

    async def models(self) -> list[str]:
        """The ids of the models that the service's key may use. Raises ArogError."""
        driver = AsyncDriver(self._upstream.url, self._upstream.api_key, self._http)
        told = await driver.run(exchange(graphs_call(), GraphNames, RetryPolicy(MODELS_S), time.monotonic))
        return model_ids(told.graphs, told.strategies)

    async def talk(self, wanted: Wanted) -> AsyncGenerator[Stage | str | Spoken]:
        """Stages as they begin, the answer's text in pieces, and the answer last. Raises ArogError.

        A conversation that the service has no more is begun anew.
        """
        known = self._histories.find(wanted.topic, wanted.turns)
        try:
            async with aclosing(self._talk(wanted, known)) as pieces:
                async for piece in pieces:
                    yield piece
        except UnknownConversationError:
            if known is None:
                raise
            self._histories.forget(known.conversation)
            async with aclosing(self._talk(wanted, None)) as pieces:
                async for piece in pieces:
                    yield piece

    async def _talk(
        self, wanted: Wanted, known: CachedDialogue[AsyncChat] | None
    ) -> AsyncGenerator[Stage | str | Spoken]:
        chat = known.chat.fork() if known else self._new(wanted)
        usages: list[Usage] = []
        for before in earlier(wanted.turns[known.turns if known else 0 :]):
            if not before.ask:
                chat = chat.fork(before.text)
                continue
            async with chat.stream(before.text) as stream:
                async for piece in stream:
                    if isinstance(piece, Stage):
                        yield piece
            usages.append((await stream.answer()).usage)
        inert, said = MarkdownNeutraliser(), []
        async with chat.stream(wanted.question) as stream:
            async for piece in stream:
                if isinstance(piece, Stage):
                    yield piece
                elif isinstance(piece, TextPiece) and (text := inert.push(piece.text)):
                    said.append(text)
                    yield text
        answer = await stream.answer()
        if after := inert.push(remarks(answer, evidence=self._evidence)):
            said.append(after)
            yield after
        self._keep(wanted, "".join(said), chat, answer)
        yield Spoken(answer, (*usages, answer.usage))

    def _new(self, wanted: Wanted) -> AsyncChat:
        upstream = self._upstream
        return AsyncChat(
            upstream.url,
            upstream.api_key,
            wanted.graph,
            strategy=wanted.strategy,
            key=upstream.key,
            timeout_s=upstream.timeout_s,
            plain_http=upstream.plain_http,
            http=self._http,
            names=upstream.names,
        )

    def _keep(self, wanted: Wanted, text: str, chat: AsyncChat, answer: Answer) -> None:
        turns = (*wanted.turns, Turn("user", wanted.question), Turn("assistant", text))
        self._histories.keep(wanted.topic, turns, chat, answer.conversation)
