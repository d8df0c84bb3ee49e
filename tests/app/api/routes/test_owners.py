"""Requests of the page for owners: previews, policies, held loads, keys, and the ledger."""

from __future__ import annotations

import asyncio
import gzip
import json
import threading
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest
from sqlalchemy import update

from app.egress.ledger.audit import check_export
from app.egress.ledger.chain import ledger_entries, ledger_heads
from app.graphs.previews import previewer
from app.graphs.previews.previewer import PreviewBusyError, Turns
from client_sdk.crypto.sealing import KeyPair, open_capsule, preview_context
from client_sdk.protocol import GraphPolicy, GraphPreview, JobStatus, KeyList, LedgerCheck
from tests.app.api.routes.test_chat import refused
from tests.support.service import CLINIC, OPERATOR, SECRET_NAMES, Running, bearer, question, running

pytestmark = pytest.mark.slow

POLICY = """
[relations."http://clinic.invalid/treatedBy"]
mask = true
description = "who looks after somebody"

[relations."http://clinic.invalid/livesIn"]
hide = true

[relations."http://clinic.invalid/bornOn"]
values = "year"

[roles.reception]
withhold_relations = ["http://clinic.invalid/bornOn"]
"""
BORN = '\n:p1 :bornOn "1961-02-11"^^<http://www.w3.org/2001/XMLSchema#date> .\n'


async def preview(service: Running, policy: str | None = None, **params: object) -> httpx2.Response:
    files: list[tuple[str, object]] = [("file", ("Valdis.ttl", (CLINIC + BORN).encode()))]
    if policy is not None:
        files.append(("policy", (None, policy.encode())))
    return await service.http.post("/admin/preview", files=files, params=params, headers=OPERATOR)


async def test_a_preview_tells_what_each_predicate_is_and_what_a_model_would_see(service: Running) -> None:
    seen = GraphPreview.model_validate_json((await preview(service, POLICY)).content)
    uses = {each.predicate.rsplit("/", 1)[-1]: each for each in seen.predicates}
    assert {name: each.use for name, each in uses.items()} == {
        "rdf-schema#label": "name", "treatedBy": "masked", "livesIn": "hidden", "bornOn": "relation",
    }  # fmt: skip
    assert uses["treatedBy"].label != "treated by"
    assert uses["treatedBy"].description == "who looks after somebody"
    assert (uses["bornOn"].label, uses["bornOn"].value_kind, uses["bornOn"].shown_as) == ("born on", "date", "year")
    assert uses["livesIn"].triples == 2
    assert (seen.is_proposed, seen.entities) == (False, 3)
    facts = [(fact.relation, fact.end) for each in seen.sample for fact in each.facts]
    assert ("born on", "V (date, its year shown)") in facts
    assert "treated by" not in {relation for relation, _end in facts}


async def test_without_a_policy_the_proposed_one_is_used_and_told_and_works(service: Running) -> None:
    first = GraphPreview.model_validate_json((await preview(service)).content)
    assert first.is_proposed
    again = GraphPreview.model_validate_json((await preview(service, first.policy, sample=2)).content)
    assert (again.is_proposed, again.policy, len(again.sample)) == (False, first.policy, 2)
    assert again.predicates == first.predicates


async def test_no_name_or_value_is_in_a_preview_but_sealed_to_the_callers_key(service: Running) -> None:
    reader = KeyPair.generate()
    bare = await preview(service)
    assert GraphPreview.model_validate_json(bare.content).capsule is None
    reply = await preview(service, public_key=reader.public_text)
    for text in (bare.text, reply.text):
        assert not [name for name in (*SECRET_NAMES, "1961") if name in text]
    seen = GraphPreview.model_validate_json(reply.content)
    assert seen.capsule is not None
    table = open_capsule(seen.capsule, reader, preview_context(seen)).table
    assert {name for names in table.values() for name in names.names} == {
        "Valdis Ozolkrasts", "Quenby Thistlewood", "Zemgalburg",
    }  # fmt: skip
    assert set(table) == {each.pseudonym for each in seen.sample}


