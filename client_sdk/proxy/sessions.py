"""Sessions: each question is asked in the dialogue that its history belongs to, and its answer becomes inert text."""

from __future__ import annotations

import secrets
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Final

import httpx2

from client_sdk.answers.answer import Answer
from client_sdk.answers.answer_notes import remarks
from client_sdk.answers.ratings import NOTHING_TO_RATE, rated_sentence
from client_sdk.answers.safe_output import MarkdownNeutraliser
from client_sdk.async_client import AsyncChat
from client_sdk.crypto.sealing import KeyPair
from client_sdk.dialogue import Turn
from client_sdk.dialogue_cache import CachedDialogue, DialogueCache, earlier
from client_sdk.errors import UnknownConversationError
from client_sdk.options import AskOptions
from client_sdk.protocol import GraphNames, Usage
from client_sdk.proxy.events import Finished
from client_sdk.proxy.questions import Question, model_ids
from client_sdk.streaming import Stage, TextPiece
from client_sdk.transport.address import TIMEOUT_S
from client_sdk.transport.calls import graphs_call
from client_sdk.transport.drivers import AsyncDriver
from client_sdk.transport.flow import RetryPolicy, exchange

MODELS_S: Final = 20.0


@dataclass(frozen=True, slots=True)
class Upstream:
    """The service, the key pair that its names are sealed to, and limits of each question."""

    url: str
    api_key: str = field(repr=False)
    key: KeyPair = field(repr=False)
    timeout_s: float = TIMEOUT_S
    plain_http: bool = False
    options: AskOptions = field(default_factory=AskOptions)


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

    async def talk(self, question: Question) -> AsyncGenerator[Stage | str | Finished]:
        """Stages as they begin, the answer's text in pieces, and the answer last. Raises ArogError.

        A chore is answered here: nothing is sent, and nothing is kept. A conversation that the service has no more is
        begun anew.
        """
        if question.background is not None:
            yield question.background.reply
            yield Finished(None, task=question.background)
            return
        known = self._histories.find(question.topic, question.turns)
        if question.rating is not None:
            yield await self._rated(question, known)
            yield Finished(None)
            return
        try:
            async with aclosing(self._talk(question, known)) as pieces:
                async for piece in pieces:
                    yield piece
        except UnknownConversationError:
            if known is None:
                raise
            self._histories.forget(known.conversation)
            async with aclosing(self._talk(question, None)) as pieces:
                async for piece in pieces:
                    yield piece

    async def _rated(self, question: Question, known: CachedDialogue[AsyncChat] | None) -> str:
        """Rates the last answer of a dialogue; the sentence that replies to it. Raises ArogError."""
        answer = known.chat.last_answer if known and known.turns == len(question.turns) else None
        if known is None or answer is None or question.rating is None:
            return NOTHING_TO_RATE
        rating, correct = question.rating
        return rated_sentence(await known.chat.rate(answer, rating, correct), bool(correct))

    async def _talk(
        self, question: Question, known: CachedDialogue[AsyncChat] | None
    ) -> AsyncGenerator[Stage | str | Finished]:
        chat = known.chat.fork() if known else self._new(question)
        usages: list[Usage] = []
        for before in earlier(question.turns[known.turns if known else 0 :]):
            if not before.ask:
                chat = chat.fork(before.text)
                continue
            async with chat.stream(before.text) as stream:
                async for piece in stream:
                    if isinstance(piece, Stage):
                        yield piece
            usages.append((await stream.answer()).usage)
        inert, said = MarkdownNeutraliser(), []
        async with chat.stream(question.text) as stream:
            async for piece in stream:
                if isinstance(piece, Stage):
                    yield piece
                elif isinstance(piece, TextPiece) and (text := inert.push(piece.text)):
                    said.append(text)
                    yield text
        answer = await stream.answer()
        if after := inert.push(remarks(answer, explained=True, evidence=self._evidence)):
            said.append(after)
            yield after
        self._keep(question, "".join(said), chat, answer)
        yield Finished(answer, (*usages, answer.usage))

    def _new(self, question: Question) -> AsyncChat:
        upstream = self._upstream
        # Without a sign of who asks, a dialogue is a person of its own: its ratings reach nobody else's answers.
        person = question.person or secrets.token_hex()
        options: AskOptions = {"suggestions": 0, **upstream.options, "person": person}
        return AsyncChat(
            upstream.url,
            upstream.api_key,
            question.graph,
            strategy=question.strategy,
            key=upstream.key,
            timeout_s=upstream.timeout_s,
            plain_http=upstream.plain_http,
            http=self._http,
            **options,
        )

    def _keep(self, question: Question, text: str, chat: AsyncChat, answer: Answer) -> None:
        turns = (*question.turns, Turn("user", question.text), Turn("assistant", text))
        self._histories.keep(question.topic, turns, chat, answer.conversation)
