"""The state that all routes of one application share; and its pace: replies to questions leave at ticks of a clock."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from fastapi import Depends, FastAPI
from starlette.requests import Request

from app.api.limits import RateLimits
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


@dataclass(slots=True)
class AppState:
    """Counters, limits and pace of one application, and its services, which are None until they are built."""

    metrics: Metrics
    rate_limits: RateLimits
    pace: ResponseTiming
    readiness: Callable[[], Awaitable[Readiness]]
    services: Services | None = None


def share_state(app: FastAPI, state: AppState) -> None:
    """Gives `app` its state, once, before it answers."""
    app.state.shared = state


def state_of(app: FastAPI) -> AppState:
    """The state of `app`."""
    state: AppState = app.state.shared
    return state


def _state_of_request(request: Request) -> AppState:
    return state_of(request.app)


StateOf = Annotated[AppState, Depends(_state_of_request)]
