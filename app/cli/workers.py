"""Runs the service in several worker processes that share one socket, with uvicorn's supervisor."""

from __future__ import annotations

import ctypes
import fcntl
import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from socket import socket
from typing import IO, Final

import uvicorn
from uvicorn.supervisors import Multiprocess

from app.telemetry.metrics import WORKERS_FOLDER

MAX_WORKERS: Final = 4
"""The greatest number of workers that are started unasked: each takes the memory of a service. Chosen by hand."""
MEMORY_OF_A_WORKER: Final = 4 * 2**30
"""The bytes of the machine's memory for each worker that is started unasked. Chosen by hand: a worker takes 0.6 GB and
what it holds of its graphs' names, and loads need theirs."""
HANGS_AFTER_S: Final = 60
"""A worker that does not answer its supervisor for so long is replaced. It takes seconds to import its modules."""
LOOK_EVERY_S: Final = 0.1
_SET_DEATH_SIGNAL: Final = 1  # PR_SET_PDEATHSIG of linux/prctl.h
_LEADS, _PREPARED = "leads", "prepared"


def default_workers(memory_limit: Path = Path("/sys/fs/cgroup/memory.max")) -> int:
    """Returns one worker for each core and each 4 GB of memory that this process may use, from 1 to MAX_WORKERS."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if memory_limit.is_file() and (text := memory_limit.read_text("ascii").strip()).isdecimal():
        memory = min(memory, int(text))
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores, memory // MEMORY_OF_A_WORKER, MAX_WORKERS))


@dataclass(slots=True)
class WorkerGroup:
    """One worker's view of all workers of a service. They share `folder`; one of them, the leader, holds a lock in it.

    The leader prepares the data folder and prints on the terminal, so that both happen once. When it dies, the first
    worker that asks leads.
    """

    folder: Path
    _lock: IO[bytes] | None = field(default=None, repr=False)

    def leads(self) -> bool:
        """Returns True if this worker leads, which it does from now on if no living worker does."""
        if self._lock is None:
            lock = (self.folder / _LEADS).open("ab")
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                lock.close()
                return False
            self._lock = lock
        return True

    @property
    def is_prepared(self) -> bool:
        """True once a leader has prepared the data folder, or has failed to."""
        return (self.folder / _PREPARED).exists()

    def tell_prepared(self) -> None:
        (self.folder / _PREPARED).touch()

    def wait_for_turn(self) -> bool:
        """Waits until a leader has prepared the data folder; returns True if this worker has to do it."""
        while not self.is_prepared:
            if self.leads():
                return True
            time.sleep(LOOK_EVERY_S)
        return False


@contextmanager
def worker_group() -> Iterator[WorkerGroup]:
    """Makes the folder of a group of workers; their counters of /metrics are kept in it too."""
    with tempfile.TemporaryDirectory(prefix="arog-workers-") as folder:
        os.environ[WORKERS_FOLDER] = folder
        try:
            yield WorkerGroup(Path(folder))
        finally:
            del os.environ[WORKERS_FOLDER]


class _Supervisor(Multiprocess):
    """Remembers the signal that ended the workers."""

    ended_by: signal.Signals | None = None

    def keep_subprocess_alive(self) -> None:
        """Replaces the workers that are dead or hang. Holds no copy of a worker's end of its pipe: while it did, one
        that was killed before it answered would count as alive until HANGS_AFTER_S."""
        for process in self.processes:
            process.child_conn.close()
        super().keep_subprocess_alive()

    def handle_int(self) -> None:
        self.ended_by = signal.SIGINT
        super().handle_int()

    def handle_term(self) -> None:
        self.ended_by = signal.SIGTERM
        super().handle_term()

    def handle_hup(self) -> None:
        """Ends the workers, as one process alone ends when its terminal is closed; uvicorn would restart them."""
        self.ended_by = signal.SIGHUP
        self.should_exit.set()


def run_workers(config: uvicorn.Config, listening: socket) -> signal.Signals | None:
    """Runs the workers until a signal comes, and returns it; None if they ended by themselves."""
    supervisor = _Supervisor(config, [listening])
    supervisor.run()
    return supervisor.ended_by


def end_by(ended_by: signal.Signals) -> None:
    """Ends this process by a signal that its supervisor has caught, so that its exit status tells of it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for each in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_DFL)
    signal.raise_signal(ended_by)


def end_with_supervisor() -> None:
    """Has the kernel (Linux alone) end this worker when its supervisor is killed; else it would keep the port."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_DEATH_SIGNAL, signal.SIGTERM, 0, 0, 0)
