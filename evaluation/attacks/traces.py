"""Traces: look for names in what a service leaves on disk, in output, metrics and errors, also when it is killed."""

from __future__ import annotations

import asyncio
import json
import secrets
import signal
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
from pydantic import ValidationError

from client_sdk.crypto.sealing import KeyPair
from client_sdk.dialogue import Dialogue
from client_sdk.protocol import ChatAnswer
from evaluation.attacks.targets import AttackTargets, Attempted
from evaluation.checks.canaries import (
    ALL,
    ANSWERED,
    ASKED,
    BROKEN_GRAPH,
    FORMS,
    GRAPH,
    POLICY,
    TALKED_OF,
    canaries_in,
)
from evaluation.fakes.service_process import ServiceProcess, service_process

NAME = "house"
UPLOADS = "data/incoming/"
_MORE_FACTS = 30_000
_LOADS_WITHIN_S = 120.0

KILLS = (signal.SIGKILL, signal.SIGABRT, signal.SIGSEGV)


@dataclass(slots=True)
class LeftTraces:
    """Everything that was collected of one run of the service.

    `found`: bytes by the place where they were found. `opened`: names from opened capsules. `core_limits`: the limits
    on core files, as the kernel tells them. `core_files`: how many core files there were.
    """

    found: dict[str, list[bytes]] = field(default_factory=dict, repr=False)
    opened: list[bytes] = field(default_factory=list, repr=False)
    core_limits: list[str] = field(default_factory=list)
    core_files: int = 0

    def keep(self, where: str, *data: bytes) -> None:
        self.found.setdefault(where, []).extend(data)

    def keep_files(self, where: str, files: Mapping[str, bytes]) -> None:
        """Keeps each file with its path.

        Uploads that a killed load left behind go to a line of their own, since the documents say that they may be
        left.
        """
        for path, content in files.items():
            left_of_upload = path.startswith(UPLOADS) and "killed" in where
            self.keep(
                "uploads in clear, until the next start (told)" if left_of_upload else where, path.encode() + content
            )
            self.core_files += Path(path).name.startswith("core")


async def traces(targets: AttackTargets) -> list[Attempted]:
    """Runs a service as a process with canaries in its graph and requests; loads, asks, causes errors and kills it."""
    targets.show("traces", 0, len(KILLS))
    return await asyncio.to_thread(_walk, targets)


def _walk(targets: AttackTargets) -> list[Attempted]:
    trail = LeftTraces()
    with tempfile.TemporaryDirectory(prefix="arog-traces-") as name:
        folder = Path(name)
        key = secrets.token_urlsafe(32)
        for done, how in enumerate(KILLS):
            with service_process(folder, ADMIN_KEY=key, REASONER="embedded", MAX_BODY_BYTES="20000") as service:
                Visitor(service, key, trail).visit(first=not done)
                trail.core_limits.append(service.core_limit)
                trail.keep_files("disk, while it runs", service.written)
                Visitor(service, key, trail).start_load()
                service.kill(how)
                trail.keep_files(f"disk, killed by {how.name}", service.written)
            targets.show("traces", done + 1, len(KILLS))
        with service_process(folder, ADMIN_KEY=key, REASONER="embedded") as service:
            trail.keep_files("disk, started again", service.written)
        trail.keep("standard output and error", *service.printed.read_bytes().splitlines())
        paths, seen = plant(folder), service.written
    return lines(trail, [len(canaries_in(seen.get(path, b""))) == len(ALL) for path in paths])


