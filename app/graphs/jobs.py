"""Runs jobs on graphs in threads and records them in the database; also the errors of jobs and erasures."""

from __future__ import annotations

import datetime as dt
import secrets
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Engine, insert, select, update

from app.database.tables import jobs
from app.graphs.previews.previewer import give_memory_back
from app.telemetry.logs import event_log
from client_sdk.protocol import ErrorBody, GraphSummary, JobStatus, PrivacySummary
from kg_store.version_builder import GraphInfo


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
    """The job is not waiting for approval in this process."""


class JobControl:
    """Lets an owner approve or stop one job from another thread.

    `holds`: the job waits for approval before its version goes live, and the owner sees the privacy summary meanwhile.
    """

    def __init__(self, holds: bool = False, waits_at_most_s: float = WAITS_AT_MOST_S) -> None:
        self._holds, self._waits_at_most_s = holds, waits_at_most_s
        self._said, self._lock = threading.Event(), threading.Lock()
        self._told: PrivacySummary | None = None
        self._stopped = False

    @property
    def awaited_summary(self) -> PrivacySummary | None:
        """The privacy summary that the owner is to approve, or None if the job is not waiting."""
        with self._lock:
            return None if self._said.is_set() else self._told

    def wait(self, told: PrivacySummary) -> None:
        """Blocks until the owner approves the version; returns at once if the job does not hold.

        Raises JobStoppedError if the owner stops the job or does not answer in time.
        """
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

    def stop(self) -> None:
        """Ends the job at its next step; a job that has ended stays as it is."""
        with self._lock:
            self._stopped = True
            self._said.set()

    def raise_if_cancelled(self) -> None:
        """Raises JobStoppedError if the job was stopped."""
        if self._stopped:
            raise JobStoppedError


Progress = Callable[[str, float], None]
MAX_CONCURRENT_LOADS = 2
WRITE_EVERY_S = 2.0


log = event_log("jobs")


@dataclass(frozen=True, slots=True)
class JobResult:
    """The result of a finished job. `policy` is the proposed policy as TOML, if no policy was given."""

    graph: GraphSummary
    policy: str | None = None
    notes: tuple[str, ...] = ()
    privacy: PrivacySummary | None = None


def summary_of(info: GraphInfo) -> GraphSummary:
    """Returns the counts of a graph's version."""
    return GraphSummary(
        name=info.name,
        version=info.version,
        triples=info.triples,
        entities=info.entities,
        values=info.values,
        relations=info.relations,
        loaded_at=info.loaded_at,
        public_words=len(info.public_words),
    )


Work = Callable[[Progress], JobResult]
DescribeError = Callable[[BaseException, str], ErrorBody]


class JobRunner:
    """Runs jobs, two at a time and never two of one graph. `home` is the data folder that they write to.

    `describe_error` turns an error and its id into the body that the caller is sent.
    """

    def __init__(self, engine: Engine, home: str, describe_error: DescribeError) -> None:
        self._engine, self.home, self._describe_error = engine, home, describe_error
        self._threads = ThreadPoolExecutor(MAX_CONCURRENT_LOADS, thread_name_prefix="load")
        self._lock = threading.Lock()
        self._live: dict[str, JobStatus] = {}
        self._gates: dict[str, JobControl] = {}
        self._graphs: set[tuple[str, str]] = set()

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
        self._threads.submit(self._run, tenant, graph, status.id, work, clean_up)
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
        return live or JobStatus(id=row.id, state=row.state, step=row.step, percent=row.percent, **row.result)

    def approve(self, tenant: str, job_id: str) -> JobStatus:
        """Lets the version of a waiting job go live. Raises UnknownJobError, NotWaitingError."""
        gate = self._gate(tenant, job_id)
        if gate is None:
            raise NotWaitingError
        gate.approve()
        return self.status(tenant, job_id)

    def stop(self, tenant: str, job_id: str) -> JobStatus:
        """Ends a job at its next step and leaves the graph unchanged; a job that has ended stays as it is.

        Raises UnknownJobError, and NotWaitingError for a job of another process.
        """
        gate = self._gate(tenant, job_id)
        status = self.status(tenant, job_id)
        if gate is None and status.state in ("queued", "running"):
            raise NotWaitingError
        if gate is not None:
            gate.stop()
        return status

    def mark_interrupted(self) -> int:
        """Marks as failed the jobs that the last process of this data folder left unfinished; returns their number.

        Call it before `start`.
        """
        body = self._describe_error(JobInterruptedError(), "e" + secrets.token_hex(8))
        left = (jobs.c.home == self.home) & jobs.c.state.in_(("queued", "running"))
        ended = {"state": "failed", "result": {"error": body.model_dump()}, "finished_at": _now()}
        with self._engine.begin() as connection:
            return connection.execute(update(jobs).where(left).values(ended)).rowcount

    def refuse_while_loading(self, tenant: str, graph: str) -> None:
        """Raises GraphBusyError while a job on the graph is running or queued."""
        with self._lock:
            if (tenant, graph) in self._graphs:
                raise GraphBusyError

    def close(self) -> None:
        """Ends the runner: waits for running jobs, and stops those that wait for approval.

        Queued jobs never run; the next start of the service marks them as failed.
        """
        with self._lock:
            waiting = [gate for gate in self._gates.values() if gate.awaited_summary is not None]
        for gate in waiting:
            gate.stop()
        self._threads.shutdown(wait=True, cancel_futures=True)

    def _gate(self, tenant: str, job_id: str) -> JobControl | None:
        """Returns the control of a job, or None if it has ended or runs in another process. Raises UnknownJobError."""
        self.status(tenant, job_id)
        with self._lock:
            return self._gates.get(job_id)

    def _claim(self, tenant: str, graph: str, status: JobStatus, gate: JobControl) -> None:
        with self._lock:
            if (tenant, graph) in self._graphs:
                raise GraphBusyError
            self._graphs.add((tenant, graph))
            self._live[status.id], self._gates[status.id] = status, gate
        row = {"id": status.id, "tenant": tenant, "graph": graph, "home": self.home, "created_at": _now()}
        try:
            with self._engine.begin() as connection:
                connection.execute(insert(jobs).values({**row, **_columns(status)}))
        except BaseException:
            self._release(tenant, graph, status.id)
            raise

    def _run(self, tenant: str, graph: str, job_id: str, work: Work, clean_up: Callable[[], None]) -> None:
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
        self._release(tenant, graph, job_id, unwritten)
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

    def _write(self, status: JobStatus, finished: bool = False) -> None:
        row = {**_columns(status), "finished_at": _now() if finished else None}
        with self._engine.begin() as connection:
            connection.execute(update(jobs).where(jobs.c.id == status.id).values(row))

    def _release(self, tenant: str, graph: str, job_id: str, unwritten: JobStatus | None = None) -> None:
        with self._lock:
            self._graphs.discard((tenant, graph))
            self._live.pop(job_id, None)
            if unwritten is not None:
                self._live[job_id] = unwritten
            self._gates.pop(job_id, None)


def _columns(status: JobStatus) -> dict[str, Any]:
    """Returns a status as the columns of its row; what has no column of its own is JSON in `result`."""
    told = status.model_dump(mode="json", exclude={"id", "state", "step", "percent"}, exclude_defaults=True)
    return {"state": status.state, "step": status.step, "percent": status.percent, "result": told}


def _now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)
