"""The service's HTTP interface as an asker meets it: every byte of a reply, and how long it took."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import httpx2

from app.api.state import (
    state_of,
)
from app.main import create_app
from evaluation.bench.bench import Bench

# What is drawn anew for every reply, and figures of time: they tell nothing else.
_DRAWN = re.compile(
    r'"(?:id|conversation|sealed)":"[^"]*"|"milliseconds":\{[^}]*\}|\b[EVS][a-z0-9]{5}\b|\br[0-9a-f]{16}\b'
)


@dataclass(frozen=True, slots=True)
class TimedResponse:
    """One reply. `content` is status, headers and body with all that is drawn at random left out; `told_ms` the sum
    of the times that the reply itself tells."""

    status: int
    content: str = field(repr=False)
    length: int
    seconds: float
    told_ms: float = 0.0
    answer: str = ""


class ApiCaller:
    """A caller with an API key of its own."""

    def __init__(self, http: httpx2.AsyncClient, key: str) -> None:
        self._http, self._headers = http, {"Authorization": f"Bearer {key}"}

    async def post(self, body: Mapping[str, object]) -> TimedResponse:
        """POST /chat."""
        request = self._http.build_request("POST", "/chat", json=body, headers=self._headers)
        began = time.perf_counter()
        reply = await self._http.send(request)
        seconds = time.perf_counter() - began
        head = "\n".join(f"{name}: {value}" for name, value in sorted(reply.headers.items()))
        told = head + "\n\n" + reply.text
        masked = _DRAWN.sub("*", re.sub(r"content-length: \d+", "", told))
        answer = reply.json()["id"] if reply.status_code == 200 else ""
        return TimedResponse(
            reply.status_code, f"{reply.status_code}\n{masked}", len(told), seconds, _told_ms(reply), answer
        )

    async def shown(self, answer: str) -> str:
        """GET /ledger: what the model was sent for an answer, as its asker is shown it."""
        reply = await self._http.get("/ledger", params={"answer": answer}, headers=self._headers)
        return reply.text


def _told_ms(reply: httpx2.Response) -> float:
    return sum(reply.json()["usage"]["milliseconds"].values()) if reply.status_code == 200 else 0.0


@asynccontextmanager
async def served(bench: Bench) -> AsyncIterator[httpx2.AsyncClient]:
    """The bench's services behind the real application, without a socket, which would only add noise to times."""
    settings = bench.services.store.settings.model_copy(update={"requests_per_minute": 1_000_000})
    app = create_app(settings)
    state_of(app).services = bench.services
    transport, log = httpx2.ASGITransport(app), logging.getLogger("arog")
    before = log.level
    # Hundreds of refusals, each a line of the log, are no news of an attack.
    log.setLevel(logging.CRITICAL)
    try:
        async with httpx2.AsyncClient(transport=transport, base_url="http://service") as http:
            yield http
    finally:
        log.setLevel(before)
