"""`arog proxy` as a separate process, and as a server in a thread whose upstream a test provides."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from client_sdk.proxy.app import AccessDecision, create_app
from client_sdk.proxy.sessions import Upstream

ROOT = Path(__file__).parents[3]
STARTS_WITHIN_S = 60.0


@dataclass(frozen=True, slots=True)
class ProxyProcess:
    """A running proxy. All files that it may write are in `folder`; `printed` holds its standard output and error."""

    url: str
    folder: Path
    printed: Path
    process: subprocess.Popen[bytes]

    @property
    def port(self) -> int:
        return int(self.url.removesuffix("/v1").rpartition(":")[2])

    @property
    def written(self) -> dict[str, bytes]:
        """Returns the content by path of every file in its home, config, temporary and working folders."""
        files = [path for name in ("home", "tmp", "work", "config") for path in (self.folder / name).rglob("*")]
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in files if path.is_file()}


@contextmanager
def proxy_process(folder: Path, upstream: str, api_key: str, *options: str, **settings: str) -> Iterator[ProxyProcess]:
    """Start `arog proxy OPTIONS` on a free port with `settings` (without their prefix), and wait for its address."""
    for name in ("home", "tmp", "work"):
        (folder / name).mkdir(exist_ok=True)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AROG_")}
    ours = {"URL": upstream, "API_KEY": api_key, "CONFIG_DIR": str(folder / "config"), **settings}
    environment |= {f"AROG_{name}": value for name, value in ours.items()}
    environment |= {"HOME": str(folder / "home"), "TMPDIR": str(folder / "tmp"), "PYTHONPATH": str(ROOT)}
    environment |= {"PYTHONDONTWRITEBYTECODE": "1"}
    printed = folder / "printed.txt"
    command = [sys.executable, "-m", "client_sdk", "proxy", "--port", "0", *options]
    with (
        printed.open("ab") as output,
        subprocess.Popen(command, stdout=output, stderr=output, env=environment, cwd=folder / "work") as process,
    ):
        try:
            yield ProxyProcess(_url_when_ready(printed, process), folder, printed, process)
        finally:
            process.terminate()


def _url_when_ready(printed: Path, process: subprocess.Popen[bytes]) -> str:
    until = time.monotonic() + STARTS_WITHIN_S
    while time.monotonic() < until:
        text = printed.read_text()
        told = re.search(r"http://\S+/v1", text)
        if told and re.search(r"^(Models|There is no graph|The service can't)", text, re.M):
            return told.group()
        assert process.poll() is None, text
        time.sleep(0.05)
    raise AssertionError("the proxy does not start")


@contextmanager
def proxy_thread(upstream: Upstream, entry: AccessDecision | None = None, *, evidence: bool = False) -> Iterator[str]:
    """Serve the proxy's application on a loopback socket and yield its base URL."""
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        create_app(upstream, entry or AccessDecision(), evidence=evidence), log_config=None, access_log=False,
        timeout_graceful_shutdown=2,
    )  # fmt: skip
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
    finally:
        server.should_exit = True
        thread.join()
