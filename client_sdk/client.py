"""Chat: asks a graph questions in dialogue and returns answers with names restored; AsyncChat does so for asyncio."""

from __future__ import annotations

import asyncio
import copy
import os
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from typing import Any, ClassVar, Generic, Self, TypedDict, TypeVar, Unpack
from urllib.parse import quote

import httpx2
from pydantic import ValidationError

from client_sdk.answers.answer import Answer
from client_sdk.crypto.key_file import load_or_create_key
from client_sdk.crypto.sealing import KeyPair
from client_sdk.dialogue import Dialogue, Turn, bad_request
from client_sdk.errors import BadRequestError
from client_sdk.memory import AsyncMemory, Memory
from client_sdk.protocol import (
    AnswerRated,
    AnswerRating,
    BreakGlass,
    ChatAnswer,
    ChatRequest,
    GlassBroken,
    GraphNames,
    LedgerPage,
    LedgerRow,
    RatingWord,
    SealedTrace,
    StrategyName,
)
from client_sdk.streaming import AsyncStream, Piece, Stream
from client_sdk.trace import Trace
from client_sdk.transport.address import TIMEOUT_S, Bearer, checked_key, checked_url, settings_from_env
from client_sdk.transport.drivers import AsyncDriver, BlockingDriver
from client_sdk.transport.flow import GRAPHS, Call, Flow, OnWait, RetryPolicy, exchange, log_wait, opening

HttpT = TypeVar("HttpT")


class AskOptions(TypedDict, total=False):
    """Options of one question.

    `width`: relations a round; `depth`: rounds; `relations_per_concept`; `names`: how many of one set are restored;
    `language`: the language of names; `suggestions`: how many questions to ask next are made (0: none); `person`: who
    asks, if several persons share a key (the service gets only a digest of it); `reason`: why, for the service's
    access record; `beside`: public graphs beside the asked one, in place of those that their owner put there;
    `looked_for`: words that public facts are looked for by, such as some of an answer's `looked_for`.
    """

    width: int
    depth: int
    relations_per_concept: int
    names: int
    language: str
    suggestions: int
    person: str
    reason: str
    beside: Sequence[str]
    looked_for: Sequence[str]


class ChatOptions(AskOptions, total=False):
    """The keyword-only arguments of Chat, except `http`. Chat explains them."""

    strategy: StrategyName
    key: KeyPair
    timeout_s: float
    connect_timeout_s: float
    retries: int
    connect_retries: int
    plain_http: bool
    restore_names: bool
    on_wait: OnWait


class _TurnLock:
    """Lets one question of a dialogue run at a time.

    A thread that still has an open stream is refused, because it would wait for itself.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holder: int | None = None

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Holds the turn while the context is open. Raises BadRequestError if this thread holds it already."""
        if self._holder == threading.get_ident():
            raise _still_open()
        with self._lock:
            self._holder = threading.get_ident()
            try:
                yield
            finally:
                self._holder = None


class _AsyncTurnLock:
    """The same as _TurnLock, for asyncio tasks."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._holder: asyncio.Task[object] | None = None

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Holds the turn while the context is open. Raises BadRequestError if this task holds it already."""
        if self._holder is not None and self._holder is asyncio.current_task():
            raise _still_open()
        async with self._lock:
            self._holder = asyncio.current_task()
            try:
                yield
            finally:
                self._holder = None


def _still_open() -> BadRequestError:
    hint = "read it to its end, or close it: `with chat.stream(...) as stream`"
    return BadRequestError("a stream of this dialogue is still open", code="stream_open", hint=hint)


