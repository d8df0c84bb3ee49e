"""Two workers serve as one: what is changed through one holds in the other at once, and one that dies is replaced."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn
from uvicorn.supervisors.multiprocess import Process as Worker

from app.cli.workers import MAX_WORKERS, WorkerGroup, _Supervisor, default_workers
from tests.support.processes.process import Process, serving
from tests.support.service import CLINIC, OPERATOR, OPERATOR_KEY, QUESTION

HEALTH = 'arog_requests_total{method="GET",route="/healthz",status="200"} '


def test_one_worker_leads_and_when_it_is_gone_another_does(tmp_path: Path) -> None:
    first, second = WorkerGroup(tmp_path), WorkerGroup(tmp_path)
    assert first.leads()
    assert first.leads()
    assert not second.leads()
    dies(first)
    assert second.wait_for_turn()
    second.tell_prepared()
    assert not WorkerGroup(tmp_path).wait_for_turn()
    dies(second)


def dies(group: WorkerGroup) -> None:
    assert group._lock is not None
    group._lock.close()


@pytest.mark.parametrize(("gigabytes", "most"), [("3", 1), ("9", 2), ("max", MAX_WORKERS)])
def test_so_many_workers_start_unasked_as_there_are_cores_and_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gigabytes: str, most: int
) -> None:
    limit = tmp_path / "memory.max"
    limit.write_text("max\n" if gigabytes == "max" else f"{int(gigabytes) * 2**30}\n")
    monkeypatch.setattr(os, "sysconf", lambda _name: 2**20)
    for cores in (1, 64):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _process, cores=cores: set(range(cores)))
        assert default_workers(limit) == min(cores, most)


def test_a_worker_that_dies_before_it_answers_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signal, "signal", lambda *_handler: None)
    config = uvicorn.Config("no:app")
    supervisor, worker = _Supervisor(config, []), Worker(config, [])
    supervisor.processes.append(worker)
    supervisor.should_exit.set()
    supervisor.keep_subprocess_alive()
    # As when it is dead, nobody holds the other end: there is an end to read, and nothing to wait for.
    assert worker.parent_conn.poll(0)


@dataclass(frozen=True, slots=True)
class Workers:
    """A service with its workers, and requests that a chosen one answers."""

    process: Process

    @property
    def ids(self) -> list[int]:
        """The process ids of the workers, the oldest first."""
        supervisor = self.process.service.process.pid
        children = map(int, Path(f"/proc/{supervisor}/task/{supervisor}/children").read_text().split())
        return sorted(each for each in children if b"spawn_main" in Path(f"/proc/{each}/cmdline").read_bytes())

    def through(self, worker: int, method: str, path: str, **request: Any) -> httpx2.Response:
        """Sends a request to one worker: while its connection is made, the others are stopped."""
        others = [each for each in self.ids if each != worker]
        with httpx2.Client(base_url=f"http://127.0.0.1:{self.process.service.port}", timeout=60) as http:
            try:
                for each in others:
                    os.kill(each, signal.SIGSTOP)
                http.get("/healthz")
            finally:
                for each in others:
                    os.kill(each, signal.SIGCONT)
            return http.request(method, path, headers=OPERATOR, **request)

    def load(self, worker: int, graph: str, hold: bool = False) -> httpx2.Response:
        files = [("file", ("clinic.ttl", CLINIC.encode()))]
        return self.through(worker, "POST", f"/admin/graphs/{graph}", files=files, params={"hold": hold})

    def reached(self, worker: int, job: str, *states: str) -> dict[str, Any]:
        while True:
            told: dict[str, Any] = self.through(worker, "GET", f"/admin/jobs/{job}").json()
            if told["state"] in states:
                return told
            time.sleep(0.1)

    def ask(self, worker: int, graph: str, **more: object) -> dict[str, Any]:
        body = {"graph": graph, "messages": [{"role": "user", "content": QUESTION}], **more}
        told: dict[str, Any] = self.through(worker, "POST", "/chat", json=body).json()
        return told


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workers]:
    with serving(tmp_path_factory.mktemp("workers"), ADMIN_KEY=OPERATOR_KEY, WORKERS="2") as process:
        yield Workers(process)


pytestmark = pytest.mark.process


def test_what_one_worker_changes_holds_in_the_other(service: Workers) -> None:
    one, two = service.ids
    assert service.ask(two, "clinic")["code"] == "unknown_graph"
    job = service.load(one, "clinic", hold=True).json()["id"]
    assert service.reached(two, job, "waiting")["privacy"]
    assert service.load(two, "clinic").json()["code"] == "graph_busy"
    service.through(two, "POST", f"/admin/jobs/{job}/live")
    assert service.reached(two, job, "done", "failed")["state"] == "done"
    begun = service.ask(two, "clinic")
    assert begun["answered"]
    assert service.ask(one, "clinic", conversation=begun["conversation"])["answered"]
    wanted = {"name": "Valdis Ozolkrasts"}
    job = service.through(one, "POST", "/admin/graphs/clinic/forget", json=wanted).json()["id"]
    assert service.reached(two, job, "done", "failed")["state"] == "done"
    assert not service.ask(two, "clinic")["answered"]
    assert service.through(two, "DELETE", "/admin/graphs/clinic").status_code == 204
    assert service.ask(one, "clinic")["code"] == "unknown_graph"


def test_each_worker_tells_the_counts_of_all(service: Workers) -> None:
    def counted(worker: int) -> float:
        text = service.through(worker, "GET", "/metrics").text
        return float(text.split(HEALTH)[1].split("\n")[0])

    one, two = service.ids
    # Each look counts itself first, because its connection is made by a request to this route.
    before = counted(one)
    assert [counted(two), counted(one), counted(two)] == [before + 1, before + 2, before + 3]


def test_a_killed_worker_is_replaced_and_its_job_has_failed(service: Workers) -> None:
    one, two = service.ids
    lost, kept = (
        service.load(worker, graph, hold=True).json()["id"] for worker, graph in ((one, "lost"), (two, "kept"))
    )
    service.reached(two, lost, "waiting")
    os.kill(one, signal.SIGKILL)
    assert service.reached(two, lost, "failed")["error"]["code"] == "interrupted"
    assert service.reached(two, kept, "waiting")
    (new,) = set(service.ids) - {two}
    service.through(new, "POST", f"/admin/jobs/{kept}/live")
    assert service.reached(new, kept, "done", "failed")["state"] == "done"
    assert service.ask(new, "kept")["answered"]


def test_one_of_the_workers_prints_and_a_signal_ends_them_all(service: Workers) -> None:
    workers = service.ids
    service.process.service.kill(signal.SIGTERM)
    assert service.process.service.process.returncode == -signal.SIGTERM
    assert not any(Path(f"/proc/{each}").exists() for each in workers)
    assert service.process.printed.read_text().count("The service runs at") == 1
