"""Runs jobs on graphs in threads and records them in the database; also the errors of jobs and erasures."""

from __future__ import annotations

import datetime as dt
import fcntl
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any, Final

from sqlalchemy import Connection, Engine, insert, select, update
from sqlalchemy.exc import SQLAlchemyError

from app.database.tables import jobs
from app.telemetry.logs import event_log
from client_sdk.protocol import ErrorBody, GraphSummary, JobStatus, PrivacySummary
from kg_store.formats.files import give_memory_back
from kg_store.storage.version_reports import GraphInfo


class UnknownJobError(Exception):
    """The tenant has no job with this id."""


class GraphBusyError(Exception):
    """A job on this graph is already running or queued."""


class UnknownNameError(Exception):
    """The graph has nothing with this name or id, or no neighbour of this kind."""


class AmbiguousNameError(Exception):
    """`count` things of the graph have this name."""

    def __init__(self, count: int) -> None:
        super().__init__(f"{count} things")
        self.count = count


class ErasureUnfinishedError(Exception):
    """An erasure is not finished; `reason` tells why in fixed words and counts. Starting it again continues it."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class JobInterruptedError(Exception):
    """The service stopped while the job ran."""


WAITS_AT_MOST_S: Final = 600.0


class JobStoppedError(Exception):
    """The owner stopped the job, or did not approve its version in time."""


class NotWaitingError(Exception):
    """The job is not waiting for approval, or was approved before."""


class JobControl:
    """Lets an owner approve or stop one job from another thread.

    `holds`: the job waits for approval before its version goes live, and the owner sees the privacy summary meanwhile.
    """

    def __init__(self, holds: bool = False, waits_at_most_s: float = WAITS_AT_MOST_S) -> None:
        self._holds, self._waits_at_most_s = holds, waits_at_most_s
        self._said, self._lock = threading.Event(), threading.Lock()
        self._told: PrivacySummary | None = None
        self._ended_by: type[JobStoppedError | JobInterruptedError] | None = None

    @property
    def awaited_summary(self) -> PrivacySummary | None:
        """The privacy summary that the owner is to approve, or None if the job is not waiting."""
        with self._lock:
            return None if self._said.is_set() else self._told

    def wait(self, told: PrivacySummary) -> None:
        """Blocks until the owner approves the version; returns at once if the job does not hold.

        Raises JobStoppedError if the owner stops the job or does not answer in time, JobInterruptedError if the
        service ends.
        """
        self.raise_if_cancelled()
        if not self._holds:
            return
        with self._lock:
            self._told = told
        if not self._said.wait(self._waits_at_most_s):
            self.stop()
        self.raise_if_cancelled()

    def approve(self) -> None:
        """Lets the version go live. Raises NotWaitingError if the job is not waiting."""
        with self._lock:
            if self._told is None or self._said.is_set():
                raise NotWaitingError
            self._said.set()

    def stop(self, because: type[JobStoppedError | JobInterruptedError] = JobStoppedError) -> None:
        """Ends the job at its next step; a job that has ended stays as it is."""
        with self._lock:
            self._ended_by = self._ended_by or because
            self._said.set()

    def raise_if_cancelled(self) -> None:
        """Raises JobStoppedError if the job was stopped, JobInterruptedError if the service ends."""
        if self._ended_by is not None:
            raise self._ended_by


class GraphLocks:
    """Locks graphs for one job each, against all processes that share the data folder.

    A killed process loses its locks at once, so that a lock which is free tells that no job of the graph runs.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder = folder

    def take(self, tenant: str, graph: str) -> IO[bytes]:
        """Locks a graph until the returned file is closed. Raises GraphBusyError."""
        name = blake2b(f"{tenant}/{graph}".encode(), digest_size=16).hexdigest()
        # The file is never deleted, because another process may just be about to lock it.
        lock = (self._folder / name).open("ab")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            raise GraphBusyError from None
        return lock


Progress = Callable[[str, float], None]
MAX_CONCURRENT_LOADS = 2
MAX_CLOSING_S: Final = 3.0
"""The longest time that the end of the service waits for a running job to reach its next step."""
WRITE_EVERY_S = 2.0
ASK_EVERY_S = 0.5
_UNFINISHED: Final = ("queued", "running", "waiting")
_APPROVE, _STOP = "approve", "stop"


