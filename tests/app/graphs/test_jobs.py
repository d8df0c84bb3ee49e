"""Jobs: progress is seen while they run, errors become bodies, and no job outlives its process as running."""

from __future__ import annotations

import datetime as dt
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, insert

from app.api.problems import error_body
from app.database.tables import jobs
from app.graphs.jobs import (
    MAX_CONCURRENT_LOADS,
    GraphBusyError,
    JobControl,
    JobInterruptedError,
    JobResult,
    JobRunner,
    JobStoppedError,
    NotWaitingError,
    Progress,
    UnknownJobError,
)
from client_sdk.protocol import GraphSummary, JobStatus, PrivacySummary

GRAPH = GraphSummary(
    name="clinic", version="v1", triples=3, entities=2, values=1, relations=1,
    loaded_at=dt.datetime(2026, 1, 1, tzinfo=dt.UTC), public_words=0,
)  # fmt: skip


@pytest.fixture
def runner(engine: Engine, tmp_path: Path) -> Iterator[JobRunner]:
    runner = JobRunner(engine, "home", tmp_path, error_body)
    yield runner
    runner.close()


@pytest.fixture
def other(engine: Engine, tmp_path: Path) -> Iterator[JobRunner]:
    """The runner of another process that shares the database and the folder."""
    runner = JobRunner(engine, "home", tmp_path, error_body)
    yield runner
    runner.close()


def reached(runner: JobRunner, job_id: str, *states: str) -> JobStatus:
    status = runner.status("north", job_id)
    while status.state not in states:
        time.sleep(0.005)
        status = runner.status("north", job_id)
    return status


def ended(runner: JobRunner, job_id: str) -> JobStatus:
    return reached(runner, job_id, "done", "failed")


class Gate:
    """Work that reports half, then waits until it is let through."""

    def __init__(self) -> None:
        self.reached, self.open = threading.Event(), threading.Event()

    def __call__(self, progress: Progress) -> JobResult:
        progress("sealing", 50.0)
        self.reached.set()
        assert self.open.wait(10)
        return JobResult(GRAPH, policy="[relations]", notes=("a note",))


def test_a_job_tells_how_far_it_is_and_what_it_made(runner: JobRunner) -> None:
    gate = Gate()
    job_id = runner.start("north", "clinic", gate).id
    assert gate.reached.wait(10)
    running = runner.status("north", job_id)
    assert (running.state, running.step, running.percent) == ("running", "sealing", 50.0)
    gate.open.set()
    done = ended(runner, job_id)
    assert (done.state, done.percent, done.graph, done.policy) == ("done", 100.0, GRAPH, "[relations]")
    assert done.notes == ["a note"]


def test_one_load_of_a_graph_at_a_time_and_others_beside_it(runner: JobRunner) -> None:
    gate, other, cleaned = Gate(), Gate(), threading.Event()
    first = runner.start("north", "clinic", gate).id
    with pytest.raises(GraphBusyError):
        runner.start("north", "clinic", Gate(), cleaned.set)
    assert cleaned.is_set()
    with pytest.raises(GraphBusyError), runner.no_job_on("north", "clinic"):
        pass
    with runner.no_job_on("south", "clinic"), pytest.raises(GraphBusyError):
        runner.start("south", "clinic", Gate())
    second = runner.start("north", "films", other).id
    assert other.reached.wait(10)
    gate.open.set()
    other.open.set()
    assert ended(runner, first).state == ended(runner, second).state == "done"


def failing(error: Exception) -> Callable[[Progress], JobResult]:
    def work(_progress: Progress) -> JobResult:
        raise error

    return work


def test_any_other_error_is_told_by_an_id_alone_and_cleans_up(runner: JobRunner) -> None:
    cleaned = threading.Event()
    job_id = runner.start("north", "clinic", failing(ValueError("Nora Lindqvist")), cleaned.set).id
    body = ended(runner, job_id).error
    assert body is not None
    assert body.code == "internal"
    assert "Nora" not in body.model_dump_json()
    assert cleaned.is_set()
    runner.start("north", "clinic", failing(ValueError()))


def test_what_a_killed_process_left_running_has_failed_at_the_next_start(
    engine: Engine, runner: JobRunner, other: JobRunner
) -> None:
    row = {
        "tenant": "north", "graph": "clinic", "step": "sealing", "percent": 30.0, "result": {},
        "created_at": dt.datetime.now(dt.UTC),
    }  # fmt: skip
    left = {"j1": ("home", "running"), "j2": ("home", "waiting"), "j3": ("home", "done"), "j4": ("away", "running")}
    with engine.begin() as connection:
        for job_id, (home, state) in left.items():
            connection.execute(insert(jobs).values({**row, "id": job_id, "home": home, "state": state}))
    gate = Gate()
    alive = other.start("north", "films", gate).id
    assert runner.mark_interrupted() == 2
    assert runner.status("north", alive).state in ("queued", "running")
    gate.open.set()
    assert ended(other, alive).state == "done"
    states = {job_id: runner.status("north", job_id).state for job_id in left}
    assert states == {"j1": "failed", "j2": "failed", "j3": "done", "j4": "running"}
    error = runner.status("north", "j1").error
    assert error is not None
    assert error.code == "interrupted"