async def test_a_preview_loads_nothing_and_leaves_nothing_on_the_disk(service: Running, tmp_path: Path) -> None:
    before = (await service.http.get("/admin/graphs", headers=OPERATOR)).json()
    broken = [("file", ("a.ttl", CLINIC.encode() + b':p9 rdfs:label "Nora Lindqvist .\n'))]
    assert (await preview(service)).status_code == 200
    told = refused(await service.http.post("/admin/preview", files=broken, headers=OPERATOR), 422, "load_failed")
    assert told.message.startswith("a.ttl, line ")
    told = refused(await preview(service, "types = 'Nora'"), 422, "bad_policy")
    assert "Nora" not in told.message
    bomb = [("file", ("a.nt.gz", gzip.compress(b"x")[:-3]))]
    refused(await service.http.post("/admin/preview", files=bomb, headers=OPERATOR), 422, "load_failed")
    assert (await service.http.get("/admin/graphs", headers=OPERATOR)).json() == before
    assert not list(service.services.store.incoming.glob("*"))
    for path in tmp_path.rglob("*"):
        content = path.read_bytes() if path.is_file() else b""
        assert not [name for name in SECRET_NAMES if name.encode() in content], path.name


async def test_an_upload_that_stalls_is_ended_and_leaves_neither_a_file_nor_a_job(tmp_path: Path) -> None:
    head = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\nid,name\n1,Ada'

    async def stalled() -> AsyncIterator[bytes]:
        yield head
        await asyncio.Event().wait()

    async def slow() -> AsyncIterator[bytes]:
        yield head
        while True:
            yield b"a"
            await asyncio.sleep(0.01)

    async with running(tmp_path, request_deadline_s=0.2) as service:
        kind = {"Content-Type": "multipart/form-data; boundary=x", **OPERATOR}
        for path in ("/admin/graphs/late", "/admin/preview"):
            for body in (stalled, slow):
                reply = await service.http.post(path, content=body(), headers=kind)
                assert "came too slowly" in refused(reply, 422, "bad_request").message
        assert not list(service.services.store.incoming.glob("*"))
        whole = [("file", ("a.csv", b"id,name\n1,Ada Finch\n"))]
        started = await service.http.post("/admin/graphs/late", files=whole, headers=OPERATOR)
        assert started.status_code == 202  # No job of before holds the graph.


