"""State that all routes of one application share, with its pace (replies to questions leave at ticks of a clock), and
authentication: the bearer key is checked before a byte of the body is read.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from fastapi import Depends, FastAPI
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer
from limits import RateLimitItemPerMinute
from limits.aio.storage import MemoryStorage
from limits.aio.strategies import MovingWindowRateLimiter
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
    """Promise: of two questions whose work takes less than one step, none is answered sooner than the other, whether
    by an answer, by "not in the graph" or by an error; nor do the milliseconds that a reply tells differ.

    Condition: the machine is not so busy that work takes longer than a step. Not promised: that a thousand replies to
    the same question tell nothing. A step of 0 seconds is no pace.
    """

    step_s: float
    now: Callable[[], float] = time.monotonic
    sleep: Sleep = asyncio.sleep

    async def tick(self, began: float) -> None:
        """Waits until a whole number of steps, one at least, has passed since `began`, by `now`."""
        if self.step_s > 0:
            passed = self.now() - began
            await self.sleep(max(1, math.ceil(passed / self.step_s)) * self.step_s - passed)

    async def kept(self, work: Coroutine[Any, Any, T]) -> T:
        """The result or error of `work`, at a tick; at once where it is cancelled."""
        began = self.now()
        try:
            result = await work
        except Exception:
            await self.tick(began)
            raise
        await self.tick(began)
        return result

    def in_steps(self, answer: ChatAnswer) -> ChatAnswer:
        """`answer` with the sum of its milliseconds, in whole steps, in the place of those of its stages."""
        if self.step_s <= 0:
            return answer
        step_ms = self.step_s * 1000
        steps = max(1, math.ceil(sum(answer.usage.milliseconds.values()) / step_ms))
        # Else 300.00000000000006 would be longer than 200.0.
        usage = answer.usage.model_copy(update={"milliseconds": {TOTAL: round(steps * step_ms, 3)}})
        return answer.model_copy(update={"usage": usage})


class RateLimits:
    """Requests a minute per API key, in the memory of this process: each replica counts for itself."""

    def __init__(self, per_minute: int) -> None:
        self._limiter = MovingWindowRateLimiter(MemoryStorage())
        self._item = RateLimitItemPerMinute(per_minute)

    async def count(self, caller: Caller) -> None:
        """Raises RateLimitedError when the key has used up its minute."""
        if not await self._limiter.hit(self._item, caller.key_id):
            window = await self._limiter.get_window_stats(self._item, caller.key_id)
            raise RateLimitedError(max(1, math.ceil(window.reset_time - time.time())))


@dataclass(slots=True)
class AppState:
    """Counters, limits and pace of one application, and its services, which are None until they are built."""

    metrics: Metrics
    rate_limits: RateLimits
    pace: ResponseTiming
    readiness: Callable[[], Awaitable[Readiness]]
    services: Services | None = None


def state_of(app: FastAPI) -> AppState:
    """The state of `app`."""
    state: AppState = app.state.shared
    return state


# Only describes the header in OpenAPI; the check itself is AuthenticatedRoute's.
_BEARER = HTTPBearer(auto_error=False, description="an API key, `arog_...`")
_MAX_KEY_CHARS = 200
# Looking at a job's progress costs little and is done in a loop, so it does not count.
_JOBS = "/admin/jobs/"


class AuthenticatedRoute(APIRoute):
    """A route that answers callers with a valid key, within their rate, and nobody else."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def authenticated(request: Request) -> Response:
            request.state.caller = await _authenticate(request)
            self.check(request.state.caller)
            return await handle(request)

        return authenticated

    def check(self, caller: Caller) -> None:
        """Raises NotPermittedError where the route is not for this caller."""


class AdminRoute(AuthenticatedRoute):
    """A route that answers keys of the role admin, and nobody else."""

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
        await state_of(request.app).rate_limits.count(caller)
    return caller


def services_of(request: Request) -> Services:
    """The running services. Raises NotReadyError while they are being built, or when that failed."""
    services = state_of(request.app).services
    if services is None:
        raise NotReadyError
    return services


def _state_of_request(request: Request) -> AppState:
    return state_of(request.app)


def _caller_of(request: Request, _header: Annotated[object, Depends(_BEARER)]) -> Caller:
    caller: Caller = request.state.caller
    return caller


StateOf = Annotated[AppState, Depends(_state_of_request)]
ServicesOf = Annotated[Services, Depends(services_of)]
CallerOf = Annotated[Caller, Depends(_caller_of)]
