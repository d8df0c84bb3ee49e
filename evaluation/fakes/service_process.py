"""`arog serve` as a separate process, whose output and folders can be read, and which can be killed."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import socket
import subprocess  # our own words alone  # nosec B404
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx2

from app.settings import load_settings
from kg_store.storage.master_key import MasterKey

STARTS_WITHIN_S = 120.0
_OWN_FOLDERS = ("data", "home", "tmp", "work")


class ServiceDiedError(Exception):
    """The service ended or was not ready in time; its output says why."""


@dataclass(frozen=True, slots=True)
class ServiceProcess:
    """A running service. All that it writes is in `folder`; `printed` holds its standard output and error."""

    port: int
    folder: Path
    printed: Path
    process: subprocess.Popen[bytes] = field(repr=False)

    @property
    def written(self) -> dict[str, bytes]:
        """Returns the content by path of every file in its data, home, temporary and working folders.

        A file that is deleted meanwhile is left out.
        """
        found = {}
        for path in (path for name in _OWN_FOLDERS for path in (self.folder / name).rglob("*")):
            try:
                if path.is_file():
                    found[str(path.relative_to(self.folder))] = path.read_bytes()
            except FileNotFoundError:
                continue
        return found

    @property
    def core_limit(self) -> str:
        """Returns the kernel's line about core files of this process; "" if there is no /proc."""
        try:
            limits = Path(f"/proc/{self.process.pid}/limits").read_text("ascii")
        except OSError:
            return ""
        return next(line for line in limits.splitlines() if line.startswith("Max core file size"))

    def kill(self, how: signal.Signals) -> None:
        """Sends the signal and waits until the process has ended."""
        self.process.send_signal(how)
        self.process.wait()


@contextmanager
def service_process(folder: Path, **settings: str) -> Iterator[ServiceProcess]:
    """Starts the service with `settings` (without their prefix) in `folder`, and waits until it answers.

    An earlier service may have run in the folder. Core files are allowed as far as the machine allows, because the
    service has to forbid them itself. Raises ServiceDiedError.
    """
    for name in ("home", "tmp", "work", "keys"):
        (folder / name).mkdir(exist_ok=True)
    key_file = folder / "keys" / "master.key"
    if not key_file.exists():
        key_file.touch(0o600)
        key_file.write_text(MasterKey.generate())
    port = free_port()
    ours = {"DATA_DIR": str(folder / "data"), "MASTER_KEY_FILE": str(key_file), "PORT": str(port), "WORKERS": "1"}
    # All services share one cache, so that the sentence model is exported only once.
    ours |= {"CACHE_DIR": str(load_settings(None).cache_dir), **settings}
    # Variables of this shell with our prefix are dropped; others, such as those of coverage, are passed on.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AROG_")}
    environment |= {f"AROG_{name}": value for name, value in ours.items()}
    environment |= {"HOME": str(folder / "home"), "TMPDIR": str(folder / "tmp"), "HF_HUB_OFFLINE": "1"}
    printed = folder / "printed.txt"
    command = [sys.executable, "-m", "client_sdk", "serve", "--no-demo"]
    with (
        printed.open("ab") as output,
        _core_files_allowed(),
        subprocess.Popen(  # noqa: S603  # our own words  # nosec B603
            command, stdout=output, stderr=output, env=environment, cwd=folder / "work"
        ) as process,
    ):
        service = ServiceProcess(port, folder, printed, process)
        try:
            wait_until_ready(f"http://127.0.0.1:{port}/readyz", process, STARTS_WITHIN_S)
            yield service
        finally:
            process.terminate()


@asynccontextmanager
async def calling(service: ServiceProcess, key: str, at_once: int) -> AsyncIterator[httpx2.AsyncClient]:
    """Yields a client that asks the service with this key, with so many requests open at once."""
    async with httpx2.AsyncClient(
        base_url=f"http://127.0.0.1:{service.port}",
        headers={"Authorization": f"Bearer {key}"},
        limits=httpx2.Limits(max_connections=at_once, max_keepalive_connections=at_once),
        timeout=300,
        trust_env=False,
    ) as http:
        yield http


async def load_graph(http: httpx2.AsyncClient, file: Path, policy: str | None = None) -> None:
    """Loads a file as the graph that is called graph, by the proposed policy without another."""
    with file.open("rb") as opened:
        files, data = {"file": (file.name, opened)}, {} if policy is None else {"policy": policy}
        started = await http.post("/admin/graphs/graph", files=files, data=data)
    job = started.json()["id"]
    while (await http.get(f"/admin/jobs/{job}")).json()["state"] != "done":
        await asyncio.sleep(0.2)


@dataclass(frozen=True, slots=True)
class Spent:
    """The supervisor and each worker: megabytes (what several share is divided among them: PSS), processor seconds."""

    memory_mb: list[float]
    seconds: list[float]


def spent_by(service: ServiceProcess) -> Spent:
    supervisor = service.process.pid
    children = Path(f"/proc/{supervisor}/task/{supervisor}/children").read_text("ascii").split()
    spent = Spent([], [])
    for each in (supervisor, *children):
        # A child may end between being listed and being read.
        with suppress(FileNotFoundError, ProcessLookupError):
            memory = Path(f"/proc/{each}/smaps_rollup").read_text("ascii")
            ticks = Path(f"/proc/{each}/stat").read_text("ascii").rpartition(")")[2].split()[11:13]
            spent.memory_mb.append(int(memory.partition("\nPss:")[2].split()[0]) / 1024)
            spent.seconds.append(sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK"))
    return spent


@contextmanager
def _core_files_allowed() -> Iterator[None]:
    """Allows core files while a child is started, since a child inherits the limits of its parent."""
    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, (soft, hard))


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def wait_until_ready(url: str, process: subprocess.Popen[bytes], within_s: float) -> None:
    """Asks `url` until it answers 200. Raises ServiceDiedError if the process ends or the time is up."""
    until = time.monotonic() + within_s
    while time.monotonic() < until and process.poll() is None:
        try:
            if httpx2.get(url, timeout=10.0, trust_env=False).status_code == 200:
                return
        except httpx2.HTTPError:
            pass
        time.sleep(0.1)
    raise ServiceDiedError("the process has ended" if process.poll() is not None else "it does not get ready")
