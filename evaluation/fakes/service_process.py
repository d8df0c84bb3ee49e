"""`arog serve` as a process of its own, whose output and folders can be read, and which can be killed."""

from __future__ import annotations

import os
import resource
import signal
import socket
import subprocess  # our own words alone  # nosec B404
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx2

from app.settings import load_settings
from kg_store.storage.master_key import MasterKey

STARTS_WITHIN_S = 120.0
_OWN_FOLDERS = ("data", "home", "tmp", "work")


class ServiceDiedError(Exception):
    """The service ended, or did not get ready in time; its output says why."""


@dataclass(frozen=True, slots=True)
class ServiceProcess:
    """A running service. All that it writes lies in `folder`; `printed` is its standard output and error."""

    port: int
    folder: Path
    printed: Path
    process: subprocess.Popen[bytes] = field(repr=False)

    @property
    def written(self) -> dict[str, bytes]:
        """Every file of its data folder, its home, its folder for temporary files and the one it was started in, with
        its path. A file that goes meanwhile is left out."""
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
        """The line of the kernel about core files of this process; empty where there is no such table."""
        try:
            limits = Path(f"/proc/{self.process.pid}/limits").read_text("ascii")
        except OSError:
            return ""
        return next(line for line in limits.splitlines() if line.startswith("Max core file size"))

    def kill(self, how: signal.Signals) -> None:
        """Ends it at once, and waits until it has gone."""
        self.process.send_signal(how)
        self.process.wait()


@contextmanager
def service_process(folder: Path, **settings: str) -> Iterator[ServiceProcess]:
    """Starts the service with `settings` (without their prefix) in `folder`, where an earlier one may have run, and
    waits until it answers. Core files are allowed to it as far as the machine allows: it has to forbid them itself.

    Raises ServiceDiedError.
    """
    for name in ("home", "tmp", "work", "keys"):
        (folder / name).mkdir(exist_ok=True)
    key_file = folder / "keys" / "master.key"
    if not key_file.exists():
        key_file.touch(0o600)
        key_file.write_text(MasterKey.generate())
    port = free_port()
    ours = {"DATA_DIR": str(folder / "data"), "MASTER_KEY_FILE": str(key_file), "PORT": str(port)}
    # The network of the sentence model is exported once for all of them.
    ours |= {"CACHE_DIR": str(load_settings(None).cache_dir), **settings}
    # Coverage's own variables pass, ours of this shell do not.
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


@contextmanager
def _core_files_allowed() -> Iterator[None]:
    """A child takes over the limits of whoever starts it."""
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
    """Asks `url` until it answers 200. Raises ServiceDiedError where the process ends before, or takes longer."""
    until = time.monotonic() + within_s
    while time.monotonic() < until and process.poll() is None:
        try:
            if httpx2.get(url, timeout=10.0, trust_env=False).status_code == 200:
                return
        except httpx2.HTTPError:
            pass
        time.sleep(0.1)
    raise ServiceDiedError("the process has ended" if process.poll() is not None else "it does not get ready")
