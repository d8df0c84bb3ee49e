"""The state of the service: readiness, model endpoints, tokens of a day."""

from __future__ import annotations

from datetime import date, datetime
from typing import Literal

from pydantic import Field

from client_sdk.protocol.base import Wire

EndpointState = Literal["unprobed", "ready", "resting", "unreachable"]


class EndpointStatus(Wire):
    """One model endpoint as its last probe found it; the one of `position` 1 is asked first.

    `resting`: it failed again and again, and is not asked for some seconds. `problem` says why it can't be asked.
    """

    position: int
    state: EndpointState
    model: str = Field(default="", description="shown to the operator alone")
    dialect: str = Field(default="", description="json_schema, structured_outputs, json_object or prompt")
    enforces_schema: bool = False
    streams: bool = False
    reports_usage: bool = False
    open_requests: int = 0
    problem: str = ""
    puzzles: int | None = Field(default=None, description="of five constant questions, those that it answered rightly")
    form: str = Field(
        default="", description="`tree`: it may write answers of its own; `choice`: it chooses from a list of readings"
    )
    seconds: float = Field(default=0.0, description="that such a question took")
    tokens: int = Field(default=0, description="of such a question, by the endpoint's own count; 0 where it has none")
    tokens_per_second: float = Field(default=0.0, description="of its replies")
    cost: float | None = Field(default=None, description="of such a question, in the currency of the settings")


class EndpointList(Wire):
    """GET /admin/endpoints, POST /admin/endpoints/probe."""

    endpoints: list[EndpointStatus]


class TokenBudget(Wire):
    """GET /admin/budget: tokens that the tenant has taken on `day` (UTC), those reserved for open calls included.

    `limit` is what it may take a day, `per_question` what one question may; null: no limit, or nobody is paid.
    """

    day: date
    used: int
    limit: int | None
    renews_at: datetime
    per_question: int | None
    revealed: int = Field(default=0, description="facts that the tenant's prompts have shown an endpoint on `day`")
    reveal_limit: int | None = Field(default=None, description="how many they may; null: no limit")


class Readiness(Wire):
    """GET /readyz: what is missing, in sentences; `ready` is false (and the status 503) while nothing can be asked.

    A service without a graph is ready, since graphs are loaded through it, but says so in `missing`.
    """

    ready: bool
    missing: list[str]
    reasoner: str = ""
    endpoints: list[EndpointStatus] = Field(default_factory=list)