class ChatBase(Generic[HttpT]):
    """The parts that Chat and AsyncChat share: the dialogue, its settings and calls, and dialogues derived from it.

    A subclass sets `_driver_of`, which makes the driver that sends the calls, and `_lock_of`, which makes the turn
    lock.
    """

    _driver_of: ClassVar[Callable[..., Any]]
    _lock_of: ClassVar[Callable[..., Any]]
    _driver: Any
    _turns: Any

    def __init__(
        self,
        url: str,
        api_key: Bearer,
        graph: str,
        *,
        strategy: StrategyName = "auto",
        key: KeyPair | None = None,
        timeout_s: float = TIMEOUT_S,
        connect_timeout_s: float = 10.0,
        retries: int = 5,
        connect_retries: int = 1,
        plain_http: bool = False,
        restore_names: bool = True,
        on_wait: OnWait = log_wait,
        http: HttpT | None = None,
        **options: Unpack[AskOptions],
    ) -> None:
        url, api_key = checked_url(url, plain_http), checked_key(api_key)
        self._dialogue = Dialogue(graph, (key or load_or_create_key()) if restore_names else None, strategy, options)
        self._patience = RetryPolicy(timeout_s, retries, connect_retries, connect_timeout_s)
        self._driver = self._driver_of(url, api_key, http, on_wait)
        self._turns = self._lock_of()

    @classmethod
    def from_env(cls, *, http: HttpT | None = None, **options: Unpack[ChatOptions]) -> Self:
        """Creates a Chat from AROG_API_KEY, AROG_URL (default http://127.0.0.1:8000) and AROG_GRAPH (default demo).

        Raises NotConfiguredError.
        """
        return cls(*settings_from_env(os.environ), http=http, **options)

    @property
    def graph(self) -> str:
        """The graph that is asked."""
        return self._dialogue.graph

    @property
    def last_answer(self) -> Answer | None:
        """The newest answer of this dialogue."""
        return self._dialogue.last_answer

    @property
    def history(self) -> list[Turn]:
        """The turns so far as the user saw them, names restored."""
        return self._dialogue.shown

    def fork(self, *told: str) -> Self:
        """Returns another dialogue that begins with the turns of this one, in the same conversation.

        Names keep their pseudonyms. `told` are further turns of the user, which nobody answers. The two dialogues ask
        one after the other, and share a connection, which closing either one closes. Raises BadRequestError and
        TooLargeError.
        """
        other = copy.copy(self)
        other._dialogue = self._dialogue.fork()
        for text in told:
            other._dialogue.tell(text)
        return other

    def anew(self) -> Self:
        """Returns an empty dialogue with the same settings and connection, in a new conversation.

        Neither dialogue waits for the other.
        """
        other = copy.copy(self)
        other._dialogue, other._turns = self._dialogue.fork(), self._lock_of()
        other._dialogue.reset()
        return other

    def _within(self, timeout_s: float | None) -> RetryPolicy:
        return self._patience if timeout_s is None else replace(self._patience, timeout_s=timeout_s)

    def _rating(self, answer: Answer, rating: RatingWord, correct: Sequence[str] | None) -> Flow[AnswerRated]:
        """Returns the call that rates an answer.

        Raises BadRequestError, which names the wrong field but not its content.
        """
        names = [correct] if isinstance(correct, str) else list(correct or ())
        try:
            content = AnswerRating(
                conversation=answer.conversation, answer=answer.id, rating=rating, correct=names or None
            )
        except ValidationError as problem:
            raise bad_request(problem) from None
        # A rating may be sent twice, because only the last one for an answer counts.
        body = content.model_dump_json(exclude_none=True).encode()
        return exchange(Call("POST", "/ratings", body, repeatable=True), AnswerRated, self._patience)

    def _glass(self, reason: str, minutes: int) -> Flow[GlassBroken]:
        try:
            body = BreakGlass(reason=reason, minutes=minutes).model_dump_json().encode()
        except ValidationError as problem:
            raise bad_request(problem) from None
        path = f"/graphs/{quote(self._dialogue.graph, safe='')}/break-glass"
        return exchange(Call("POST", path, body), GlassBroken, self._patience)

    def _trace(self, answer_id: str) -> Flow[SealedTrace]:
        path, params = f"/trace/{quote(answer_id, safe='')}", {"public_key": self._dialogue.public_key}
        return exchange(Call("GET", path, params=params, repeatable=True), SealedTrace, self._patience)

    def _ledger(self, answer_id: str | None, limit: int) -> Flow[LedgerPage]:
        params = {"limit": str(limit), **({"answer": answer_id} if answer_id is not None else {})}
        return exchange(Call("GET", "/ledger", params=params, repeatable=True), LedgerPage, self._patience)


def _chat_call(request: ChatRequest) -> Call:
    return Call("POST", "/chat", request.model_dump_json(exclude_none=True).encode(), streamed=request.stream)


def _rows_of(page: LedgerPage, answer_id: str | None) -> list[LedgerRow]:
    """Returns the rows of one answer, or all if `answer_id` is None.

    The service filters them already; an older one sends all rows.
    """
    return [row for row in page.entries if answer_id in (None, row.answer)]


