"""Jobs: loads of graphs that run in a thread, tell how far they are, and are remembered in the database."""

from __future__ import annotations

import datetime as dt
import secrets
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, insert, select, update

from app.database.tables import jobs
from app.graphs.errors import GraphBusyError, JobInterruptedError, UnknownJobError
from app.graphs.job_control import JobControl, NotWaitingError
from app.telemetry.logs import event_log
from client_sdk.protocol import ErrorBody, GraphSummary, JobStatus, PrivacySummary

Progress = Callable[[str, float], None]
MAX_CONCURRENT_LOADS = 2
WRITE_EVERY_S = 2.0


log = event_log("jobs")


@dataclass(frozen=True, slots=True)
class JobResult:
    """The result of a finished job. `policy` is the proposed policy as TOML where none was given."""

    graph: GraphSummary
    policy: str | None = None
    notes: tuple[str, ...] = ()
    privacy: PrivacySummary | None = None


Work = Callable[[Progress], JobResult]
DescribeError = Callable[[BaseException, str], ErrorBody]


class JobRunner:
    """Runs loads, two at a time and never two of one graph. `home`: the data folder that they write to.

    `describe_error` turns an error and an id into what the caller is told.
    """

    def __init__(self, engine: Engine, home: str, describe_error: DescribeError) -> None:
        self._engine, self.home, self._describe_error = engine, home, describe_error
        self._threads = ThreadPoolExecutor(MAX_CONCURRENT_LOADS, thread_name_prefix="load")
        self._lock = threading.Lock()
        self._live: dict[str, JobStatus] = {}
        self._gates: dict[str, JobControl] = {}
        self._graphs: set[tuple[str, str]] = set()

    def start(
        self, tenant: str, graph: str, work: Work, clean_up: Callable[[], None], gate: JobControl | None = None
    ) -> JobStatus:
        """Queues `work`; `clean_up` always runs afterwards, even if it is refused. Raises GraphBusyError."""
        status = JobStatus(id="j" + secrets.token_hex(12), state="queued")
        try:
            self._claim(tenant, graph, status, gate or JobControl())
        except BaseException:
            clean_up()
            raise
        self._threads.submit(self._run, tenant, graph, status.id, work, clean_up)
        return status

    def status(self, tenant: str, job_id: str) -> JobStatus:
        """The state of a job of `tenant`. Raises UnknownJobError."""
        ours = (jobs.c.id == job_id) & (jobs.c.tenant == tenant)
        with self._lock:
            live, gate = self._live.get(job_id), self._gates.get(job_id)
        # Read after the look at the live ones: a job that ended in between is already written.
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
        """Marks jobs that this data folder's last process left as failed, and returns their number; call it before
        `start`.
        """
        body = self._describe_error(JobInterruptedError(), "e" + secrets.token_hex(8))
        left = (jobs.c.home == self.home) & jobs.c.state.in_(("queued", "running"))
        ended = {"state": "failed", "result": {"error": body.model_dump()}, "finished_at": _now()}
        with self._engine.begin() as connection:
            return connection.execute(update(jobs).where(left).values(ended)).rowcount

    def refuse_while_loading(self, tenant: str, graph: str) -> None:
        """Raises GraphBusyError while a load of the graph is under way."""
        with self._lock:
            if (tenant, graph) in self._graphs:
                raise GraphBusyError

    def close(self) -> None:
        """Waits for running loads. Jobs that wait for approval are stopped; queued ones are dropped and marked at the
        next start.
        """
        with self._lock:
            waiting = [gate for gate in self._gates.values() if gate.awaited_summary is not None]
        for gate in waiting:
            gate.stop()
        self._threads.shutdown(wait=True, cancel_futures=True)

    def _gate(self, tenant: str, job_id: str) -> JobControl | None:
        """None where the job has ended, or runs in another process. Raises UnknownJobError."""
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
            ended = _done(job_id, work(self._reporter(job_id)))
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
            # As on a full disk: whoever waits for the job is told from memory, and the next start marks its row.
            log.error("job_not_recorded", job=job_id, exc_info=error)
            unwritten = ended
        self._release(tenant, graph, job_id, unwritten)
        log.info("job_ended", job=job_id, state=ended.state)

    def _reporter(self, job_id: str) -> Progress:
        """Reports progress to memory at once, and to the database every few seconds."""
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


def _done(job_id: str, loaded: JobResult) -> JobStatus:
    return JobStatus(
        id=job_id,
        state="done",
        step="done",
        percent=100.0,
        graph=loaded.graph,
        policy=loaded.policy,
        notes=list(loaded.notes),
        privacy=loaded.privacy,
    )


def _columns(status: JobStatus) -> dict[str, Any]:
    """The row's own columns, and the rest as JSON."""
    told = status.model_dump(mode="json", exclude={"id", "state", "step", "percent"}, exclude_defaults=True)
    return {"state": status.state, "step": status.step, "percent": status.percent, "result": told}


def _now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)
