"""Asks each question in the dialogue that its history belongs to, and streams the replies."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Final, get_args

import httpx2
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from client_sdk.answers.answer_notes import NOTHING_TO_RATE, rated_sentence, remarks
from client_sdk.answers.safe_output import MarkdownNeutraliser
from client_sdk.client import AskOptions, AsyncChat
from client_sdk.crypto.sealing import KeyPair
from client_sdk.dialogue import CachedDialogue, DialogueCache, Turn, earlier
from client_sdk.errors import ArogError, UnknownConversationError, tell_failure
from client_sdk.protocol import GraphNames, StageName, Usage
from client_sdk.proxy.errors import ProxyError, error_for, internal
from client_sdk.proxy.protocols import Finished, Reply, comment
from client_sdk.proxy.questions import Question, model_ids
from client_sdk.streaming import Stage, TextPiece
from client_sdk.transport.address import TIMEOUT_S, Bearer
from client_sdk.transport.drivers import AsyncDriver
from client_sdk.transport.flow import GRAPHS, RetryPolicy, exchange
from client_sdk.transport.hang_up import cancel_when_gone, end

_MODELS_S: Final = 20.0
HEARTBEAT_S: Final = 5.0
HUNG_UP: Final = 499
_STAGES: Final = frozenset(get_args(StageName))
Pieces = AsyncGenerator[Stage | str | Finished]


@dataclass(frozen=True, slots=True)
class Upstream:
    """The service behind the proxy, the key pair that its names are sealed to, and the options of each question."""

    url: str
    api_key: Bearer = field(repr=False)
    key: KeyPair = field(repr=False)
    timeout_s: float = TIMEOUT_S
    plain_http: bool = False
    options: AskOptions = field(default_factory=AskOptions)


class Sessions:
    """All dialogues of one proxy, kept in memory only."""

    def __init__(self, upstream: Upstream, http: httpx2.AsyncClient, *, evidence: bool = False) -> None:
        self._upstream, self._http, self._evidence = upstream, http, evidence
        self._histories: DialogueCache[AsyncChat] = DialogueCache()

    async def models(self) -> list[str]:
        """Returns the ids of the models that the service's key may use. Raises ArogError."""
        driver = AsyncDriver(self._upstream.url, self._upstream.api_key, self._http)
        told = await driver.run(exchange(GRAPHS, GraphNames, RetryPolicy(_MODELS_S)))
        return model_ids(told.graphs, told.strategies)

    async def talk(self, question: Question) -> Pieces:
        """Yields stages as they begin, the answer's text in pieces, and Finished last. Raises ArogError.

        A background task is answered here: nothing is sent, and nothing is kept. If the service does not have the
        conversation any more, a new one is begun.
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
        for begun in [known, None] if known else [None]:
            try:
                async with aclosing(self._talk(question, begun)) as pieces:
                    async for piece in pieces:
                        yield piece
                return
            except UnknownConversationError:
                if begun is None:
                    raise
                self._histories.forget(begun.conversation)

    async def _rated(self, question: Question, known: CachedDialogue[AsyncChat] | None) -> str:
        """Rates the last answer of a dialogue, and returns the sentence that replies to the rating.

        Raises ArogError.
        """
        answer = known.chat.last_answer if known and known.turns == len(question.turns) else None
        if known is None or answer is None or question.rating is None:
            return NOTHING_TO_RATE
        rating, correct = question.rating
        return rated_sentence(await known.chat.rate(answer, rating, correct), bool(correct))

    async def _talk(self, question: Question, known: CachedDialogue[AsyncChat] | None) -> Pieces:
        chat = known.chat.fork() if known else self._new(question)
        usages: list[Usage] = []
        for before, ask_again in earlier(question.turns[known.turns if known else 0 :]):
            if not ask_again:
                chat = chat.fork(before)
                continue
            async with chat.stream(before) as stream:
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
        turns = (*question.turns, Turn("user", question.text), Turn("assistant", "".join(said)))
        self._histories.keep(question.topic, turns, chat, answer.conversation)
        yield Finished(answer, (*usages, answer.usage))

    def _new(self, question: Question) -> AsyncChat:
        upstream = self._upstream
        # Without a person, each dialogue counts as its own person, so that its ratings affect no other.
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


class ReplyStream(Response):
    """Sends the events of a reply as its pieces come; stages are sent as comments, which keep the connection open.

    An error before the first piece is an ordinary error reply; later it is an error event, the last one. If the client
    goes away, the work ends, here and at the service.
    """

    media_type = "text/event-stream"

    def __init__(self, reply: Reply, pieces: Pieces, headers: dict[str, str]) -> None:
        super().__init__(headers={**headers, "cache-control": "no-store", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._reply, self._pieces = reply, pieces
        self._said: list[str] = []
        self._began = False
        self._events: asyncio.Queue[bytes | None] = asyncio.Queue()

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        work = asyncio.create_task(self._work())
        watch = cancel_when_gone(receive, work)
        try:
            await self._send_all(send, work)
        finally:
            await end(work, watch)

    async def _work(self) -> None:
        try:
            async with aclosing(self._pieces) as pieces:
                async for piece in pieces:
                    self._events.put_nowait(self._event(piece))
        finally:
            self._events.put_nowait(None)

    def _event(self, piece: Stage | str | Finished) -> bytes:
        """Returns the bytes of a piece; before the first piece, also the events that begin a reply.

        Call it in order, because events are numbered as they are made.
        """
        first, self._began = b"" if self._began else self._reply.first(), True
        return first + self._bytes_of(piece)

    def _bytes_of(self, piece: Stage | str | Finished) -> bytes:
        if isinstance(piece, Stage):
            return comment(piece.name if piece.name in _STAGES else "working")
        if isinstance(piece, Finished):
            return self._reply.last("".join(self._said), piece)
        self._said.append(piece)
        return self._reply.piece(piece)

    async def _send_all(self, send: Send, work: asyncio.Task[None]) -> None:
        began = False
        while (event := await self._next(began)) is not None:
            if not began:
                await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
                began = True
            await _send(send, event)
        await asyncio.wait([work])
        problem = None if work.cancelled() else work.exception()
        if problem is not None and not began:
            raise problem
        if problem is not None:
            await _send(send, self._reply.failure(_told(problem)))
        if began:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _next(self, began: bool) -> bytes | None:
        """Returns the next event, a heartbeat if none comes for HEARTBEAT_S seconds, or None at the end.

        There are no heartbeats before the stream has begun.
        """
        try:
            async with asyncio.timeout(HEARTBEAT_S if began else None):
                return await self._events.get()
        except TimeoutError:
            return comment("ping")


def _told(problem: BaseException) -> ProxyError:
    if isinstance(problem, ArogError):
        return error_for(problem)
    tell_failure(problem, "the proxy")
    return internal()


async def joined(pieces: Pieces) -> tuple[str, Finished]:
    """Returns (text, end): the text of all pieces joined, and the Finished that came last."""
    text: list[str] = []
    finished: Finished | None = None
    async with aclosing(pieces):
        async for piece in pieces:
            if isinstance(piece, str):
                text.append(piece)
            elif isinstance(piece, Finished):
                finished = piece
    assert finished is not None, "a talk that raises nothing ends with its answer"
    return "".join(text), finished


async def _send(send: Send, event: bytes) -> None:
    await send({"type": "http.response.body", "body": event, "more_body": True})
