"""A process that imports once what tests need, and is forked for each run, since runs may kill themselves."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[3]
_LOOP = """
import json, os, sys, traceback
{setup}
for line in sys.stdin:
    arguments, folder, environment = json.loads(line)
    child = os.fork()
    if child == 0:
        os.dup2(2, 1)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        try:
            {run}(*arguments)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@dataclass(frozen=True, slots=True)
class ForkingProcess:
    """The process to fork; `printed` holds the output of all its runs."""

    process: subprocess.Popen[str]
    printed: Path

    def run(self, *arguments: str) -> int:
        """Runs a fork in the current folder and environment; return its exit status, -9 if it was killed."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps([arguments, os.getcwd(), dict(os.environ)]), file=self.process.stdin, flush=True)
        return int(self.process.stdout.readline() or self.process.wait())


@contextmanager
def forking(folder: Path, setup: str, run: str) -> Iterator[ForkingProcess]:
    """Start the process: `setup` is Python code to run once, `run` the name of a function in it that takes texts."""
    printed = folder / "printed.txt"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with (
        printed.open("w") as output,
        subprocess.Popen(
            [sys.executable, "-c", _LOOP.format(setup=setup, run=run)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=output, text=True, env=environment,
        ) as process,
    ):  # fmt: skip
        yield ForkingProcess(process, printed)
