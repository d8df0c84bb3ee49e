"""`arog serve` as a process of its own, whose output, folders and replies can all be read."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2

from app.settings import load_settings
from kg_store.keys import MasterKey

STARTS_WITHIN_S = 120.0


@dataclass(frozen=True, slots=True)
class Process:
    """A running service. All that it writes lies in `folder`; `printed` is its standard output and error."""

    http: httpx2.Client
    folder: Path
    printed: Path

    @property
    def written(self) -> dict[str, bytes]:
        """Every file of its data folder, its home and its folder for temporary files, with its path."""
        places = (self.folder / name for name in ("data", "home", "tmp"))
        files = [path for place in places for path in place.rglob("*") if path.is_file()]
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in files}


@contextmanager
def serving(folder: Path, **settings: str) -> Iterator[Process]:
    """Starts the service with `settings` (without their prefix) and waits until it is ready."""
    for name in ("home", "tmp", "keys"):
        (folder / name).mkdir()
    key_file = folder / "keys" / "master.key"
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
        printed.open("wb") as output,
        subprocess.Popen(command, stdout=output, stderr=output, env=environment, cwd=folder) as process,
        httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as http,
    ):
        try:
            _wait_until_ready(process, http)
            yield Process(http, folder, printed)
        finally:
            process.terminate()


def _wait_until_ready(process: subprocess.Popen[bytes], http: httpx2.Client) -> None:
    until = time.monotonic() + STARTS_WITHIN_S
    while time.monotonic() < until:
        assert process.poll() is None, "the service has ended"
        try:
            if http.get("/readyz").status_code == 200:
                return
        except httpx2.TransportError:
            """It does not listen yet."""
        time.sleep(0.1)
    raise AssertionError("the service does not get ready")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port
