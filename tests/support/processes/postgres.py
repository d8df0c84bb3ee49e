"""A real PostgreSQL server on a socket in a temporary folder, if PostgreSQL is installed."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import subprocess
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_FOLDERS = ("/usr/lib/postgresql", "/usr/local/pgsql", "/opt/homebrew/opt/postgresql")


def program(name: str) -> str:
    """Returns the path of one of PostgreSQL's programs; skips the test, visibly, if it is not installed."""
    found = shutil.which(name) or next(
        (str(path) for folder in _FOLDERS for path in sorted(Path(folder).glob(f"**/bin/{name}"))), None
    )
    if found is None:
        pytest.skip(f"PostgreSQL's {name} is not installed")
    return found


@contextmanager
def running() -> Iterator[str]:
    """Runs a server and yield the URL of an empty database.

    PostgreSQL refuses to run as root, so that the user `postgres` runs it then.
    """
    pytest.importorskip("psycopg")
    initdb, server = program("initdb"), program("postgres")
    user = "postgres" if os.geteuid() == 0 else None
    folder = Path(tempfile.mkdtemp(prefix="arog-pg-"))
    if user:
        shutil.chown(folder, user)
    data, quiet = folder / "data", {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run([initdb, "-D", data, "-U", "arog", "-A", "trust", "-N"], check=True, user=user, cwd=folder, **quiet)
    only_socket = ["-k", str(folder), "-c", "listen_addresses=", "-c", "fsync=off"]
    process = subprocess.Popen([server, "-D", data, *only_socket], user=user, cwd=folder, **quiet)
    try:
        ready = [program("pg_isready"), "-h", str(folder), "-t", "30", "-q"]
        while process.poll() is None and subprocess.run(ready, check=False).returncode:
            continue
        assert process.poll() is None
        yield f"postgresql+psycopg://arog@/postgres?host={folder}"
    finally:
        # A thread of a service that has ended may still hold a connection, for which a gentle end would wait.
        process.send_signal(signal.SIGINT)
        process.wait(30)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            gc.collect()
        shutil.rmtree(folder, ignore_errors=True)
