"""Chat and AsyncChat: ask a graph questions in dialogue, and get answers with their names restored."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncGenerator, Generator
from types import TracebackType
from typing import Self
from urllib.parse import quote

import httpx2

from client_sdk._drivers import AsyncDriver, BlockingDriver
from client_sdk._flow import Call, exchange, opening
from client_sdk._turns import AsyncTurns, Turns
from client_sdk.address import checked_key, checked_url, settings_from_env
from client_sdk.answer import Answer
from client_sdk.dialogue import Dialogue, Turn
from client_sdk.key_file import load_or_create_key
from client_sdk.protocol import ChatAnswer, ChatRequest, LedgerPage, LedgerRow, SealedTrace
from client_sdk.sealing import KeyPair
from client_sdk.streaming import AsyncStream, Piece, Stream
from client_sdk.trace import Trace

TIMEOUT_S = 120.0


class Chat:
    """A dialogue with one graph. Every question sees the earlier ones; `reset` begins anew.

        with Chat("http://127.0.0.1:8000", api_key, "demo") as chat:
            print(chat.ask("Who treats Anna Keller?").text)

    `key` is the pair that capsules are sealed to; by default the one in the user's config folder, made there
    at the first use. Options hold for every question, and `ask` may change them for one: `width` (relations a
    round), `depth` (rounds), `relations_per_concept`, `names` (restored of one set). `timeout_s` is the
    deadline of one question with all its repetitions. Over plain http the API key and the question travel
    readable, so that is for loopback alone, unless `plain_http` says otherwise. `http` may be a client of
    your own (certificates, proxy); it is not closed here.

    Threads may share a Chat: one question is asked after the other, each seeing those before. For dialogues
    that don't share their history, use one Chat each.
    """

    def __init__(
        self,
        url: str,
        api_key: str,
        graph: str,
        *,
        strategy: str = "sets",
        key: KeyPair | None = None,
        timeout_s: float = TIMEOUT_S,
        plain_http: bool = False,
        http: httpx2.Client | None = None,
        **options: int,
    ) -> None:
        url, api_key = checked_url(url, plain_http), checked_key(api_key)
        self._dialogue = Dialogue(graph, key or load_or_create_key(), strategy, options)
        self._timeout_s = timeout_s
        self._driver = BlockingDriver(url, api_key, http)
        self._turns = Turns()

    @classmethod
    def from_env(
        cls,
        *,
        strategy: str = "sets",
        key: KeyPair | None = None,
        timeout_s: float = TIMEOUT_S,
        plain_http: bool = False,
        http: httpx2.Client | None = None,
        **options: int,
    ) -> Self:
        """Reads AROG_API_KEY, AROG_URL (http://127.0.0.1:8000) and AROG_GRAPH (demo). Raises NotConfigured."""
        url, api_key, graph = settings_from_env(os.environ)
        return cls(
            url,
            api_key,
            graph,
            strategy=strategy,
            key=key,
            timeout_s=timeout_s,
            plain_http=plain_http,
            http=http,
            **options,
        )

    def ask(
        self, question: str, *, strategy: str | None = None, timeout_s: float | None = None, **options: int
    ) -> Answer:
        """Asks, waits, restores. Raises ArogError, and then the dialogue is as it was before."""
        with self._turns.turn():
            request = self._dialogue.request(question, strategy, options)
            flow = exchange(_chat_call(request), ChatAnswer, timeout_s or self._timeout_s, time.monotonic)
            return self._dialogue.accept(question, self._driver.run(flow))

    def stream(
        self, question: str, *, strategy: str | None = None, timeout_s: float | None = None, **options: int
    ) -> Stream:
        """Asks, and gives the answer in pieces as they come: stages, text with its names restored, the Answer.

        Takes what `ask` takes. Raises BadRequest and TooLarge at once, and ArogError while it is read; then the
        dialogue is as it was before. See Stream.
        """
        self._dialogue.request(question, strategy, options)
        return Stream(self._pieces(question, strategy, timeout_s or self._timeout_s, options))

    def _pieces(
        self, question: str, strategy: str | None, timeout_s: float, options: dict[str, int]
    ) -> Generator[Piece]:
        with self._turns.turn():
            request, reader = self._dialogue.request(question, strategy, options, stream=True), self._dialogue.reader()
            with self._driver.streaming(opening(_chat_call(request), timeout_s, time.monotonic)) as events:
                for event in events:
                    if piece := reader.read(event.event, event.data):
                        yield piece
                    if reader.is_done:
                        break
            answer = self._dialogue.accept(question, reader.whole())
        yield answer

    def trace(self, answer_id: str) -> Trace:
        """Each prompt and reply of one answer, with the names that its pseudonyms stand for.

        For the key that asked, with the grant `inspect:GRAPH`, and for an admin's; else raises Refused.
        """
        call = _trace_call(answer_id, self._dialogue.public_key)
        flow = exchange(call, SealedTrace, self._timeout_s, time.monotonic)
        return self._dialogue.open_trace(answer_id, self._driver.run(flow))

    def ledger(self, answer_id: str | None = None, limit: int = 100) -> list[LedgerRow]:
        """What the model was sent for this key's questions, newest first: all of it, or one answer's."""
        flow = exchange(_ledger_call(answer_id, limit), LedgerPage, self._timeout_s, time.monotonic)
        return _rows(self._driver.run(flow), answer_id)

    @property
    def history(self) -> list[Turn]:
        """The turns so far as the user saw them, names restored."""
        return self._dialogue.shown

    def reset(self) -> None:
        """Forgets the dialogue; the next question begins a new conversation with new pseudonyms."""
        with self._turns.turn():
            self._dialogue.reset()

    def close(self) -> None:
        self._driver.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncChat:
    """Chat for asyncio: `async with AsyncChat(...) as chat: answer = await chat.ask(...)`.

    Takes what Chat takes. Tasks may share one: one question is asked after the other.
    """

    def __init__(
        self,
        url: str,
        api_key: str,
        graph: str,
        *,
        strategy: str = "sets",
        key: KeyPair | None = None,
        timeout_s: float = TIMEOUT_S,
        plain_http: bool = False,
        http: httpx2.AsyncClient | None = None,
        **options: int,
    ) -> None:
        url, api_key = checked_url(url, plain_http), checked_key(api_key)
        self._dialogue = Dialogue(graph, key or load_or_create_key(), strategy, options)
        self._timeout_s = timeout_s
        self._driver = AsyncDriver(url, api_key, http)
        self._turns = AsyncTurns()

    @classmethod
    def from_env(
        cls,
        *,
        strategy: str = "sets",
        key: KeyPair | None = None,
        timeout_s: float = TIMEOUT_S,
        plain_http: bool = False,
        http: httpx2.AsyncClient | None = None,
        **options: int,
    ) -> Self:
        """As Chat.from_env."""
        url, api_key, graph = settings_from_env(os.environ)
        return cls(
            url,
            api_key,
            graph,
            strategy=strategy,
            key=key,
            timeout_s=timeout_s,
            plain_http=plain_http,
            http=http,
            **options,
        )

    async def ask(
        self, question: str, *, strategy: str | None = None, timeout_s: float | None = None, **options: int
    ) -> Answer:
        """Asks, waits, restores. Raises ArogError; then, and when cancelled, the dialogue is as it was before."""
        async with self._turns.turn():
            request = self._dialogue.request(question, strategy, options)
            flow = exchange(_chat_call(request), ChatAnswer, timeout_s or self._timeout_s, time.monotonic)
            return self._dialogue.accept(question, await self._driver.run(flow))

    def stream(
        self, question: str, *, strategy: str | None = None, timeout_s: float | None = None, **options: int
    ) -> AsyncStream:
        """As Chat.stream."""
        self._dialogue.request(question, strategy, options)
        return AsyncStream(self._pieces(question, strategy, timeout_s or self._timeout_s, options))

    async def _pieces(
        self, question: str, strategy: str | None, timeout_s: float, options: dict[str, int]
    ) -> AsyncGenerator[Piece]:
        async with self._turns.turn():
            request, reader = self._dialogue.request(question, strategy, options, stream=True), self._dialogue.reader()
            async with self._driver.streaming(opening(_chat_call(request), timeout_s, time.monotonic)) as events:
                async for event in events:
                    if piece := reader.read(event.event, event.data):
                        yield piece
                    if reader.is_done:
                        break
            answer = self._dialogue.accept(question, reader.whole())
        yield answer

    async def trace(self, answer_id: str) -> Trace:
        """As Chat.trace."""
        call = _trace_call(answer_id, self._dialogue.public_key)
        flow = exchange(call, SealedTrace, self._timeout_s, time.monotonic)
        return self._dialogue.open_trace(answer_id, await self._driver.run(flow))

    async def ledger(self, answer_id: str | None = None, limit: int = 100) -> list[LedgerRow]:
        """As Chat.ledger."""
        flow = exchange(_ledger_call(answer_id, limit), LedgerPage, self._timeout_s, time.monotonic)
        return _rows(await self._driver.run(flow), answer_id)

    @property
    def history(self) -> list[Turn]:
        """The turns so far as the user saw them, names restored."""
        return self._dialogue.shown

    async def reset(self) -> None:
        """As Chat.reset."""
        async with self._turns.turn():
            self._dialogue.reset()

    async def close(self) -> None:
        await self._driver.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def _chat_call(request: ChatRequest) -> Call:
    body = request.model_dump_json(exclude_none=True).encode()
    return Call("POST", "/chat", body, streamed=request.stream)


def _ledger_call(answer_id: str | None, limit: int) -> Call:
    wanted = {"answer": answer_id} if answer_id is not None else {}
    return Call("GET", "/ledger", params={"limit": str(limit), **wanted}, repeatable=True)


def _trace_call(answer_id: str, public_key: str) -> Call:
    return Call("GET", f"/trace/{quote(answer_id, safe='')}", params={"public_key": public_key}, repeatable=True)


def _rows(page: LedgerPage, answer_id: str | None) -> list[LedgerRow]:
    return [row for row in page.entries if answer_id in (None, row.answer)]
