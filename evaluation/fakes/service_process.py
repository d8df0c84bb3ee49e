"""`arog serve` as a process of its own, whose output and folders can be read, and which can be killed."""

from __future__ import annotations

import http.client
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
    port = _free_port()
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
            _wait_until_ready(service)
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


def _wait_until_ready(service: ServiceProcess) -> None:
    until = time.monotonic() + STARTS_WITHIN_S
    while time.monotonic() < until:
        if service.process.poll() is not None:
            raise ServiceDiedError("the service has ended")
        if _status(service.port, "/readyz") == 200:
            return
        time.sleep(0.1)
    raise ServiceDiedError("the service does not get ready")


def _status(port: int, path: str) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    except OSError:
        return 0
    finally:
        connection.close()


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port
