"""The state that all routes of one application share, the timing of replies, rate limits, and authentication.

The bearer key is checked before a byte of the body is read.
"""

from __future__ import annotations

import asyncio
import math
import sqlite3
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

from fastapi import Depends, FastAPI
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from app.accounts.api_keys import Caller, NotAuthenticatedError, require_admin
from app.api.problems import NotReadyError, RateLimitedError
from app.telemetry.metrics import Metrics
from app.wiring.services import Services
from client_sdk.protocol import ChatAnswer, Readiness

T = TypeVar("T")
TOTAL = "total"
Sleep = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class ResponseTiming:
    """Delays replies to whole steps of time, so that their timing tells little about the graph.

    Promise: of two questions whose work takes less than one step, none is answered sooner than the other, whether by
    an answer, by "not in the graph" or by an error; nor do the milliseconds in the reply differ. Condition: the
    machine is not so busy that work takes longer than a step. Not promised: that a thousand replies to the same
    question tell nothing. A step of 0 seconds turns the delay off.
    """

    step_s: float
    now: Callable[[], float] = time.monotonic
    sleep: Sleep = asyncio.sleep

    async def tick(self, began: float) -> None:
        """Waits until a whole number of steps, at least one, has passed since `began`, a value of `now()`."""
        if self.step_s > 0:
            passed = self.now() - began
            await self.sleep(max(1, math.ceil(passed / self.step_s)) * self.step_s - passed)

    async def kept(self, work: Coroutine[Any, Any, T]) -> T:
        """Returns the result or raises the error of `work` at the end of a step; a cancellation is raised at once."""
        began = self.now()
        try:
            result = await work
        except Exception:
            await self.tick(began)
            raise
        await self.tick(began)
        return result

    def in_steps(self, answer: ChatAnswer) -> ChatAnswer:
        """Returns `answer` with a single duration in place of one for each stage: their sum, rounded up to a step.

        For example, with steps of 200 ms the stages `{"read": 90, "search": 150}` become `{"total": 400}`.
        """
        if self.step_s <= 0:
            return answer
        step_ms = self.step_s * 1000
        steps = max(1, math.ceil(sum(answer.usage.milliseconds.values()) / step_ms))
        # Rounded, because 300.00000000000006 has more digits than 200.0, so that the reply's length would differ.
        usage = answer.usage.model_copy(update={"milliseconds": {TOTAL: round(steps * step_ms, 3)}})
        return answer.model_copy(update={"usage": usage})


MINUTE_S = 60.0
_HITS = """
PRAGMA journal_mode=WAL;
PRAGMA synchronous=OFF;
CREATE TABLE IF NOT EXISTS hits (key TEXT NOT NULL, at REAL NOT NULL);
CREATE INDEX IF NOT EXISTS hits_of_key ON hits (key, at);
CREATE INDEX IF NOT EXISTS hits_at ON hits (at);
"""


class RateLimits:
    """Limits the requests of each API key within the last minute. Replicas count each for itself.

    The workers of one service count together, in a small database in the folder that they share.
    """

    def __init__(self, per_minute: int, shared: Path | None = None, now: Callable[[], float] = time.time) -> None:
        self._most, self._now = per_minute, now
        place = shared / "hits.sqlite" if shared else ":memory:"
        # Requests are counted in the event loop, which is one thread; waits for other workers are rare and short.
        self._hits = sqlite3.connect(place, isolation_level=None, check_same_thread=False)
        self._hits.executescript(_HITS)

    def count(self, caller: Caller) -> None:
        """Counts a request. Raises RateLimitedError if the key has used up its minute."""
        ask, now = self._hits.execute, self._now()
        ask("BEGIN IMMEDIATE")
        try:
            ask("DELETE FROM hits WHERE at <= ?", (now - MINUTE_S,))
            used, first = ask("SELECT count(*), min(at) FROM hits WHERE key = ?", (caller.key_id,)).fetchone()
            if used >= self._most:
                raise RateLimitedError(max(1, math.ceil(first + MINUTE_S - now)))
            ask("INSERT INTO hits VALUES (?, ?)", (caller.key_id, now))
        finally:
            ask("COMMIT")

    def close(self) -> None:
        self._hits.close()


@dataclass(slots=True)
class AppState:
    """The counters, limits, timing and readiness of one application, and its services, which are None until built."""

    metrics: Metrics
    rate_limits: RateLimits
    pace: ResponseTiming
    readiness: Callable[[], Awaitable[Readiness]]
    services: Services | None = None


def state_of(app: FastAPI) -> AppState:
    """Returns the state of `app`."""
    state: AppState = app.state.shared
    return state


# Only describes the header in OpenAPI; AuthenticatedRoute does the check.
_BEARER = HTTPBearer(auto_error=False, description="an API key, `arog_...`, or a token of the OpenID provider")
_MAX_KEY_CHARS = 16_384  # of a token with many groups; an API key has 48
# Requests for a job's progress do not count, because they cost little and clients repeat them.
_JOBS = "/admin/jobs/"


class AuthenticatedRoute(APIRoute):
    """A route that only answers callers with a valid key, within their rate limit."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def authenticated(request: Request) -> Response:
            request.state.caller = await _authenticate(request)
            self.check(request.state.caller)
            return await handle(request)

        return authenticated

    def check(self, caller: Caller) -> None:
        """Raises NotPermittedError if the route is not for this caller."""


class AdminRoute(AuthenticatedRoute):
    """A route that only answers keys with the role admin."""

    def check(self, caller: Caller) -> None:
        require_admin(caller)


async def _authenticate(request: Request) -> Caller:
    services = services_of(request)
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    key = key.strip()
    if scheme.lower() != "bearer" or not key or len(key) > _MAX_KEY_CHARS:
        raise NotAuthenticatedError
    caller = await run_in_threadpool(services.store.access.authenticate, key)
    request.state.key_id = caller.key_id
    if not request.url.path.startswith(_JOBS):
        state_of(request.app).rate_limits.count(caller)
    return caller


def services_of(request: Request) -> Services:
    """Returns the running services. Raises NotReadyError while they are being built, and if that failed."""
    services = state_of(request.app).services
    if services is None:
        raise NotReadyError
    return services


# All are coroutines: the framework would run each plain function in a thread.
async def _state_of_request(request: Request) -> AppState:
    return state_of(request.app)


async def _services_of_request(request: Request) -> Services:
    return services_of(request)


async def _caller_of(request: Request, _header: Annotated[object, Depends(_BEARER)]) -> Caller:
    caller: Caller = request.state.caller
    return caller


StateOf = Annotated[AppState, Depends(_state_of_request)]
ServicesOf = Annotated[Services, Depends(_services_of_request)]
CallerOf = Annotated[Caller, Depends(_caller_of)]
