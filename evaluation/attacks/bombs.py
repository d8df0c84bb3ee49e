"""Bombs: send hostile uploads, policies and questions, and measure memory, restarts, and how long other tenants wait.

Each upload and policy goes to `arog graph inspect`, and to a service's preview and load; each question to its chat.
Meanwhile another tenant asks a question and previews a small table, again and again. Memory is read from Linux's
`/proc`: without it, as on macOS, the attack raises an error.
"""

from __future__ import annotations

import asyncio
import secrets
import subprocess  # our own words alone  # nosec B404
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx2

from client_sdk.crypto.sealing import KeyPair
from evaluation.attacks.bomb_files import PLAIN_TABLE, POLICIES, QUESTIONS, UPLOADS, Bomb
from evaluation.attacks.targets import AttackTargets, Attempted
from evaluation.fakes.service_process import ServiceProcess, service_process, spent_by

BOMBS: Final = (*UPLOADS, *POLICIES, *QUESTIONS)
MAX_MEMORY_BYTES: Final = 1_200 << 20
MAX_WAIT_S: Final = 5.0
ENDS_WITHIN_S: Final = 180.0
"""Seconds after which a bomb counts as not refused."""
GRAPH, BOMBER, WITNESS = "house", "bomber", "witness"
_EVERY_S: Final = 0.25
# Reads a whole file with the standard library, as a service without bounds would.
_NAIVE: Final = "import gzip, json, sys; json.loads(gzip.open(sys.argv[1]).read())"


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of one bomb: the peak memory of a process, and the longest wait of the other tenant, if measured.

    `is_answered` tells that the program ended in time with a result or an error in words, and not by a crash.
    """

    bomb: str
    memory_bytes: int
    is_answered: bool
    wait_s: float = 0.0
    worked_s: float = 0.0
    """The processor time that the service took during that wait: much less, if the machine was busy elsewhere."""

    @property
    def note(self) -> str:
        return f"{self.bomb}: {self.memory_bytes >> 20} MB, {self.wait_s:.1f} s, {self.worked_s:.1f} s of a core"


async def bombs(targets: AttackTargets) -> list[Attempted]:
    """Sends every bomb, or as many as the limit allows, spread over all kinds."""
    count = targets.at_most(len(BOMBS))
    chosen = [BOMBS[at * len(BOMBS) // count] for at in range(count)]
    return await asyncio.to_thread(attacked, chosen, targets.counter("bombs", 2 * count))


def attacked(chosen: Sequence[Bomb], show: Callable[[int], None] = lambda _done: None) -> list[Attempted]:
    """Returns the lines of the table for the given bombs. Raises OSError where there is no `/proc`."""
    files = [bomb for bomb in chosen if bomb.file or bomb.is_policy]
    with tempfile.TemporaryDirectory(prefix="arog-bombs-") as name:
        inspected = []
        for done, bomb in enumerate(files):
            inspected.append(inspect(bomb, Path(name)))
            show(done)
        with service_process(Path(name), **_settings(key := secrets.token_urlsafe(32))) as service:
            bomber = Bomber(service, key)
            served = []
            for done, bomb in enumerate(chosen):
                served.append(bomber.throw(bomb))
                show(len(files) + done)
            restarts = [service.process.poll() is not None]
        control = _naive(Path(name))
    return [
        effects_line(
            "`arog graph inspect`: more memory than 1.2 GB",
            inspected,
            lambda each: each.memory_bytes > MAX_MEMORY_BYTES,
        ),
        effects_line("`arog graph inspect`: no end or no clear error", inspected, lambda each: not each.is_answered),
        effects_line("a service: more memory than 1.2 GB", served, lambda each: each.memory_bytes > MAX_MEMORY_BYTES),
        effects_line("a service: no end or no clear error", served, lambda each: not each.is_answered),
        effects_line("another tenant waits more than 5 s", served, lambda each: each.wait_s > MAX_WAIT_S),
        Attempted.of("a service ends", restarts),
        Attempted.of("a reader without bounds: more memory than 1.2 GB", [control > MAX_MEMORY_BYTES], control=1.0),
    ]


def effects_line(name: str, effects: Sequence[Effect], fails: Callable[[Effect], bool]) -> Attempted:
    """Returns a line that counts the bombs with an effect for which `fails` is True, and names them."""
    found = [each for each in effects if fails(each)]
    return Attempted.of(name, map(fails, effects), note="; ".join(each.note for each in found))


def inspect(bomb: Bomb, folder: Path) -> Effect:
    """Has `arog graph inspect` read the file, or a small table under the policy."""
    with _written(bomb, folder) as parts:
        words = [str(parts["file"]), *(["--policy", str(parts["policy"])] if "policy" in parts else [])]
        memory, code = _run([sys.executable, "-m", "client_sdk", "graph", "inspect", *words])
    # 0: it was read; 2: it was refused in words. Anything else is a crash, or was stopped here.
    return Effect(bomb.name, memory, code in (0, 2))


def _run(command: Sequence[str]) -> tuple[int, int]:
    """Returns the peak memory of a process, or of its own children if one has more, and its exit code.

    The peak that the system tells at the end of a process would hold the memory of the process that started it.
    """
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:  # noqa: S603  # nosec B603
        stopper = threading.Timer(ENDS_WITHIN_S, process.kill)
        stopper.start()
        memory = PeakMemory(process.pid)
        with memory:
            code = process.wait()
        stopper.cancel()
    return memory.bytes, code


def _naive(folder: Path) -> int:
    bomb = next(bomb for bomb in UPLOADS if bomb.file == "a.jsonld.gz")
    with _written(bomb, folder) as parts:
        return _run([sys.executable, "-c", _NAIVE, str(parts["file"])])[0]


@contextmanager
def _written(bomb: Bomb, folder: Path) -> Iterator[Mapping[str, Path]]:
    """Writes a bomb as the parts of an upload, and deletes them in the end."""
    parts = {"file": folder / (bomb.file or "plain.csv")}
    parts["file"].write_bytes(bomb.make() if bomb.file else PLAIN_TABLE)
    if bomb.is_policy:
        parts["policy"] = folder / "policy.toml"
        parts["policy"].write_bytes(bomb.make())
    try:
        yield parts
    finally:
        for path in parts.values():
            path.unlink()


def _settings(key: str) -> dict[str, str]:
    return {"ADMIN_KEY": key, "REASONER": "embedded", "REQUESTS_PER_MINUTE": "100000", "REPLY_STEP_MS": "0"}


class Bomber:
    """An admin of one tenant, who sends bombs, while the witness, an admin of another tenant, goes on working."""

    def __init__(self, service: ServiceProcess, operator_key: str) -> None:
        self._service, self._folder = service, service.folder / "work"
        keys = {
            tenant: Caller(service.port, operator_key).made(
                "/admin/keys", {"tenant": tenant, "grants": ["*"], "role": "admin"}
            )
            for tenant in (BOMBER, WITNESS)
        }
        self._bomber, self._witness = (Caller(service.port, str(keys[each]["key"])) for each in (BOMBER, WITNESS))
        for each in (self._bomber, self._witness):
            each.load(GRAPH, {"file": ("plain.csv", PLAIN_TABLE)})

    def throw(self, bomb: Bomb) -> Effect:
        """Sends one bomb in every way that takes it, and returns what it did to the service and to the witness."""
        sent = self._sent(bomb)  # Made before the watch: packing gigabytes would keep the witness's thread waiting.
        memory = PeakMemory(self._service.process.pid)
        with Watch(self._witness, self._worked_s) as watch, memory:
            if isinstance(sent, str):
                answered = self._bomber.asks(sent)
            else:
                answered = self._bomber.previews(sent) and self._bomber.load("bombed", sent)
        is_answered = answered and self._service.process.poll() is None
        return Effect(bomb.name, memory.bytes, is_answered, watch.longest_s, watch.worked_s)

    def _worked_s(self) -> float:
        return sum(spent_by(self._service).seconds) if self._service.process.poll() is None else 0.0

    def _sent(self, bomb: Bomb) -> str | dict[str, tuple[str, bytes]]:
        """Returns the question, or the parts of an upload."""
        if not bomb.file and not bomb.is_policy:
            return bomb.make().decode()
        with _written(bomb, self._folder) as parts:
            return {part: (path.name, path.read_bytes()) for part, path in parts.items()}


@dataclass(slots=True)
class Caller:
    """A caller of the service. Its methods return True if they were answered in time, with an error or not."""

    port: int
    key: str = field(repr=False)

    def made(self, path: str, body: object) -> dict[str, object]:
        reply: dict[str, object] = self._send("POST", path, json=body).json()
        return reply

    def previews(self, sent: Mapping[str, tuple[str, bytes]]) -> bool:
        return self._answers("POST", "/admin/preview", files=sent)

    def asks(self, text: str) -> bool:
        body = {"graph": GRAPH, "messages": [{"role": "user", "content": text}]}
        return self._answers("POST", "/chat", json={**body, "public_key": KeyPair.generate().public_text})

    def load(self, graph: str, sent: Mapping[str, tuple[str, bytes]]) -> bool:
        """Loads a graph and waits for the end of the job."""
        reply = self._send("POST", f"/admin/graphs/{graph}", files=sent)
        until = time.monotonic() + ENDS_WITHIN_S
        while reply.status_code in (200, 202) and time.monotonic() < until:
            job = reply.json()
            if job["state"] in ("done", "failed"):
                return bool(job["state"] == "done" or job["error"]["code"] != "internal")
            time.sleep(_EVERY_S)
            reply = self._send("GET", f"/admin/jobs/{job['id']}")
        return 400 <= reply.status_code < 500

    def _answers(self, method: str, path: str, **sent: Any) -> bool:
        try:
            return self._send(method, path, **sent).status_code < 500
        except httpx2.HTTPError:
            return False

    def _send(self, method: str, path: str, **sent: Any) -> httpx2.Response:
        headers, url = {"Authorization": f"Bearer {self.key}"}, f"http://127.0.0.1:{self.port}{path}"
        return httpx2.request(method, url, headers=headers, timeout=ENDS_WITHIN_S, trust_env=False, **sent)


class Watch:
    """Has the witness ask and preview in turn, in a thread, and keeps the longest time of one of its requests.

    `worked_s` becomes the processor time meanwhile, by the clock `worked_by_now_s`.
    """

    def __init__(self, witness: Caller, worked_by_now_s: Callable[[], float]) -> None:
        self._witness, self._worked_by_now_s, self._ended = witness, worked_by_now_s, threading.Event()
        self._thread = threading.Thread(target=self._go)
        self.longest_s = self.worked_s = 0.0

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_raised: object) -> None:
        self._ended.set()
        self._thread.join()

    def _go(self) -> None:
        while True:
            for work in (self._asks, self._previews):
                began, before_s = time.monotonic(), self._worked_by_now_s()
                waited_s = time.monotonic() - began if work() else ENDS_WITHIN_S
                if waited_s > self.longest_s:
                    self.longest_s, self.worked_s = waited_s, self._worked_by_now_s() - before_s
            if self._ended.wait(_EVERY_S):
                return

    def _asks(self) -> bool:
        return self._witness.asks("Who is in Heron?")

    def _previews(self) -> bool:
        return self._witness.previews({"file": ("plain.csv", PLAIN_TABLE)})


class PeakMemory:
    """The peak memory of a process while the context is open, or of one of its children, if that has more."""

    def __init__(self, pid: int) -> None:
        self._pid, self._ended = pid, threading.Event()
        self._thread = threading.Thread(target=self._go)
        self.bytes = 0

    def __enter__(self) -> None:
        Path(f"/proc/{self._pid}/clear_refs").write_text("5")  # The kernel begins to count the peak anew.
        self._thread.start()

    def __exit__(self, *_raised: object) -> None:
        self._ended.set()
        self._thread.join()

    def _go(self) -> None:
        while not self._ended.wait(0.05):
            self.bytes = max(self.bytes, *map(_peak_bytes, (self._pid, *_children(self._pid))))


def _children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    try:
        return [int(each) for path in tasks for each in path.read_text("ascii").split()]
    except OSError:
        return []


def _peak_bytes(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text("utf-8").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM")), 0)
