"""`arog serve` in an empty folder as in the README: with the demo graph, its key, and `.venv/bin/arog`."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from app.settings import load_settings
from tests.support.documents import ROOT
from tests.support.waiting import until_healthy

STARTS_WITHIN_S = 300.0
AROG = """#!{python}
from client_sdk.cli.main import main

main()
"""
PORT_OF_THE_DOCUMENTS = "127.0.0.1:8000"


@dataclass(frozen=True, slots=True)
class DemoService:
    """A running service. `environment` is for programs that use it from `folder`."""

    folder: Path
    url: str
    environment: dict[str, str] = field(repr=False)

    @property
    def api_key(self) -> str:
        return (self.folder / "data" / "demo.key").read_text("ascii").strip()

    def here(self, text: str) -> str:
        """Returns the text of a document with the address of this service."""
        return text.replace(PORT_OF_THE_DOCUMENTS, self.url.removeprefix("http://"))


@contextmanager
def demo_service(folder: Path, **settings: str) -> Iterator[DemoService]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    environment = _environment(folder, port) | settings
    _put_commands(folder)
    with (folder / "printed.txt").open("wb") as printed:
        process = subprocess.Popen(
            [folder / ".venv" / "bin" / "arog", "serve"], cwd=folder, env=environment, stdout=printed, stderr=printed
        )
    try:
        until_healthy(f"{url}/readyz", process, folder / "printed.txt", STARTS_WITHIN_S)
        yield DemoService(folder, url, environment | {"AROG_URL": url})
    finally:
        process.terminate()
        process.wait(30)


def _environment(folder: Path, port: int) -> dict[str, str]:
    """Returns this shell's environment without its own settings; all tests share the cache of the sentence model."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("AROG_")}
    return ours | {
        "AROG_PORT": str(port),
        "AROG_WORKERS": "1",
        "AROG_CACHE_DIR": str(load_settings(None).cache_dir),
        "AROG_CONFIG_DIR": str(folder / "config"),
        "HF_HUB_OFFLINE": "1",
        "PYTHONPATH": str(ROOT),
        "PATH": f"{folder / '.venv' / 'bin'}:{os.environ['PATH']}",
    }


def _put_commands(folder: Path) -> None:
    """Writes `.venv/bin/arog` and `.venv/bin/python`, where `make serve` puts them."""
    commands = {"arog": AROG.format(python=sys.executable), "python": f'#!/bin/sh\nexec "{sys.executable}" "$@"\n'}
    (folder / ".venv" / "bin").mkdir(parents=True)
    for name, text in commands.items():
        command = folder / ".venv" / "bin" / name
        command.write_text(text)
        command.chmod(0o755)