class Visitor:
    """A client that loads, asks and causes errors in one service, and keeps every reply with its headers."""

    def __init__(self, service: ServiceProcess, key: str, trail: LeftTraces) -> None:
        self._port, self._key, self._trail = service.port, key, trail

    def visit(self, first: bool) -> None:
        if first:
            self._wait_for(self._upload("graph.ttl", GRAPH))
            self._wait_for(self._upload("Vexquilda.ttl", BROKEN_GRAPH))
        for text in (*ANSWERED, *ASKED):
            self._ask(text)
        for text in TALKED_OF:
            self._ask(text, "dialogue")
        self._err()
        for path in ("/metrics", "/readyz", "/healthz", "/graphs", "/admin/graphs", "/ledger?limit=1000"):
            self._trail.keep("metrics, health, lists, ledger", self._call("GET", path))

    def start_load(self) -> None:
        """Starts a load that is still going on when this returns."""
        more = "".join(f':p{number} rdfs:label "Vexquilda {number}" .\n' for number in range(100, _MORE_FACTS))
        self._upload("graph.ttl", GRAPH + more)

    def _ask(self, text: str, strategy: str = "sets") -> None:
        dialogue = Dialogue(NAME, KeyPair.generate(), strategy, {})
        reply = self._call("POST", "/chat", content=dialogue.request(text, None, {}).model_dump_json())
        self._trail.keep("replies", reply)
        try:
            sealed = ChatAnswer.model_validate_json(reply.partition(b"\r\n\r\n")[2])
        except ValidationError:
            return
        if text in (*ANSWERED, *TALKED_OF):
            self._trail.opened.append("\n".join(dialogue.accept(text, sealed).names).encode())

    def _err(self) -> None:
        user = {"role": "user", "content": ANSWERED[0]}
        whole: dict[str, object] = {"graph": NAME, "messages": [user]}
        for body in (
            {**whole, "messages": [{**user, "role": "Hollowgrimm"}]},
            {**whole, "Hollowgrimm": "Tarnsworth"},
            {**whole, "public_key": "Hollowgrimm"},
            {**whole, "graph": "Vexquilda Thrombury"},
            {**whole, "conversation": "Hollowgrimm"},
            {**whole, "messages": [{**user, "content": ANSWERED[0] * 2_000}]},
        ):
            self._trail.keep("error bodies", self._call("POST", "/chat", content=json.dumps(body)))
        for path in ("/Hollowgrimm", "/admin/jobs/Hollowgrimm", "/trace/Hollowgrimm"):
            self._trail.keep("error bodies", self._call("GET", path))
        self._trail.keep("error bodies", self._call("PATCH", "/chat"))
        self._trail.keep("error bodies", self._call("DELETE", "/admin/keys/Hollowgrimm"))
        self._trail.keep("error bodies", self._call("POST", "/chat", content='{"graph": Vexquilda'))

    def _upload(self, file: str, content: str) -> str:
        """Uploads a graph file and returns the id of the job."""
        files = {"file": (file, content.encode()), "policy": ("Belmorvath.toml", POLICY.encode())}
        reply = self._call("POST", f"/admin/graphs/{NAME}", files=files)
        self._trail.keep("replies", reply)
        return str(json.loads(reply.partition(b"\r\n\r\n")[2])["id"])

    def _wait_for(self, job: str) -> None:
        until = time.monotonic() + _LOADS_WITHIN_S
        while time.monotonic() < until:
            reply = self._call("GET", f"/admin/jobs/{job}")
            if json.loads(reply.partition(b"\r\n\r\n")[2])["state"] in ("done", "failed"):
                self._trail.keep("replies", reply)
                return
            time.sleep(0.1)
        raise TimeoutError("a load does not end")

    def _call(self, method: str, path: str, **sent: Any) -> bytes:
        """Returns headers and body of the reply as bytes; `sent` holds keyword arguments of `httpx2.request`."""
        headers = {"Authorization": f"Bearer {self._key}", "X-Request-ID": "Hollowgrimm", "User-Agent": "Hollowgrimm"}
        headers |= {"Cookie": "x=Hollowgrimm"} | ({"Content-Type": "application/json"} if "content" in sent else {})
        url = f"http://127.0.0.1:{self._port}{path}"
        reply = httpx2.request(method, url, headers=headers, timeout=60, trust_env=False, **sent)
        told = "".join(f"{name}: {value}\r\n" for name, value in reply.headers.multi_items())
        return told.encode() + b"\r\n" + reply.content


def plant(folder: Path) -> list[str]:
    """Writes the canaries into a file in each encoded form, spread over the searched folders; returns the paths."""
    places = ("data", "home", "tmp", "work")
    planted = []
    for number, (form, write) in enumerate(FORMS.items()):
        path = folder / places[number % len(places)] / f"planted-{form.replace(' ', '-')}"
        path.write_bytes(b"\x00\xff".join(write(word) for word in ALL))
        planted.append(str(path.relative_to(folder)))
    return planted


def lines(trail: LeftTraces, planted: Sequence[bool]) -> list[Attempted]:
    """Returns a line for each place, one for core files, and the controls.

    `planted` says for each planted file whether all canaries were found in it.
    """
    found = [
        Attempted.of(f"canaries in {where}", map(_holds, each), most=1.0 if where.endswith("(told)") else 0.0)
        for where, each in sorted(trail.found.items())
    ]
    # Each line reads "Max core file size", then the soft and the hard limit.
    allowed = sum(limit.split()[4:6] != ["0", "0"] for limit in trail.core_limits if limit)
    return [
        *found,
        Attempted(name="core files allowed or left", tries=len(KILLS), successes=allowed + trail.core_files),
        Attempted.of("names in what the caller's capsules open to", map(_holds, trail.opened), control=1.0),
        Attempted.of("files of canaries in every form, planted and found", planted, control=1.0),
    ]


def _holds(data: bytes) -> bool:
    return bool(canaries_in(data))
