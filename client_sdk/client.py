"""Chat: asks a graph questions in dialogue, and gives answers with their names restored."""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
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
from client_sdk.streaming import Piece, Stream
from client_sdk.trace import Trace
from client_sdk.transport.calls import chat_call, graphs_call, ledger_call, rating_call, rows_of, trace_call
from client_sdk.transport.drivers import BlockingDriver
from client_sdk.transport.flow import RetryPolicy, exchange, opening
from client_sdk.transport.turn_lock import TurnLock


class Chat(ChatBase[httpx2.Client, BlockingDriver, TurnLock]):
    """A dialogue with one graph. Every question sees the earlier ones; `reset` begins anew.

        with Chat("http://127.0.0.1:8000", api_key, "demo") as chat:
            print(chat.ask("Who treats Anna Keller?").text)

    `key` is the pair that capsules are sealed to; by default the one in the user's config folder, made there
    at the first use. Options hold for every question, and `ask` may change them for one: `width` (relations a
    round), `depth` (rounds), `relations_per_concept`, `names` (restored of one set), `suggestions` (questions
    to go on with). Over plain http the API key and the question travel readable, so that is for loopback alone, unless
    `plain_http` says otherwise. `http` may be a client of your own (certificates, proxy); it is not closed here.

    `timeout_s` is the deadline of one question with all its repetitions, `connect_timeout_s` that of a connection.
    A question is sent again only where the service has not taken it: `connect_retries` times when no connection
    comes about, `retries` times when the service says when to come back; `on_wait` is told of each such wait, and logs
    a warning by default. What broke after it was sent is not sent again: it may have been answered, and paid for.

    With `restore_names=False` no public key is sent and no key file is made: names stay at the service, and answers,
    evidence and notes come in pseudonyms.

    Threads may share a Chat: one question is asked after the other, each seeing those before. For dialogues
    that don't share their history, use one Chat each.
    """

    _driver_of, _lock_of = BlockingDriver, TurnLock

    def ask(
        self,
        question: str,
        *,
        strategy: StrategyName | None = None,
        timeout_s: float | None = None,
        **options: Unpack[AskOptions],
    ) -> Answer:
        """Asks, waits, restores. Raises ArogError, and then the dialogue is as it was before."""
        with self._turns.turn():
            request = self._dialogue.request(question, strategy, options)
            flow = exchange(chat_call(request), ChatAnswer, self._within(timeout_s), time.monotonic)
            return self._ratable(self._dialogue.accept(question, self._driver.run(flow)), self.rate)

    def stream(
        self,
        question: str,
        *,
        strategy: StrategyName | None = None,
        timeout_s: float | None = None,
        **options: Unpack[AskOptions],
    ) -> Stream:
        """Asks, and gives the answer in pieces as they come: stages, text with its names restored, the Answer.

        Takes what `ask` takes. Raises BadRequestError and TooLargeError at once, and ArogError while it is read; then
        the dialogue is as it was before. See Stream.
        """
        self._dialogue.request(question, strategy, options)
        return Stream(self._pieces(question, strategy, self._within(timeout_s), options))

    def _pieces(
        self, question: str, strategy: StrategyName | None, patience: RetryPolicy, options: AskOptions
    ) -> Generator[Piece]:
        with self._turns.turn():
            request, reader = self._dialogue.request(question, strategy, options, stream=True), self._dialogue.reader()
            with self._driver.streaming(opening(chat_call(request), patience, time.monotonic)) as events:
                for event in events:
                    yield from reader.read(event.event, event.data)
                    if reader.is_done:
                        break
            answer = self._ratable(self._dialogue.accept(question, reader.whole()), self.rate)
        yield answer

    def rate(self, answer: Answer, rating: RatingWord, correct: Sequence[str] | None = None) -> AnswerRated:
        """Rates an answer of this dialogue `right` or `wrong`: later questions of this key lean on what was right.

        `correct` names the right answer of one that is wrong. It goes to the service, which looks it up in the graph
        and keeps neither names nor words. The last rating of an answer wins. Raises UnknownConversationError once the
        conversation has expired, and RefusedError for an answer that can't be rated any more.
        """
        call = rating_call(self._rating_of(answer, rating, correct))
        with self._turns.turn():
            return self._driver.run(exchange(call, AnswerRated, self._patience, time.monotonic))

    def graphs(self) -> list[str]:
        """The names of the graphs that this key may ask."""
        return self._driver.run(exchange(graphs_call(), GraphNames, self._patience, time.monotonic)).graphs

    def trace(self, answer_id: str) -> Trace:
        """Each prompt and reply of one answer, with the names that its pseudonyms stand for.

        For the key that asked, with the grant `inspect:GRAPH`, and for an admin's; else raises RefusedError.
        """
        call = trace_call(answer_id, self._dialogue.public_key)
        flow = exchange(call, SealedTrace, self._patience, time.monotonic)
        return self._dialogue.open_trace(answer_id, self._driver.run(flow))

    def ledger(self, answer_id: str | None = None, limit: int = 100) -> list[LedgerRow]:
        """Lists the requests to the model for this key's questions, newest first: all of them, or one answer's."""
        flow = exchange(ledger_call(answer_id, limit), LedgerPage, self._patience, time.monotonic)
        return rows_of(self._driver.run(flow), answer_id)

    def reset(self) -> None:
        """Forgets the dialogue; the next question begins a new conversation with new pseudonyms."""
        with self._turns.turn():
            self._dialogue.reset()

    def close(self) -> None:
        self._driver.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()
