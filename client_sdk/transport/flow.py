"""One call to the service as a generator without I/O: it tells a driver to send or wait, and gets the result."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, TypeVar

import httpx2
from pydantic import BaseModel, ValidationError

from client_sdk.errors import (
    ArogError,
    BadAnswerError,
    BadRequestError,
    RequestTimeoutError,
    UnreachableError,
    error_of,
)
from client_sdk.protocol.service import retry_after_s

MAX_REPLY_BYTES = 64 * 1024 * 1024
_CONNECT_PAUSE_S = 0.2
_MAX_CONNECT_PAUSE_S = 5.0
_MIN_PAUSE_S = 0.5

# After these errors the request has not reached the service, so it can be sent again.
_NEVER_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)

ModelT = TypeVar("ModelT", bound=BaseModel)
ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True)
class Call:
    """One request to the service.

    `repeatable`: it may be sent again after the connection broke halfway. `streamed`: the body of a reply with status
    200 is left unread.
    """

    method: str
    path: str
    body: bytes | None = field(default=None, repr=False)
    params: dict[str, str] = field(default_factory=dict)
    repeatable: bool = False
    streamed: bool = False


GRAPHS: Final = Call("GET", "/graphs", repeatable=True)


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """The time that one call with its retries, and one connection, may take, and the numbers of retries.

    `retries` are for replies that say when to come back, `connect_retries` for connections that fail.
    """

    timeout_s: float
    retries: int = 5
    connect_retries: int = 1
    connect_timeout_s: float = 10.0

    def __post_init__(self) -> None:
        """Raises BadRequestError for a timeout that is not above 0, or a negative number of retries."""
        if not (self.timeout_s > 0 and self.connect_timeout_s > 0):
            raise BadRequestError("a timeout is not above 0", code="bad_option", hint="give seconds")
        if self.retries < 0 or self.connect_retries < 0:
            raise BadRequestError("a number of retries is below 0", code="bad_option", hint="0 is for none")


@dataclass(frozen=True, slots=True)
class Send:
    """Tells the driver to send `call`, and to return a Reply or throw an httpx2.TransportError, before `deadline`."""

    call: Call
    deadline: float
    connect_timeout_s: float


@dataclass(frozen=True, slots=True)
class Pause:
    """Tells the driver to wait. `because`: the service's refusal, if it told to come back later; else None."""

    seconds: float
    because: ArogError | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply of the service; `retry_after` is the text of its Retry-After header."""

    status: int
    body: bytes = field(repr=False)
    retry_after: str | None = None


Flow = Generator[Send | Pause, Reply | None, ResultT]


def exchange(
    call: Call, expect: type[ModelT], patience: RetryPolicy, now: Callable[[], float] = time.monotonic
) -> Flow[ModelT]:
    """Sends `call`, again if `opening` does so, and returns the reply parsed as `expect`. Raises ArogError."""
    return _read((yield from opening(call, patience, now)), expect)


def opening(call: Call, patience: RetryPolicy, now: Callable[[], float] = time.monotonic) -> Flow[Reply]:
    """Sends `call` until there is a reply with status 200, and returns it. Raises ArogError.

    The call is sent again only before the deadline, and only in these cases: no connection could be made; the
    connection broke and the call is repeatable; or the service replied 429 or 503 with Retry-After. `now` is a
    monotonic clock in seconds.
    """
    deadline = now() + patience.timeout_s
    broken = told = 0
    while True:
        refusal: ArogError | None = None
        try:
            reply = yield Send(call, deadline, patience.connect_timeout_s)
            assert reply is not None, "a driver answers Send with a Reply"
        except httpx2.TransportError as failure:
            problem = error_of_failure(failure)
            pause_s = min(_MAX_CONNECT_PAUSE_S, _CONNECT_PAUSE_S * 2.0**broken)
            broken += 1
            may_repeat = call.repeatable or isinstance(failure, _NEVER_SENT)
            again = may_repeat and broken <= patience.connect_retries
        else:
            if reply.status == 200:
                return reply
            wait_s = retry_after_s(reply.retry_after, datetime.now(UTC))
            problem = refusal = error_of(reply.status, reply.body, wait_s)
            pause_s = max(_MIN_PAUSE_S, wait_s or 0.0)
            told += 1
            again = wait_s is not None and reply.status in (429, 503) and told <= patience.retries
        if not again or now() + pause_s >= deadline:
            raise problem
        yield Pause(pause_s, refusal)


def error_of_failure(failure: httpx2.TransportError) -> ArogError:
    if isinstance(failure, httpx2.TimeoutException) and not isinstance(failure, _NEVER_SENT):
        hint = "ask something smaller, or give a longer timeout_s"
        return RequestTimeoutError("no reply within the deadline", code="timeout", hint=hint)
    if isinstance(failure, _NEVER_SENT):
        hint = "is the service running there? AROG_URL or --url names another place"
        return UnreachableError(f"no connection to the service{_place(failure)}", code="unreachable", hint=hint)
    hint = "the question may have been answered all the same; ask again"
    return UnreachableError("the connection to the service broke", code="connection_broken", hint=hint)


def _place(failure: httpx2.TransportError) -> str:
    """Returns ` at http://127.0.0.1:8000`, the address without the path, which may contain an id."""
    try:
        url = failure.request.url
    except RuntimeError:  # The failure has no request, because it came before one was made.
        return ""
    return f" at {url.scheme}://{url.netloc.decode('ascii', 'replace')}"


def _read(reply: Reply, expect: type[ModelT]) -> ModelT:
    try:
        # Fields that this version does not know are ignored: the service may be newer.
        return expect.model_validate_json(reply.body, extra="ignore")
    except ValidationError as problem:
        where = ", ".join(sorted({".".join(map(str, error["loc"])) for error in problem.errors()})[:3])
        hint = "is this the service's own address, and of this version?"
        raise BadAnswerError(f"the reply can't be read ({where or 'no JSON'})", code="bad_answer", hint=hint) from None


_log = logging.getLogger("client_sdk")


@dataclass(frozen=True, slots=True)
class Wait:
    """A pause before a question is sent again. `code` and `reason` are the service's (`rate_limited`, `not_ready`)."""

    seconds: float
    code: str
    reason: str

    def __str__(self) -> str:
        """Returns one sentence without any of the question."""
        reason = self.reason if self.reason.endswith((".", "!", "?")) else f"{self.reason}."
        return f"{reason} Asking again in {self.seconds:.0f} s."


OnWait = Callable[[Wait], None]


def log_wait(wait: Wait) -> None:
    """Logs a warning with the logger `client_sdk`; the default for `on_wait`."""
    _log.warning("%s", wait)


def tell_wait(pause: Pause, on_wait: OnWait) -> None:
    """Calls `on_wait` for a pause that the service asked for, but not for the short ones after a broken connection."""
    if pause.because is not None:
        on_wait(Wait(pause.seconds, pause.because.code, str(pause.because)))
