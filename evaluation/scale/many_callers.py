"""Has many callers at once ask a running service about a made-up graph: chats a second, their times, and memory.

The callers run beside the service and take a share of the cores. Memory is read from /proc (Linux), which needs the
right to look into processes that are not dumpable (root).
"""

from __future__ import annotations

import asyncio
import os
import secrets
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx2

from client_sdk.crypto.sealing import KeyPair
from client_sdk.dialogue import Dialogue
from evaluation.fakes.service_process import ServiceProcess, service_process
from evaluation.scale.made_up import write_graph

_WARM: Final = 256
_NO_LIMIT: Final = str(10**9)
_ASKED: Final = ("Who is {} treated by?", "When was {} born?", "Where does {} live?")
_PAIR: Final = KeyPair.generate()


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
            question = _ASKED[number % len(_ASKED)].format(self.names[number % len(self.names)])
            request = Dialogue("graph", _PAIR, "auto", {"suggestions": 3}).request(question, None, {})
            began = time.perf_counter()
            reply = await self.http.post("/chat", json=request.model_dump(mode="json", exclude_none=True))
            took.append(time.perf_counter() - began)
            reply.raise_for_status()
        return took

    async def load(self, file: Path) -> None:
        with file.open("rb") as opened:
            started = await self.http.post("/admin/graphs/graph", files={"file": (file.name, opened)})
        job = started.json()["id"]
        while (await self.http.get(f"/admin/jobs/{job}")).json()["state"] != "done":
            await asyncio.sleep(0.2)


@dataclass(frozen=True, slots=True)
class Spent:
    """The supervisor and each worker: megabytes (what several share is divided among them: PSS), processor seconds."""

    memory_mb: list[float]
    seconds: list[float]


def spent_by(service: ServiceProcess) -> Spent:
    supervisor = service.process.pid
    children = Path(f"/proc/{supervisor}/task/{supervisor}/children").read_text("ascii").split()
    folders = [Path(f"/proc/{each}") for each in (supervisor, *children)]
    lines = [line for each in folders for line in (each / "smaps_rollup").read_text("ascii").splitlines()]
    times = [(each / "stat").read_text("ascii").rpartition(")")[2].split()[11:13] for each in folders]
    return Spent(
        [int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:")],
        [sum(map(int, each)) / os.sysconf("SC_CLK_TCK") for each in times],
    )


async def _measure(
    asking: Callers, service: ServiceProcess, chats: int, callers: int, say: Callable[[str], None]
) -> None:
    """Asks twice, after a warm-up, and tells times, processor time and memory of each."""
    await asking.ask(_WARM, callers)
    for _ in range(2):
        before, began = spent_by(service), time.perf_counter()
        took = await asking.ask(chats, callers)
        seconds = time.perf_counter() - began
        after, p95 = spent_by(service), statistics.quantiles(took, n=20)[-1]
        cores = [now - then for now, then in zip(after.seconds, before.seconds, strict=True)]
        say(
            f"{chats} chats, {callers} callers: {chats / seconds:.1f} a second, p50 {statistics.median(took):.2f} s, "
            f"p95 {p95:.2f} s; {chats / max(cores):.1f} for each second of processor time of the busiest process"
        )
        say("processor seconds: " + " ".join(f"{each:.1f}" for each in cores))
        say(
            f"memory {sum(before.memory_mb):.0f} MB before, after: "
            + " ".join(f"{each:.0f}" for each in after.memory_mb)
        )


async def _run(
    service: ServiceProcess,
    key: str,
    graph: tuple[Path, Sequence[str]],
    asked: tuple[int, int],
    say: Callable[[str], None],
) -> None:
    file, names = graph
    chats, callers = asked
    async with httpx2.AsyncClient(
        base_url=f"http://127.0.0.1:{service.port}",
        headers={"Authorization": f"Bearer {key}"},
        limits=httpx2.Limits(max_connections=callers, max_keepalive_connections=callers),
        timeout=300,
        trust_env=False,
    ) as http:
        asking = Callers(http, names)
        await asking.load(file)
        await _measure(asking, service, chats, callers, say)


def measure_callers(workers: int, triples: int, chats: int, callers: int, say: Callable[[str], None]) -> None:
    """Starts a service of so many workers with a made-up graph, and has it asked."""
    key = secrets.token_urlsafe(32)
    limits = {"REQUESTS_PER_MINUTE": _NO_LIMIT, "NAMES_PER_DAY": _NO_LIMIT}
    with tempfile.TemporaryDirectory(prefix="arog-callers-") as folder:
        file = Path(folder) / "graph.nt"
        names = write_graph(file, triples, classes=True)
        with service_process(Path(folder), ADMIN_KEY=key, WORKERS=str(workers), **limits) as service:
            asyncio.run(_run(service, key, (file, names), (chats, callers), say))
