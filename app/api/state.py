"""The state that all routes of one application share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, FastAPI
from starlette.requests import Request

from app.api.limits import RateLimits
from app.api.response_timing import ResponseTiming
from app.telemetry.metrics import Metrics
from app.wiring.services import Services
from client_sdk.protocol import Readiness


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
