"""AsyncChat: Chat for asyncio."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Sequence
from typing import Self, Unpack

import httpx2

from client_sdk.answers.answer import Answer
from client_sdk.chat_base import ChatBase
from client_sdk.options import AskOptions
from client_sdk.protocol import (
    AnswerRated,
    ChatAnswer,
    GraphNames,
    LedgerPage,
    LedgerRow,
    RatingWord,
    SealedTrace,
    StrategyName,
)
from client_sdk.streaming import AsyncStream, Piece
from client_sdk.trace import Trace
from client_sdk.transport.calls import chat_call, graphs_call, ledger_call, rating_call, rows_of, trace_call
from client_sdk.transport.drivers import AsyncDriver
from client_sdk.transport.flow import RetryPolicy, exchange, opening
from client_sdk.transport.turn_lock import AsyncTurnLock


class AsyncChat(ChatBase[httpx2.AsyncClient, AsyncDriver, AsyncTurnLock]):
    """Chat for asyncio: `async with AsyncChat(...) as chat: answer = await chat.ask(...)`.

    Takes what Chat takes. Tasks may share one: one question is asked after the other.
    """

    _driver_of, _lock_of = AsyncDriver, AsyncTurnLock

    async def ask(
        self,
        question: str,
        *,
        strategy: StrategyName | None = None,
        timeout_s: float | None = None,
        **options: Unpack[AskOptions],
    ) -> Answer:
        """Asks, waits, restores. Raises ArogError; then, and when cancelled, the dialogue is as it was before."""
        async with self._turns.turn():
            request = self._dialogue.request(question, strategy, options)
            flow = exchange(chat_call(request), ChatAnswer, self._within(timeout_s), time.monotonic)
            return self._ratable(self._dialogue.accept(question, await self._driver.run(flow)), self.rate)

    def stream(
        self,
        question: str,
        *,
        strategy: StrategyName | None = None,
        timeout_s: float | None = None,
        **options: Unpack[AskOptions],
    ) -> AsyncStream:
        """As Chat.stream."""
        self._dialogue.request(question, strategy, options)
        return AsyncStream(self._pieces(question, strategy, self._within(timeout_s), options))

    async def _pieces(
        self, question: str, strategy: StrategyName | None, patience: RetryPolicy, options: AskOptions
    ) -> AsyncGenerator[Piece]:
        async with self._turns.turn():
            request, reader = self._dialogue.request(question, strategy, options, stream=True), self._dialogue.reader()
            async with self._driver.streaming(opening(chat_call(request), patience, time.monotonic)) as events:
                async for event in events:
                    for piece in reader.read(event.event, event.data):
                        yield piece
                    if reader.is_done:
                        break
            answer = self._ratable(self._dialogue.accept(question, reader.whole()), self.rate)
        yield answer

    async def rate(self, answer: Answer, rating: RatingWord, correct: Sequence[str] | None = None) -> AnswerRated:
        """As Chat.rate."""
        call = rating_call(self._rating_of(answer, rating, correct))
        async with self._turns.turn():
            return await self._driver.run(exchange(call, AnswerRated, self._patience, time.monotonic))

    async def graphs(self) -> list[str]:
        """As Chat.graphs."""
        flow = exchange(graphs_call(), GraphNames, self._patience, time.monotonic)
        return (await self._driver.run(flow)).graphs

    async def trace(self, answer_id: str) -> Trace:
        """As Chat.trace."""
        call = trace_call(answer_id, self._dialogue.public_key)
        flow = exchange(call, SealedTrace, self._patience, time.monotonic)
        return self._dialogue.open_trace(answer_id, await self._driver.run(flow))

    async def ledger(self, answer_id: str | None = None, limit: int = 100) -> list[LedgerRow]:
        """As Chat.ledger."""
        flow = exchange(ledger_call(answer_id, limit), LedgerPage, self._patience, time.monotonic)
        return rows_of(await self._driver.run(flow), answer_id)

    async def reset(self) -> None:
        """As Chat.reset."""
        async with self._turns.turn():
            self._dialogue.reset()

    async def close(self) -> None:
        await self._driver.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_raised: object) -> None:
        await self.close()
