"""Makes one OpenAI-compatible endpoint reliable by a queue, retries, a deadline, a circuit breaker and a probe.

Such endpoints are OpenAI, vLLM, Ollama and the server of llama.cpp.
"""

from __future__ import annotations

import asyncio
import itertools
import math
import random
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from typing import Literal
from urllib.parse import urlsplit

import stamina

from app.llm.endpoint.capability_probe import Capabilities, Puzzle, find_capabilities, with_puzzles
from app.llm.endpoint.request_body import Completion, Dialect, Price, RequestTemplate
from app.llm.endpoint.transport import EndpointRateLimitError, HttpTransport
from app.llm.reasoner import ReasonerError, ReasonerRefusedError, ReasonerUnavailableError, ReplyUnusableError

State = Literal["closed", "open", "trying"]


class CircuitOpenError(ReasonerUnavailableError):
    """Nothing was sent, because the circuit breaker is open: the endpoint failed too often."""


class CircuitBreaker:
    """Stops requests to an endpoint for `rest_s` seconds after `threshold` failures in a row.

    Then one request is let through as a try, and others are refused until it ends. ReasonerUnavailableError counts as
    a failure unless it is one of `harmless`. Any other result shows that the endpoint works.
    """

    def __init__(
        self,
        threshold: int = 5,
        rest_s: float = 15.0,
        harmless: tuple[type[ReasonerError], ...] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._threshold, self._rest_s, self._harmless, self._clock = threshold, rest_s, harmless, clock
        self._failures, self._reason = 0, ""
        self._rests_until = 0.0
        self._is_tried = False

    @property
    def state(self) -> State:
        if self._failures < self._threshold:
            return "closed"
        return "trying" if self._is_tried else "open"

    @property
    def lets_pass(self) -> bool:
        """True if a request would be sent now."""
        return self.state == "closed" or (self.state == "open" and self._clock() >= self._rests_until)

    def reset(self) -> None:
        """Forgets past failures, for example after a successful probe."""
        self._failures = 0

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Wraps one request in a `with` block and counts it if it fails.

        Raises CircuitOpenError before the request if the breaker is open.
        """
        if not self.lets_pass:
            raise self._open_error()
        tries = self.state == "open"
        self._is_tried = self._is_tried or tries
        try:
            yield
        except ReasonerUnavailableError as error:
            if not isinstance(error, self._harmless):
                self._fail(error.reason)
            raise
        except ReasonerError:
            self._failures = 0
            raise
        else:
            self._failures = 0
        finally:
            if tries:
                self._is_tried = False

    def _open_error(self) -> CircuitOpenError:
        error = CircuitOpenError("the endpoint failed too often and rests")
        error.reason = self._reason
        return error

    def _fail(self, reason: str) -> None:
        self._reason = reason
        self._failures += 1
        if self._failures >= self._threshold:
            self._rests_until = self._clock() + self._rest_s


FIRST_WAIT_S, LONGEST_WAIT_S, JITTER_S = 0.5, 2.0, 0.5


class DeadlineExceededError(ReasonerUnavailableError):
    """The deadline of a completion is over, so no time is left for another try."""


def attempts(most: int, left_s: Callable[[], float]) -> AsyncIterator[stamina.Attempt]:
    """Yields at most `most` attempts, with growing random waits between them, or the wait that the endpoint asks for.

    `left_s` returns the seconds that are left; an attempt that would come later is not made.
    """
    failed = itertools.count()
    return stamina.retry_context(
        on=lambda error: wait_before_retry(error, next(failed), left_s()), attempts=most, timeout=None
    )


def wait_before_retry(error: Exception, failed: int, left_s: float) -> float | Literal[False]:
    """Returns the seconds to wait before the next try; False if there should be none.

    `failed`: the number of failures before `error`. `left_s`: the seconds that are left.
    """
    if not isinstance(error, ReasonerUnavailableError) or isinstance(error, CircuitOpenError | DeadlineExceededError):
        return False
    asked_s = error.retry_after_s if isinstance(error, EndpointRateLimitError) else None
    if asked_s is None:
        asked_s = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2**failed)
    # The wait gets a random part, so that requests which failed at the same time are not repeated at the same time.
    wait_s = asked_s + random.uniform(0, JITTER_S)  # noqa: S311  # jitter, no secret  # nosec B311
    return wait_s if wait_s < left_s else False


class FairQueue:
    """Lets at most `places` requests run at once; waiting tenants take turns. To be used in one event loop only."""

    def __init__(self, places: int) -> None:
        self._places = self._free = places
        # The waiting requests of each tenant; the tenant whose turn is next comes first.
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    @property
    def held(self) -> int:
        """The number of places in use."""
        return self._places - self._free

    @asynccontextmanager
    async def place(self, tenant: str) -> AsyncIterator[None]:
        """Waits for a place and holds it during the `with` block; a cancelled caller gives its place up."""
        await self._enter(tenant)
        try:
            yield
        finally:
            self._leave()

    async def _enter(self, tenant: str) -> None:
        if self._free:
            self._free -= 1
            return
        mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(tenant, deque()).append(mine)
        try:
            await mine
        except asyncio.CancelledError:
            if mine.done() and not mine.cancelled():
                self._leave()  # The place was granted at the same moment, so it is passed on.
            raise

    def _leave(self) -> None:
        while self._waiting:
            tenant, line = self._waiting.popitem(last=False)
            first = line.popleft()
            if line:
                self._waiting[tenant] = line
            if not first.done():
                first.set_result(None)
                return
        self._free += 1


ATTEMPTS = 3


class ModelEndpoint:
    """One model at one endpoint: queues requests, sends them, and retries where that may help.

    `deadline_s`: the longest time of a completion with all its waits and retries, in seconds. `concurrency`: the
    greatest number of open requests. `patience_s`: the longest wait in seconds before a retry; finite if another
    endpoint can be asked instead. `puzzles`: asked by `probe`. Cancelling the caller cancels the request.
    """

    def __init__(
        self,
        url: str,
        model: str,
        api_key: str = "",
        deadline_s: float = 60.0,
        *,
        wording: RequestTemplate | None = None,
        price: Price | None = None,
        concurrency: int = 256,
        patience_s: float = math.inf,
        puzzles: Sequence[Puzzle] = (),
    ) -> None:
        self._sender, self._url = HttpTransport(url, api_key), url
        self._deadline_s, self._patience_s = deadline_s, patience_s
        self._wording = wording or RequestTemplate(model)
        self._price, self._puzzles = price, puzzles
        self._queue = FairQueue(concurrency)
        self.breaker = CircuitBreaker(harmless=(EndpointRateLimitError,))
        self.found: Capabilities | None = None
        self.was_reached = False
        self._is_in_doubt = True

    @property
    def address(self) -> str:
        """Host and port of the URL, without a password that it may hold; shown only to those who set the URL."""
        return urlsplit(self._url).netloc.rpartition("@")[2]

    @property
    def wording(self) -> RequestTemplate:
        return self._wording

    @property
    def price(self) -> Price | None:
        return self._price

    @property
    def is_ready(self) -> bool:
        return self.breaker.lets_pass

    @property
    def open_requests(self) -> int:
        return self._queue.held

    @property
    def is_in_doubt(self) -> bool:
        """True if the findings of the last probe may be outdated, so that it should be repeated."""
        return self._is_in_doubt or self.breaker.state != "closed"

    def speak(self, dialect: Dialect) -> None:
        """Sets the form in which later requests are made."""
        self._wording = replace(self._wording, dialect=dialect)

    async def probe(self) -> Capabilities:
        """Finds out what the endpoint can do, and uses the findings for later requests.

        Errors of the endpoint are not raised but returned in the findings.
        """
        before = self.found
        self.found = await self._found_anew(before)
        # A single reply may look by chance as if no schema were enforced, so this is believed only if found twice.
        is_new = not self.found.enforces_schema and self.found != before
        self._is_in_doubt = bool(self.found.problem) or is_new
        if not self.found.problem:
            self.speak(self.found.dialect)
            self.was_reached = True
            self.breaker.reset()
        return self.found

    async def _found_anew(self, before: Capabilities | None) -> Capabilities:
        """Returns new findings. Puzzles are asked at the first probe, and again only if the dialect has changed."""
        send, wording = self._sender.send, self._wording
        found = await find_capabilities(send, wording, wording.is_salted)
        if found.problem or not self._puzzles:
            return found
        asked = before if before is not None and before.puzzles is not None else None
        if asked is not None and replace(asked.dialect, form=found.dialect.form) == found.dialect:
            return replace(found, dialect=asked.dialect, puzzles=asked.puzzles)
        return await with_puzzles(send, wording, found, self._puzzles)

    async def complete(self, body: bytes, tenant: str = "") -> Completion:
        """Sends exactly `body` and returns the completion; tries again if the endpoint is busy, broken or unreachable.

        Raises ReasonerUnavailableError, ReasonerRefusedError, ReplyUnusableError.
        """
        until = asyncio.get_running_loop().time() + self._deadline_s

        def left_s() -> float:
            return until - asyncio.get_running_loop().time()

        async for attempt in attempts(ATTEMPTS, lambda: min(left_s(), self._patience_s)):
            with attempt:
                completion = await self._once(body, tenant, left_s)
                return replace(completion, retries=attempt.num - 1)
        raise ReasonerUnavailableError("the endpoint did not answer")  # pragma: no cover - the loop returns or raises

    async def close(self) -> None:
        await self._sender.close()

    async def _once(self, body: bytes, tenant: str, left_s: Callable[[], float]) -> Completion:
        in_time = asyncio.timeout(left_s())
        try:
            async with in_time, self._queue.place(tenant):
                in_time.reschedule(None)  # The request has its own time limit; the breaker counts exceeding that.
                with self.breaker.watch():
                    return await self._send(body, left_s())
        except TimeoutError:
            raise DeadlineExceededError("no place was free before the deadline") from None

    async def _send(self, body: bytes, left_s: float) -> Completion:
        try:
            async with asyncio.timeout(left_s):
                return await self._sender.send(body)
        except TimeoutError:
            raise DeadlineExceededError("the endpoint did not answer within the deadline") from None
        except (ReasonerRefusedError, ReplyUnusableError):
            self._is_in_doubt = True  # Another server, with another dialect, may answer at this address by now.
            raise