log = event_log("jobs")


@dataclass(frozen=True, slots=True)
class JobResult:
    """The result of a finished job. `policy` is the proposed policy as TOML, if no policy was given."""

    graph: GraphSummary
    policy: str | None = None
    notes: tuple[str, ...] = ()
    privacy: PrivacySummary | None = None


def summary_of(info: GraphInfo, beside: Sequence[str] = ()) -> GraphSummary:
    """Returns the counts of a graph's version, and the public graphs that stand `beside` it."""
    return GraphSummary(
        name=info.name,
        version=info.version,
        triples=info.triples,
        entities=info.entities,
        values=info.values,
        relations=info.relations,
        loaded_at=info.loaded_at,
        public_words=len(info.public_words),
        public=info.is_public,
        beside=list(beside),
    )


Work = Callable[[Progress], JobResult]
DescribeError = Callable[[BaseException, str], ErrorBody]


class JobRunner:
    """Runs jobs, `most` at a time and never two of one graph. `home` is the id of the data folder that they write to.

    Several processes may share the database and the folder: a job runs in one of them, and all of them tell of it,
    approve it and stop it, through its row in the database. `locks`: the folder for their locks. `describe_error`
    turns an error and its id into the body that the caller is sent.
    """

    def __init__(
        self, engine: Engine, home: str, locks: Path, describe_error: DescribeError, most: int = MAX_CONCURRENT_LOADS
    ) -> None:
        self._engine, self.home, self._describe_error = engine, home, describe_error
        self._turns = threading.Semaphore(most)
        self._graph_locks, self._lock = GraphLocks(locks), threading.Lock()
        self._live: dict[str, JobStatus] = {}
        self._gates: dict[str, JobControl] = {}
        self._taken: dict[str, IO[bytes]] = {}
        self._threads: dict[str, tuple[threading.Thread, Callable[[], None]]] = {}
        self._watcher: threading.Thread | None = None
        self._closed = threading.Event()

    def start(
        self,
        tenant: str,
        graph: str,
        work: Work,
        clean_up: Callable[[], None] = lambda: None,
        gate: JobControl | None = None,
    ) -> JobStatus:
        """Queues `work` as a job on `graph`, and returns its status. Raises GraphBusyError.

        `clean_up` always runs in the end, even if the job is refused. `gate`: through it the owner approves or stops
        the job; without one, the job does not wait for approval.
        """
        status = JobStatus(id="j" + secrets.token_hex(12), state="queued")
        try:
            self._claim(tenant, graph, status, gate or JobControl())
        except BaseException:
            clean_up()
            raise
        # The process may end while such a thread runs; one of an executor would be waited for.
        thread = threading.Thread(target=self._run, args=(status.id, work, clean_up), name="load", daemon=True)
        with self._lock:
            self._threads[status.id] = thread, clean_up
        thread.start()
        return status

    def status(self, tenant: str, job_id: str) -> JobStatus:
        """Returns the state of a job of `tenant`. Raises UnknownJobError."""
        ours = (jobs.c.id == job_id) & (jobs.c.tenant == tenant)
        with self._lock:
            live, gate = self._live.get(job_id), self._gates.get(job_id)
        # Read after the running jobs, so that a job that ends in between is found in the database.
        with self._engine.connect() as connection:
            row = connection.execute(select(jobs).where(ours)).one_or_none()
        if row is None:
            raise UnknownJobError
        if live is not None and gate is not None and (told := gate.awaited_summary) is not None:
            return live.model_copy(update={"state": "waiting", "privacy": told})
        if live is None and row.state == "waiting" and row.wish:
            return JobStatus(id=row.id, state="running", step=row.step, percent=row.percent)
        return live or JobStatus(id=row.id, state=row.state, step=row.step, percent=row.percent, **row.result)

    def approve(self, tenant: str, job_id: str) -> JobStatus:
        """Lets the version of a waiting job go live, in whichever process it runs.

        Raises UnknownJobError, NotWaitingError.
        """
        if self.status(tenant, job_id).state != "waiting" or not self._wish(job_id, _APPROVE):
            raise NotWaitingError
        return self.status(tenant, job_id)

    def stop(self, tenant: str, job_id: str) -> JobStatus:
        """Ends a job at its next step and leaves the graph unchanged; a job that has ended stays as it is.

        Raises UnknownJobError.
        """
        status = self.status(tenant, job_id)
        if status.state in _UNFINISHED:
            self._wish(job_id, _STOP)
        return status

    def mark_interrupted(self) -> int:
        """Marks as failed the jobs of this data folder whose process has ended; returns their number."""
        left = select(jobs.c.tenant, jobs.c.graph).where(jobs.c.home == self.home, jobs.c.state.in_(_UNFINISHED))
        with self._engine.connect() as connection:
            graphs = {(row.tenant, row.graph) for row in connection.execute(left)}
        marked = 0
        for tenant, graph in graphs:
            with suppress(GraphBusyError), self._graph_locks.take(tenant, graph), self._engine.begin() as connection:
                marked += self._mark_interrupted(connection, tenant, graph)
        return marked

    @contextmanager
    def no_job_on(self, tenant: str, graph: str) -> Iterator[None]:
        """Keeps jobs off a graph while the context is open. Raises GraphBusyError if one is running or queued."""
        with self._graph_locks.take(tenant, graph):
            yield

    def close(self) -> None:
        """Ends the runner within MAX_CLOSING_S: running, waiting and queued jobs fail, as interrupted.

        Each ends at its next step. One whose step takes longer is marked at once, and keeps its graph's lock until the
        process ends; it makes no version live, because it reports its progress before.
        """
        with self._lock:
            gates, threads = list(self._gates.values()), [thread for thread, _ in self._threads.values()]
        for gate in gates:
            gate.stop(JobInterruptedError)
        until = time.monotonic() + MAX_CLOSING_S
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))
        self._closed.set()
        with self._lock:
            watcher, left = self._watcher, dict(self._threads)
        for job_id, (_, clean_up) in left.items():
            body = self._describe_error(JobInterruptedError(), "e" + secrets.token_hex(8))
            log.warning("job_failed", job=job_id, id=body.id, code=body.code)
            self._write(JobStatus(id=job_id, state="failed", error=body), finished=True)
            clean_up()
        if watcher is not None:
            watcher.join()

    def _wish(self, job_id: str, wish: str) -> bool:
        """Tells the process that runs a job to approve or stop it; returns False if it was approved before."""
        free = jobs.c.id == job_id if wish == _STOP else (jobs.c.id == job_id) & (jobs.c.wish == "")
        with self._engine.begin() as connection:
            if not connection.execute(update(jobs).where(free).values(wish=wish)).rowcount:
                return False
        with self._lock:
            gate = self._gates.get(job_id)
        if gate is not None:
            _carry_out(gate, wish)
        return True

    def _watch(self) -> None:
        """Tells other processes which jobs wait here, and carries out what they were told, until no job is left."""
        while not self._closed.wait(ASK_EVERY_S):
            with self._lock:
                gates, live = dict(self._gates), dict(self._live)
                if not gates:
                    self._watcher = None
                    return
            try:
                for job_id, gate in gates.items():
                    if (told := gate.awaited_summary) is not None:
                        self._write(live[job_id].model_copy(update={"state": "waiting", "privacy": told}), "running")
                wished = select(jobs.c.id, jobs.c.wish).where(jobs.c.id.in_(gates), jobs.c.wish != "")
                with self._engine.connect() as connection:
                    for row in connection.execute(wished).all():
                        _carry_out(gates[row.id], row.wish)
            except SQLAlchemyError as error:
                log.error("jobs_not_watched", exc_info=error)

    def _mark_interrupted(self, connection: Connection, tenant: str, graph: str) -> int:
        """Marks the unfinished jobs of a graph as failed. The caller holds the graph's lock, so that none runs."""
        body = self._describe_error(JobInterruptedError(), "e" + secrets.token_hex(8))
        ended = {"state": "failed", "result": {"error": body.model_dump()}, "finished_at": _now()}
        ours = (jobs.c.home == self.home) & (jobs.c.tenant == tenant) & (jobs.c.graph == graph)
        left = update(jobs).where(ours & jobs.c.state.in_(_UNFINISHED)).values(ended)
        return connection.execute(left).rowcount

    def _claim(self, tenant: str, graph: str, status: JobStatus, gate: JobControl) -> None:
        lock = self._graph_locks.take(tenant, graph)
        row = {"id": status.id, "tenant": tenant, "graph": graph, "home": self.home, "created_at": _now()}
        try:
            with self._engine.begin() as connection:
                self._mark_interrupted(connection, tenant, graph)
                connection.execute(insert(jobs).values({**row, **_columns(status)}))
        except BaseException:
            lock.close()
            raise
        with self._lock:
            self._live[status.id], self._gates[status.id], self._taken[status.id] = status, gate, lock
            if self._watcher is None:
                self._watcher = threading.Thread(target=self._watch, name="jobs", daemon=True)
                self._watcher.start()

    def _run(self, job_id: str, work: Work, clean_up: Callable[[], None]) -> None:
        with self._turns:
            self._run_in_turn(job_id, work, clean_up)

    def _run_in_turn(self, job_id: str, work: Work, clean_up: Callable[[], None]) -> None:
        log.info("job_started", job=job_id)
        try:
            done = work(self._reporter(job_id))
            ended = JobStatus(
                id=job_id,
                state="done",
                step="done",
                percent=100.0,
                graph=done.graph,
                policy=done.policy,
                notes=list(done.notes),
                privacy=done.privacy,
            )
        except Exception as error:
            body = self._describe_error(error, "e" + secrets.token_hex(8))
            log.warning("job_failed", job=job_id, id=body.id, code=body.code, exc_info=error)
            ended = JobStatus(id=job_id, state="failed", error=body)
        finally:
            clean_up()
        unwritten = None
        try:
            self._write(ended, finished=True)
        except Exception as error:
            # For example, on a full disk. Callers get the outcome from memory; the next start marks the row as failed.
            log.error("job_not_recorded", job=job_id, exc_info=error)
            unwritten = ended
        self._release(job_id, unwritten)
        give_memory_back()
        log.info("job_ended", job=job_id, state=ended.state)

    def _reporter(self, job_id: str) -> Progress:
        """Returns a function that reports progress to memory at once, and to the database every WRITE_EVERY_S."""
        written, gate = time.monotonic(), self._gates[job_id]

        def report(step: str, percent: float) -> None:
            nonlocal written
            gate.raise_if_cancelled()
            status = JobStatus(id=job_id, state="running", step=step, percent=min(max(percent, 0.0), 100.0))
            with self._lock:
                self._live[job_id] = status
            if time.monotonic() - written > WRITE_EVERY_S:
                written = time.monotonic()
                self._write(status)

        report("starting", 0.0)
        self._write(self._live[job_id])
        return report

    def _write(self, status: JobStatus, only_if: str | None = None, finished: bool = False) -> None:
        """Writes a status to the job's row; with `only_if` no other state than that one is replaced."""
        row = {**_columns(status), "finished_at": _now() if finished else None}
        ours = jobs.c.id == status.id if only_if is None else (jobs.c.id == status.id) & (jobs.c.state == only_if)
        with self._engine.begin() as connection:
            connection.execute(update(jobs).where(ours).values(row))

    def _release(self, job_id: str, unwritten: JobStatus | None = None) -> None:
        with self._lock:
            self._live.pop(job_id, None)
            if unwritten is not None:
                self._live[job_id] = unwritten
            self._gates.pop(job_id, None)
            self._threads.pop(job_id, None)
            self._taken.pop(job_id).close()


def _carry_out(gate: JobControl, wish: str) -> None:
    if wish == _STOP:
        gate.stop()
    else:
        with suppress(NotWaitingError):
            gate.approve()


def _columns(status: JobStatus) -> dict[str, Any]:
    """Returns a status as the columns of its row; what has no column of its own is JSON in `result`."""
    told = status.model_dump(mode="json", exclude={"id", "state", "step", "percent"}, exclude_defaults=True)
    return {"state": status.state, "step": status.step, "percent": status.percent, "result": told}


def _now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)