class Chat(ChatBase[httpx2.Client]):
    """A dialogue with one graph. Every question can refer to the earlier ones; `reset` begins a new dialogue.

        with Chat("http://127.0.0.1:8000", api_key, "demo") as chat:
            print(chat.ask("Who treats Anna Keller?").text)

    `key` is the key pair that capsules are sealed to; by default the one in the user's config folder, which is made
    there at the first use. Options hold for every question, and `ask` may change them for one: `width` (relations a
    round), `depth` (rounds), `relations_per_concept`, `names` (restored of one set), `suggestions` (questions to ask
    next). Over plain http the API key and the question travel readable, so it is allowed for loopback only, unless
    `plain_http` is set. `http` may be your own client (for certificates or a proxy); a Chat does not close it.

    `timeout_s` is the deadline of one question with all its retries, `connect_timeout_s` that of a connection. A
    question is sent again only if the service has not taken it: `connect_retries` times if no connection can be made,
    `retries` times if the service says when to come back; `on_wait` is called at each such wait, and logs a warning by
    default. If the connection breaks after the question was sent, it is not sent again: it may have been answered, and
    paid for.

    With `restore_names=False` no public key is sent and no key file is made: names stay at the service, and answers,
    evidence and notes come in pseudonyms.

    Threads may share a Chat: questions are asked one after the other, and each sees those before. For dialogues that
    don't share their history, use one Chat each.
    """

    _driver_of, _lock_of = BlockingDriver, _TurnLock
    _driver: BlockingDriver
    _turns: _TurnLock

    def ask(
        self,
        question: str,
        *,
        strategy: StrategyName | None = None,
        timeout_s: float | None = None,
        **options: Unpack[AskOptions],
    ) -> Answer:
        """Asks a question, waits, and returns the answer with names restored.

        Raises ArogError; the dialogue is then as it was before.
        """
        with self._turns.turn():
            call = _chat_call(self._dialogue.request(question, strategy, options))
            reply = self._driver.run(exchange(call, ChatAnswer, self._within(timeout_s)))
            return replace(self._dialogue.accept(question, reply), rate_by=self.rate)

    def stream(
        self,
        question: str,
        *,
        strategy: StrategyName | None = None,
        timeout_s: float | None = None,
        **options: Unpack[AskOptions],
    ) -> Stream:
        """Asks a question, and returns a Stream that gives stages, text with names restored, and the Answer last.

        Takes what `ask` takes. Raises BadRequestError and TooLargeError at once, and ArogError while it is read; then
        the dialogue is as it was before.
        """
        self._dialogue.request(question, strategy, options)
        return Stream(self._pieces(question, strategy, self._within(timeout_s), options))

    def _pieces(
        self, question: str, strategy: StrategyName | None, patience: RetryPolicy, options: AskOptions
    ) -> Generator[Piece]:
        with self._turns.turn():
            call = _chat_call(self._dialogue.request(question, strategy, options, stream=True))
            reader = self._dialogue.reader()
            with self._driver.streaming(opening(call, patience)) as events:
                for event in events:
                    yield from reader.read(event.event, event.data)
                    if reader.is_done:
                        break
            answer = replace(self._dialogue.accept(question, reader.whole()), rate_by=self.rate)
        yield answer

    def rate(self, answer: Answer, rating: RatingWord, correct: Sequence[str] | None = None) -> AnswerRated:
        """Rates an answer of this dialogue as `right` or `wrong`; later questions of this key learn from it.

        `correct` names the right answer for a wrong one. It goes to the service, which looks it up in the graph and
        keeps neither names nor words. Only the last rating of an answer counts. Raises UnknownConversationError if the
        conversation has expired, and RefusedError if the answer is too old to be rated.
        """
        flow = self._rating(answer, rating, correct)
        with self._turns.turn():
            return self._driver.run(flow)

    def break_glass(self, reason: str, minutes: int = 30) -> GlassBroken:
        """Shows this key the whole graph for some minutes, where it sees only a role's part otherwise.

        Only for a key with the grant `break-glass:GRAPH`; the reason (at least 10 characters) is recorded, and the
        owner is told. Raises RefusedError, and BadRequestError for a reason or minutes that are out of bounds.
        """
        return self._driver.run(self._glass(reason, minutes))

    @property
    def memory(self) -> Memory:
        """The memory of this key and graph: lists what was told, and deletes it."""
        return Memory(self._driver, self._dialogue, self._patience)

    def graphs(self) -> list[str]:
        """Returns the names of the graphs that this key may ask."""
        return self._driver.run(exchange(GRAPHS, GraphNames, self._patience)).graphs

    def trace(self, answer_id: str) -> Trace:
        """Returns each prompt and reply of one answer, with the names that its pseudonyms stand for.

        Only for the key that asked, if it has the grant `inspect:GRAPH`, and for an admin's; else raises RefusedError.
        """
        return self._dialogue.open_trace(answer_id, self._driver.run(self._trace(answer_id)))

    def ledger(self, answer_id: str | None = None, limit: int = 100) -> list[LedgerRow]:
        """Returns at most `limit` requests to the model for this key's questions, or one answer's, newest first."""
        return _rows_of(self._driver.run(self._ledger(answer_id, limit)), answer_id)

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