async def test_a_preview_of_many_rows_is_of_the_first_and_the_others_are_checked(
    service: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(previewer, "MAX_ROWS_SEEN", 20)
    rows = [f"k{number},Ward {number % 7},{number}" for number in range(40)]
    rows[30] = "k3,Ward 5,many"
    content = "\n".join(["id,ward,beds", *rows]).encode()
    for name, sent in (("a.csv", content), ("a.csv.gz", gzip.compress(content))):
        reply = await service.http.post("/admin/preview", files=[("file", (name, sent))], headers=OPERATOR)
        seen = GraphPreview.model_validate_json(reply.content)
        assert seen.tables[0].rows == 19  # The header is a row of the first 20.
        assert any(f"{name} has more than 20 rows" in note for note in seen.notes)
        assert any("1 rows of a.csv have the key of an earlier row" in note for note in seen.notes)
    short = [("file", ("a.csv", "\n".join(["id,ward,beds", *rows[:15]]).encode()))]
    reply = await service.http.post("/admin/preview", files=short, headers=OPERATOR)
    assert not [note for note in reply.json()["notes"] if "more than" in note or "earlier row" in note]


async def test_a_preview_takes_files_an_admins_key_and_a_device_that_is_admitted(tmp_path: Path) -> None:
    async with running(tmp_path, require_devices=True) as service:
        refused(await service.http.post("/admin/preview", json={}, headers=OPERATOR), 422, "bad_request")
        files = [("file", ("a.ttl", CLINIC.encode()))]
        user = service.key("default", "*")
        refused(await service.http.post("/admin/preview", files=files, headers=user), 403, "not_permitted")
        key = KeyPair.generate().public_text
        refused(await preview(service, public_key=key), 403, "device_not_admitted")


PEOPLE = "patient_id,patient_name,city,notes\n" + "".join(
    f"P{n},Valdis Ozolkrasts {chr(64 + n)},Leeds,calls often {n}\n" for n in range(1, 9)
)
FILES: list[tuple[str, Any]] = [("file", ("patients.csv", PEOPLE.encode()))]


async def test_columns_are_listed_by_file_and_changes_are_made(service: Running) -> None:
    reply = await service.http.post("/admin/preview", files=FILES, headers=OPERATOR)
    seen = GraphPreview.model_validate_json(reply.content)
    assert [(each.file, each.column, each.role) for each in seen.columns] == [
        ("patients.csv", "patient_id", "key"),
        ("patients.csv", "patient_name", "name"),
        ("patients.csv", "city", "concept"),
        ("patients.csv", "notes", "value"),
    ]
    assert [(each.file, each.concept, each.rows) for each in seen.tables] == [("patients.csv", "patient", 8)]
    assert "Valdis" not in reply.text
    changes = {"columns": [{"file": "patients.csv", "column": "notes", "exposure": "masked"}]}
    files = [*FILES, ("changes", (None, json.dumps(changes).encode()))]
    reply = await service.http.post("/admin/preview", files=files, headers=OPERATOR)
    changed = GraphPreview.model_validate_json(reply.content)
    assert {each.column: each.exposure for each in changed.columns}["notes"] == "masked"
    files = [*FILES, ("policy", (None, changed.policy.encode()))]
    reply = await service.http.post("/admin/graphs/patients", files=files, headers=OPERATOR)
    job = JobStatus.model_validate(await service.ended(reply.json()["id"], OPERATOR))
    assert (job.state, job.error) == ("done", None)


async def test_changes_that_cannot_be_are_refused_by_their_place(service: Running) -> None:
    for changes, code in (
        ('{"columns": [{"file": "Valdis.csv", "column": "x"}]}', "bad_policy"),
        ("{", "bad_request"),
    ):
        files = [*FILES, ("changes", (None, changes.encode()))]
        reply = await service.http.post("/admin/preview", files=files, headers=OPERATOR)
        assert "Valdis" not in refused(reply, 422, code).message


async def test_of_a_tenant_one_preview_is_made_at_a_time_and_another_does_not_wait_for_it(service: Running) -> None:
    turns = service.services.graphs.previewer._turns
    with turns.of("default"):
        refused(await preview(service), 409, "preview_busy")
    with turns.of("another"):
        assert (await preview(service)).status_code == 200
    assert (await preview(service)).status_code == 200


def test_a_turn_comes_when_another_ends_and_is_refused_when_none_does() -> None:
    turns = Turns(most=1, wait_s=0.01)
    with turns.of("one"), pytest.raises(PreviewBusyError), turns.of("two"):
        pass
    with pytest.raises(ValueError, match="broken"), turns.of("one"):
        raise ValueError("broken")
    with turns.of("two"), pytest.raises(PreviewBusyError), turns.of("two"):
        pass
    patient = Turns(most=1, wait_s=30.0)
    leaves, ended = threading.Event(), threading.Event()

    def first() -> None:
        with patient.of("one"):
            leaves.wait(30)

    with ThreadPoolExecutor() as pool:
        holds = pool.submit(first)
        waits = pool.submit(lambda: _enter(patient, ended))
        leaves.set()
        holds.result(30)
        waits.result(30)
    assert ended.is_set()


def _enter(turns: Turns, ended: threading.Event) -> None:
    with turns.of("two"):
        ended.set()


async def held(service: Running, name: str = "held") -> str:
    """A job that waits, its privacy told."""
    files = [("file", ("a.ttl", CLINIC.encode()))]
    reply = await service.http.post(f"/admin/graphs/{name}?hold=true", files=files, headers=OPERATOR)
    job_id: str = reply.json()["id"]
    for _ in range(2000):
        job = await status_of(service, job_id)
        if job.state == "waiting":
            assert job.privacy is not None
            return job_id
        assert job.state in ("queued", "running")
        await asyncio.sleep(0.005)
    raise AssertionError("the job does not wait")


async def status_of(service: Running, job_id: str) -> JobStatus:
    reply = await service.http.get(f"/admin/jobs/{job_id}", headers=OPERATOR)
    return JobStatus.model_validate_json(reply.content)


async def test_a_held_load_goes_live_by_a_word(service: Running) -> None:
    job_id = await held(service)
    assert "held" not in service.services.graphs.names("default")
    south = service.key("south", "*", role="admin")
    refused(await service.http.post(f"/admin/jobs/{job_id}/live", headers=south), 404, "unknown_job")
    assert (await service.http.post(f"/admin/jobs/{job_id}/live", headers=OPERATOR)).status_code == 200
    assert (await service.ended(job_id, OPERATOR))["state"] == "done"
    assert "held" in service.services.graphs.names("default")
    refused(await service.http.post(f"/admin/jobs/{job_id}/live", headers=OPERATOR), 409, "not_waiting")


async def test_a_held_load_that_is_stopped_changes_nothing(service: Running) -> None:
    before = (await service.http.get("/admin/graphs", headers=OPERATOR)).json()
    job_id = await held(service, "clinic")
    assert (await service.http.delete(f"/admin/jobs/{job_id}", headers=OPERATOR)).status_code == 200
    job = JobStatus.model_validate(await service.ended(job_id, OPERATOR))
    assert (job.state, job.error and job.error.code) == ("failed", "stopped")
    assert (await service.http.get("/admin/graphs", headers=OPERATOR)).json() == before
    assert not list(service.services.store.incoming.glob("*"))
    assert (await service.http.delete(f"/admin/jobs/{job_id}", headers=OPERATOR)).json()["state"] == "failed"


async def test_a_held_load_does_not_hold_up_the_end_of_the_service(tmp_path: Path) -> None:
    async with running(tmp_path) as service:
        await held(service)
    async with running(tmp_path) as service:
        assert service.services.graphs.names("default") == []


async def test_the_policy_of_the_current_version_is_told(service: Running) -> None:
    files = [("file", ("a.ttl", (CLINIC + BORN).encode())), ("policy", (None, POLICY.encode()))]
    reply = await service.http.post("/admin/graphs/own", files=files, headers=OPERATOR)
    await service.ended(reply.json()["id"], OPERATOR)
    told = GraphPolicy.model_validate((await service.http.get("/admin/graphs/own/policy", headers=OPERATOR)).json())
    assert (told.graph, told.roles) == ("own", ["reception"])
    assert "mask = true" in told.policy
    refused(await service.http.get("/admin/graphs/none/policy", headers=OPERATOR), 404, "unknown_graph")


async def test_keys_are_listed_without_their_secrets(service: Running) -> None:
    body = {"tenant": "default", "grants": ["clinic", "inspect:clinic"], "days": 2}
    made = (await service.http.post("/admin/keys", json=body, headers=OPERATOR)).json()
    admin = service.key("default", role="admin")
    reply = await service.http.get("/admin/keys", headers=admin)
    listed = KeyList.model_validate_json(reply.content)
    (ours,) = [each for each in listed.keys if each.key_id == made["key_id"]]
    assert (ours.grants, ours.role, ours.revoked_at) == (["clinic", "inspect:clinic"], "user", None)
    assert ours.expires_at is not None
    assert listed.own in {each.key_id for each in listed.keys}
    assert made["key"] not in reply.text
    await service.http.delete(f"/admin/keys/{made['key_id']}", headers=admin)
    after = KeyList.model_validate_json((await service.http.get("/admin/keys", headers=admin)).content)
    assert next(each for each in after.keys if each.key_id == made["key_id"]).revoked_at is not None


async def test_keys_of_another_tenant_are_listed_for_the_operator_alone(service: Running) -> None:
    south = service.key("south", role="admin")
    refused(await service.http.get("/admin/keys?tenant=default", headers=south), 403, "not_permitted")
    listed = KeyList.model_validate_json(
        (await service.http.get("/admin/keys?tenant=south", headers=OPERATOR)).content
    )
    assert (listed.tenant, listed.own, len(listed.keys)) == ("south", "operator", 1)


async def checked(service: Running) -> LedgerCheck:
    return LedgerCheck.model_validate_json((await service.http.get("/admin/ledger/check", headers=OPERATOR)).content)


async def test_a_ledger_is_checked_and_a_changed_row_is_told(service: Running) -> None:
    assert (await checked(service)).rows == 0
    await service.http.post("/chat", json=question(), headers=OPERATOR)
    whole = await checked(service)
    assert (whole.is_whole, whole.rows > 0, whole.findings) == (True, True, [])
    with service.services.store.engine.begin() as connection:
        connection.execute(update(ledger_entries).values(size=1))
    broken = await checked(service)
    assert (broken.is_whole, broken.wrong > 0) == (False, True)
    assert any("was changed" in finding for finding in broken.findings)


async def test_a_ledger_is_checked_some_rows_at_a_time(service: Running) -> None:
    for _ in range(3):
        await service.http.post("/chat", json=question(), headers=OPERATOR)
    everything = await checked(service)
    audit = service.services.store.audit
    first = audit.check("default", most=2)
    assert (first.is_whole, first.rows, first.wrong) == (False, 2, 0)
    assert first.cursor is not None
    params = {"cursor": first.cursor}
    rest = (await service.http.get("/admin/ledger/check", params=params, headers=OPERATOR)).json()
    assert (rest["is_whole"], rest["rows"], rest["cursor"]) == (True, everything.rows, None)
    south = service.key("south", role="admin")
    for headers, cursor in ((south, first.cursor), (OPERATOR, "AAAA"), (OPERATOR, "\u00e9"), (OPERATOR, "x")):
        reply = await service.http.get("/admin/ledger/check", params={"cursor": cursor}, headers=headers)
        refused(reply, 422, "bad_request")


@pytest.mark.parametrize("payloads", [False, True])
async def test_an_export_is_whole_and_signed_and_holds_no_name(service: Running, payloads: bool) -> None:
    await service.http.post("/chat", json=question(), headers=OPERATOR)
    url = f"/admin/ledger/export?payloads={str(payloads).lower()}"
    reply = await service.http.post(url, headers=OPERATOR)
    assert reply.headers["content-type"] == "application/x-ndjson"
    outcome = check_export(reply.text.splitlines(), (await checked(service)).key)
    assert (outcome.is_whole, outcome.rows > 0) == (True, True)
    assert any("payload" in json.loads(line) for line in reply.text.splitlines()[1:]) == payloads
    assert not [name for name in SECRET_NAMES if name in reply.text]
    refused(await service.http.post(url, headers=bearer("arog_" + "x" * 43)), 401, "not_authenticated")


async def test_a_ledger_with_a_strange_end_is_not_exported(service: Running) -> None:
    await service.http.post("/chat", json=question(), headers=OPERATOR)
    with service.services.store.engine.begin() as connection:
        connection.execute(update(ledger_heads).values(number=77))
    assert not (await checked(service)).is_whole
    refused(await service.http.post("/admin/ledger/export", headers=OPERATOR), 409, "ledger_broken")
