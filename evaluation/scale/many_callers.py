"""Has many callers at once ask a running service about a made-up graph: chats a second, their times, and memory.

Streams are measured with an endpoint that does not reply while they are open, so that all of them are at once.

The callers run beside the service and take a share of the cores. Memory is read from /proc (Linux), which needs the
right to look into processes that are not dumpable (root).
"""

from __future__ import annotations

import asyncio
import secrets
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx2

from app.graphs.markdown_table import markdown_table
from client_sdk.crypto.sealing import KeyPair
from client_sdk.dialogue import Dialogue
from evaluation.fakes.scripted_endpoint import ScriptedEndpoint
from evaluation.fakes.service_process import ServiceProcess, calling, load_graph, service_process, spent_by
from evaluation.scale.made_up import write_graph

_WARM: Final = 256
_NO_LIMIT: Final = str(10**9)
_ASKED: Final = ("Who is {} treated by?", "When was {} born?", "Where does {} live?")
_PAIR: Final = KeyPair.generate()
_HEAD: Final = (
    "run", "chats a second", "p50 (s)", "p95 (s)", "chats a second of the busiest processor", "processor time (s)",
    "memory before (MB)", "after (MB)",
)  # fmt: skip
_STREAMS_HEAD: Final = ("streams open at once", "opened within (s)", "memory idle (MB)", "with the streams (MB)")
_HELD_S: Final = 30.0
_REPLIES_AFTER_S: Final = 600.0
"""Seconds by which the endpoint delays a reply while streams are open: longer than a request may take."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The load on the service: `chats` questions a run by `callers` at once, or, if not 0, `streams` open at once."""

    chats: int
    callers: int
    streams: int = 0


@dataclass(frozen=True, slots=True)
class Callers:
    """Asks questions about `names` as many callers at once, each of whom waits for an answer before the next."""

    http: httpx2.AsyncClient
    names: Sequence[str]

    async def ask(self, chats: int, callers: int) -> list[float]:
        """Asks `chats` questions and returns the seconds that each took."""
        numbers = iter(range(chats))
        took = await asyncio.gather(*(self._ask(numbers) for _ in range(callers)))
        return [seconds for each in took for seconds in each]

    async def _ask(self, numbers: Iterator[int]) -> list[float]:
        took = []
        for number in numbers:
            request = self._request(number)
            began = time.perf_counter()
            reply = await self.http.post("/chat", json=request)
            took.append(time.perf_counter() - began)
            reply.raise_for_status()
        return took

    def _request(self, number: int) -> dict[str, object]:
        question = _ASKED[number % len(_ASKED)].format(self.names[number % len(self.names)])
        request = Dialogue("graph", _PAIR, "auto", {"suggestions": 3}).request(question, None, {})
        return request.model_dump(mode="json", exclude_none=True)

    async def open_stream(self, number: int, streams: AsyncExitStack) -> AsyncIterator[bytes]:
        """Asks a question as a stream, waits for its first event, and returns its bytes; `streams` will close it."""
        asked = self.http.stream("POST", "/chat", json={**self._request(number), "stream": True})
        reply = await streams.enter_async_context(asked)
        reply.raise_for_status()
        events = reply.aiter_raw()
        await anext(events)
        return events


async def _measured_chats(asking: Callers, service: ServiceProcess, chats: int, callers: int) -> str:
    """Asks twice, after a warm-up, and returns a table of times, processor time and memory."""
    await asking.ask(_WARM, callers)
    rows: list[tuple[object, ...]] = []
    for run in (1, 2):
        before, began = spent_by(service), time.perf_counter()
        took = await asking.ask(chats, callers)
        seconds = time.perf_counter() - began
        after, p95 = spent_by(service), statistics.quantiles(took, n=20)[-1]
        cores = [now - then for now, then in zip(after.seconds, before.seconds, strict=True)]
        speed = f"{chats / seconds:.1f}", f"{statistics.median(took):.2f}", f"{p95:.2f}", f"{chats / max(cores):.1f}"
        memory = _each(before.memory_mb, "{:.0f}"), _each(after.memory_mb, "{:.0f}")
        rows.append((run, *speed, _each(cores, "{:.1f}"), *memory))
    several = "; of several processes the supervisor comes first" if len(cores) > 1 else ""
    return f"{chats} chats a run, {callers} callers{several}:\n\n{markdown_table(_HEAD, rows)}"


async def _measured_streams(asking: Callers, service: ServiceProcess, streams: int, endpoint: ScriptedEndpoint) -> str:
    """Opens so many streams, and returns a table of the time that it took and the memory that they take."""
    await asking.ask(_WARM, _WARM // 4)
    endpoint.latency_s = _REPLIES_AFTER_S
    before, began = spent_by(service).memory_mb, time.perf_counter()
    async with AsyncExitStack() as opened:
        held = await asyncio.gather(*(asking.open_stream(number, opened) for number in range(streams)))
        seconds = time.perf_counter() - began
        await asyncio.sleep(_HELD_S)
        await asyncio.gather(*map(anext, held))  # Raises an error if one has ended.
        after = spent_by(service).memory_mb
    row = streams, f"{seconds:.1f}", _each(before, "{:.0f}"), _each(after, "{:.0f}")
    return markdown_table(_STREAMS_HEAD, [row])


def _each(figures: Sequence[float], form: str) -> str:
    return " + ".join(map(form.format, figures))


async def _run(
    service: ServiceProcess, key: str, graph: tuple[Path, Sequence[str]], asked: Asked, endpoint: ScriptedEndpoint
) -> str:
    file, names = graph
    async with calling(service, key, max(asked.streams, asked.callers)) as http:
        asking = Callers(http, names)
        await load_graph(http, file)
        if asked.streams:
            return await _measured_streams(asking, service, asked.streams, endpoint)
        return await _measured_chats(asking, service, asked.chats, asked.callers)


def measure_callers(workers: int, triples: int, asked: Asked) -> str:
    """Starts a service of so many workers with a made-up graph, has it asked, and returns what it took as Markdown."""
    key = secrets.token_urlsafe(32)
    settings = {
        "REQUESTS_PER_MINUTE": _NO_LIMIT,
        "NAMES_PER_DAY": _NO_LIMIT,
        "ADMIN_KEY": key,
        "WORKERS": str(workers),
    }
    with tempfile.TemporaryDirectory(prefix="arog-callers-") as folder, ScriptedEndpoint() as endpoint:
        if asked.streams:
            settings |= {"REASONER": "endpoint", "ENDPOINT_URL": endpoint.url, "ENDPOINT_MODEL": "scripted"}
            settings |= {"ENDPOINT_USE": "always", "REQUEST_DEADLINE_S": str(_REPLIES_AFTER_S)}
            settings |= {"ENDPOINT_DEADLINE_S": str(_REPLIES_AFTER_S)}
        file = Path(folder) / "graph.nt"
        names = write_graph(file, triples, classes=True)
        with service_process(Path(folder), **settings) as service:
            return asyncio.run(_run(service, key, (file, names), asked, endpoint))