class AsyncChat(ChatBase[httpx2.AsyncClient]):
    """Chat for asyncio: `async with AsyncChat(...) as chat: answer = await chat.ask(...)`.

    Takes what Chat takes. Tasks may share one: questions are asked one after the other.
    """

    _driver_of, _lock_of = AsyncDriver, _AsyncTurnLock
    _driver: AsyncDriver
    _turns: _AsyncTurnLock

    async def ask(
        self,
        question: str,
        *,
        strategy: StrategyName | None = None,
        timeout_s: float | None = None,
        **options: Unpack[AskOptions],
    ) -> Answer:
        """Asks a question, waits, and returns the answer with names restored.

        Raises ArogError; then, and if the task is cancelled, the dialogue is as it was before.
        """
        async with self._turns.turn():
            call = _chat_call(self._dialogue.request(question, strategy, options))
            reply = await self._driver.run(exchange(call, ChatAnswer, self._within(timeout_s)))
            return replace(self._dialogue.accept(question, reply), rate_by=self.rate)

    def stream(
        self,
        question: str,
        *,
        strategy: StrategyName | None = None,
        timeout_s: float | None = None,
        **options: Unpack[AskOptions],
    ) -> AsyncStream:
        """Does the same as Chat.stream, for asyncio."""
        self._dialogue.request(question, strategy, options)
        return AsyncStream(self._pieces(question, strategy, self._within(timeout_s), options))

    async def _pieces(
        self, question: str, strategy: StrategyName | None, patience: RetryPolicy, options: AskOptions
    ) -> AsyncGenerator[Piece]:
        async with self._turns.turn():
            call = _chat_call(self._dialogue.request(question, strategy, options, stream=True))
            reader = self._dialogue.reader()
            async with self._driver.streaming(opening(call, patience)) as events:
                async for event in events:
                    for piece in reader.read(event.event, event.data):
                        yield piece
                    if reader.is_done:
                        break
            answer = replace(self._dialogue.accept(question, reader.whole()), rate_by=self.rate)
        yield answer

    async def rate(self, answer: Answer, rating: RatingWord, correct: Sequence[str] | None = None) -> AnswerRated:
        """Does the same as Chat.rate, for asyncio."""
        flow = self._rating(answer, rating, correct)
        async with self._turns.turn():
            return await self._driver.run(flow)

    async def break_glass(self, reason: str, minutes: int = 30) -> GlassBroken:
        """Does the same as Chat.break_glass, for asyncio."""
        return await self._driver.run(self._glass(reason, minutes))

    @property
    def memory(self) -> AsyncMemory:
        """Does the same as Chat.memory, for asyncio."""
        return AsyncMemory(self._driver, self._dialogue, self._patience)

    async def graphs(self) -> list[str]:
        """Does the same as Chat.graphs, for asyncio."""
        return (await self._driver.run(exchange(GRAPHS, GraphNames, self._patience))).graphs

    async def trace(self, answer_id: str) -> Trace:
        """Does the same as Chat.trace, for asyncio."""
        return self._dialogue.open_trace(answer_id, await self._driver.run(self._trace(answer_id)))

    async def ledger(self, answer_id: str | None = None, limit: int = 100) -> list[LedgerRow]:
        """Does the same as Chat.ledger, for asyncio."""
        return _rows_of(await self._driver.run(self._ledger(answer_id, limit)), answer_id)

    async def reset(self) -> None:
        """Does the same as Chat.reset, for asyncio."""
        async with self._turns.turn():
            self._dialogue.reset()

    async def close(self) -> None:
        await self._driver.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_raised: object) -> None:
        await self.close()
