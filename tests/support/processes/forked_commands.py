"""`arog` for documents: a process that has imported the commands once, and a fork of it for each that is typed."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.documents import ROOT

STARTS_WITHIN_S = 60.0
# Settings are read when a command runs, so the environment is that of whoever typed it.
_SERVER = """
import json, os, socket, sys, traceback
import app.cli.main, app.main, client_sdk.cli.commands, client_sdk.cli.main, rich.console, rich.table
with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
    listening.bind(sys.argv[1])
    listening.listen()
    children = set()
    while True:
        asked, _ = listening.accept()
        children = {child for child in children if os.waitpid(child, os.WNOHANG)[0] == 0}
        if child := os.fork():
            children.add(child)
            asked.close()
            continue
        told, streams, _, _ = socket.recv_fds(asked, 1_000_000, 3)
        arguments, folder, environment = json.loads(told)
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        try:
            status = client_sdk.cli.main.run(arguments)
        except BaseException:
            traceback.print_exc()
            status = 1
        sys.stdout.flush()
        sys.stderr.flush()
        asked.send(str(status).encode())
        os._exit(0)
"""
_COMMAND = """#!{python} -IS
import json, os, socket, sys

with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as asked:
    asked.connect({address!r})
    told = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(asked, [told], [0, 1, 2])
    sys.exit(int(asked.recv(10) or 1))
"""


@contextmanager
def forked(command: Path, folder: Path) -> Iterator[None]:
    """Until its end the program `command`, an `arog`, is such a fork."""
    address = folder / "a"
    with subprocess.Popen([sys.executable, "-c", _SERVER, address], cwd=ROOT) as process:
        try:
            until = time.monotonic() + STARTS_WITHIN_S
            while not address.exists():
                assert process.poll() is None
                assert time.monotonic() < until
                time.sleep(0.05)
            command.write_text(_COMMAND.format(python=sys.executable, address=str(address)), "utf-8")
            yield
        finally:
            process.terminate()
