"""A person is forgotten while the service runs, by a command beside it and by the service itself: it forgets, too."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from app.egress.ledger.verification import check
from app.settings import Settings
from app.wiring.store import open_store
from client_sdk.crypto.sealing import KeyPair, capsule_context, open_capsule, open_trace, trace_context
from client_sdk.protocol import ChatAnswer, SealedTrace
from evaluation.checks.canaries import GRAPH, POLICY, canaries_in
from tests.support.processes.process import Process, serving
from tests.support.service import OPERATOR, OPERATOR_KEY

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[4]
HERS = (
    "Vexquilda", "Thrombury", "Quillowmere", "Grizzlewick", "536-22-8174", "1961-07-23", "4841739.25", "Plumbrechtson",
    "Klabautrix",
)  # fmt: skip
OTHERS = "Who is employed by Zimbrelkov & Quandrovar?"
PAIR = KeyPair.generate()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    with serving(tmp_path_factory.mktemp("forgetting"), ADMIN_KEY=OPERATOR_KEY) as service:
        yield service


def load(service: Process, graph: str) -> list[str]:
    files = [("file", ("house.ttl", GRAPH.encode())), ("policy", ("policy.toml", POLICY.encode()))]
    started = service.http.post(f"/admin/graphs/{graph}", headers=OPERATOR, files=files)
    assert started.status_code == 202, started.text
    return ended(service, started.json()["id"])["notes"]  # type: ignore[return-value]


def ended(service: Process, job: str) -> dict[str, object]:
    while True:
        told: dict[str, object] = service.http.get(f"/admin/jobs/{job}", headers=OPERATOR).json()
        if told["state"] in ("done", "failed"):
            return told
        time.sleep(0.1)


def ask(service: Process, graph: str, text: str, **more: object) -> httpx2.Response:
    body = {"graph": graph, "public_key": PAIR.public_text, "messages": [{"role": "user", "content": text}], **more}
    return service.http.post("/chat", json=body, headers=OPERATOR)


def named(reply: httpx2.Response) -> bytes:
    answer = ChatAnswer.model_validate_json(reply.content)
    assert answer.capsule is not None
    context = capsule_context(answer)
    return open_capsule(answer.capsule, PAIR, context).model_dump_json().encode()


def command(service: Process, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`arog` beside the service, over its data folder and with its key."""
    folder = service.service.folder
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AROG_")}
    environment |= {
        "AROG_DATA_DIR": str(folder / "data"), "AROG_MASTER_KEY_FILE": str(folder / "keys/master.key"),
        "PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1", "COLUMNS": "200",
    }  # fmt: skip
    return subprocess.run(
        [sys.executable, "-m", "client_sdk", *arguments], env=environment, cwd=folder, check=False,
        capture_output=True, text=True,
    )  # fmt: skip


def is_whole(service: Process) -> bool:
    """The chain of the ledger, as `arog ledger verify` finds it beside the service."""
    folder = service.service.folder
    store = open_store(
        Settings(_env_file=None, data_dir=folder / "data", master_key_file=folder / "keys" / "master.key")
    )
    try:
        return check(store.engine, store.master, store.upkeep.signer, "default").is_whole
    finally:
        store.close()


def forgets_by_command(service: Process, graph: str) -> str:
    done = command(service, "graph", "forget", graph, "vexquilda thrombury", "--yes", "--wait", "60")
    assert done.returncode == 0, done.stderr
    return done.stdout


def forgets_by_request(service: Process, graph: str) -> str:
    wanted = {"name": "Vexquilda Thrombury"}
    plan = service.http.post(f"/admin/graphs/{graph}/forget/plan", json=wanted, headers=OPERATOR)
    assert plan.json()["choices"] == []
    assert plan.json()["sentences"][0].startswith("1 things go")
    started = service.http.post(f"/admin/graphs/{graph}/forget", json=wanted, headers=OPERATOR)
    assert started.status_code == 202
    job = ended(service, started.json()["id"])
    assert job["state"] == "done", job
    told = plan.text + str(job)
    assert canaries_in(told.encode()) == []
    return told


@pytest.mark.parametrize("forgets", [forgets_by_command, forgets_by_request])
def test_a_running_service_serves_and_keeps_nothing_of_a_forgotten_person(service: Process, forgets) -> None:  # type: ignore[no-untyped-def]
    graph = forgets.__name__.replace("_", "-")
    load(service, graph)
    asked = ask(service, graph, "Who is Vexquilda Thrombury treated by?")
    assert set(canaries_in(named(asked))) >= {"Vexquilda", "Jaskworthy"}
    other = ask(service, graph, OTHERS)
    assert canaries_in(named(other), ["Jaskworthy"])
    told = forgets(service, graph)
    assert "looked for" in told or "sealed rows" in told
    again = ask(service, graph, "Who is Vexquilda Thrombury treated by?")
    assert again.status_code == 200
    assert not again.json()["answered"]
    gone = ask(service, graph, "And where does she live?", conversation=asked.json()["conversation"])
    assert (gone.status_code, gone.json()["code"]) == (404, "unknown_conversation")
    back = ask(service, graph, "And where does he live?", conversation=other.json()["conversation"])
    assert back.status_code == 200
    treated = ask(service, graph, "Who lives in Žofštenbrück?")
    assert canaries_in(named(treated), HERS) == []
    assert canaries_in(named(treated), ["Jaskworthy"])
    traced = service.http.get(
        f"/trace/{asked.json()['id']}", params={"public_key": PAIR.public_text}, headers=OPERATOR
    )
    sealed = SealedTrace.model_validate_json(traced.content)
    content = open_trace(sealed.capsule, PAIR, trace_context(asked.json()["id"]))
    assert not content.names_kept
    assert {call.prompt for call in content.calls} == {None}
    assert load(service, graph)[0].startswith("1 things of the source were forgotten")
    assert not ask(service, graph, "Who is Vexquilda Thrombury treated by?").json()["answered"]
    assert is_whole(service)
    assert {name: found for name, data in service.written.items() if (found := canaries_in(data))} == {}
    assert canaries_in(service.printed.read_bytes()) == []


def test_what_can_not_be_forgotten_is_told_by_a_code_that_quotes_nothing(service: Process) -> None:
    load(service, "codes")
    for body, status, code in (
        ({"name": "Wendolphine"}, 404, "unknown_name"),
        ({"name": ""}, 422, "bad_request"),
        ({"name": "Quillowmere", "choice": "Wendolphine"}, 422, "bad_request"),
        ({"name": "Quillowmere", "choice": "00000000"}, 404, "unknown_name"),
        ({"name": "Quillowmere", "with_kinds": ["wendolphine"]}, 404, "unknown_name"),
    ):
        reply = service.http.post("/admin/graphs/codes/forget", json=body, headers=OPERATOR)
        assert (reply.status_code, reply.json()["code"]) == (status, code)
        assert canaries_in(reply.content) == []
    elsewhere = service.http.post("/admin/graphs/elsewhere/forget", json={"name": "Quillowmere"}, headers=OPERATOR)
    assert elsewhere.json()["code"] == "unknown_graph"
    made = service.http.post("/admin/keys", json={"tenant": "default", "grants": ["codes"]}, headers=OPERATOR)
    user = {"Authorization": f"Bearer {made.json()['key']}"}
    for route in ("forget", "forget/plan"):
        refused = service.http.post(f"/admin/graphs/codes/{route}", json={"name": "Quillowmere"}, headers=user)
        assert refused.status_code == 403