def test_a_queued_and_a_running_job_are_stopped_at_their_next_step(runner: JobRunner) -> None:
    gates = [Gate() for _ in range(MAX_CONCURRENT_LOADS)]
    running = [runner.start("north", f"g{number}", gate).id for number, gate in enumerate(gates)]
    assert all(gate.reached.wait(10) for gate in gates)
    ran = threading.Event()

    def work(_progress: Progress) -> JobResult:
        ran.set()
        return JobResult(GRAPH)

    queued = runner.start("north", "late", work).id
    for job_id in (queued, *running):
        with pytest.raises(UnknownJobError):
            runner.stop("south", job_id)
        assert runner.stop("north", job_id).state in ("queued", "running")
    for gate in gates:
        gate.open.set()
    assert ended(runner, queued).error is not None
    assert not ran.is_set()
    # Work that reports no further step is done: what is done can't be stopped.
    assert {ended(runner, job_id).state for job_id in running} == {"done"}


def test_the_end_of_the_service_interrupts_every_job_and_waits_for_none_that_takes_long(
    engine: Engine, tmp_path: Path, other: JobRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.graphs.jobs.MAX_CLOSING_S", 0.0)
    runner, gates, cleaned = JobRunner(engine, "home", tmp_path, error_body), [Gate(), Gate()], list[str]()
    names = ["g0", "g1", "queued"]
    work = [*gates, lambda _progress: JobResult(GRAPH)]
    ids = [
        runner.start("north", name, each, lambda name=name: cleaned.append(name))  # type: ignore[misc]
        for name, each in zip(names, work, strict=True)
    ]
    assert all(gate.reached.wait(10) for gate in gates)
    runner.close()
    for job in ids:
        error = other.status("north", job.id).error
        assert error is not None
        assert error.code == "interrupted"
    assert cleaned == names
    for gate in gates:
        gate.open.set()


def test_a_job_that_the_end_of_the_service_meets_before_its_next_step_makes_nothing_live(
    engine: Engine, tmp_path: Path
) -> None:
    runner, gate, made = JobRunner(engine, "home", tmp_path, error_body), Gate(), list[str]()
    control = JobControl()

    def work(progress: Progress) -> JobResult:
        gate(progress)
        control.wait(PrivacySummary(k=20, profiles=[], warnings=[]))
        made.append("live")
        return JobResult(GRAPH)

    job = runner.start("north", "clinic", work, gate=control)
    assert gate.reached.wait(10)
    control.stop(JobInterruptedError)
    gate.open.set()
    runner.close()
    told = runner.status("north", job.id)
    assert (told.state, told.error and told.error.code, made) == ("failed", "interrupted", [])


def test_a_gate_that_nobody_opens_in_time_stops_its_job() -> None:
    told = PrivacySummary(k=20, profiles=[], warnings=[])
    gate = JobControl(holds=True, waits_at_most_s=0.0)
    with pytest.raises(JobStoppedError):
        gate.wait(told)
    with pytest.raises(NotWaitingError):
        gate.approve()
    JobControl().wait(told)


def test_a_job_is_approved_and_stopped_through_any_process(runner: JobRunner, other: JobRunner) -> None:
    told = PrivacySummary(k=20, profiles=[], warnings=[])

    def start() -> str:
        gate = JobControl(holds=True)

        def work(progress: Progress) -> JobResult:
            progress("sealing", 50.0)
            gate.wait(told)
            return JobResult(GRAPH)

        return runner.start("north", "clinic", work, gate=gate).id

    approved = start()
    assert reached(other, approved, "waiting").privacy == told
    with pytest.raises(GraphBusyError):
        other.start("north", "clinic", Gate())
    assert other.approve("north", approved).state == "running"
    for each in (runner, other):
        with pytest.raises(NotWaitingError):
            each.approve("north", approved)
    assert ended(other, approved).state == ended(runner, approved).state == "done"
    stopped = start()
    reached(other, stopped, "waiting")
    other.stop("north", stopped)
    error = ended(other, stopped).error
    assert error is not None
    assert error.code == "stopped"


def test_a_graph_whose_job_was_killed_is_free_and_that_job_has_failed(engine: Engine, runner: JobRunner) -> None:
    row = {
        "id": "j1", "tenant": "north", "graph": "clinic", "home": "home", "state": "running", "step": "sealing",
        "percent": 30.0, "result": {}, "created_at": dt.datetime.now(dt.UTC),
    }  # fmt: skip
    with engine.begin() as connection:
        connection.execute(insert(jobs).values(row))
    ended(runner, runner.start("north", "clinic", failing(ValueError())).id)
    assert runner.status("north", "j1").state == "failed"
