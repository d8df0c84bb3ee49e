"""Administration: graphs by upload and by path, jobs, keys; and that nothing uploaded stays on the disk."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from app.graphs.admin import PROPOSED
from client_sdk.protocol import ErrorBody, GraphSummary, JobStatus, KeyCreated
from tests.app.api.routes.test_chat import refused
from tests.support.service import CLINIC, OPERATOR, SECRET_NAMES, Running, bearer, question, running

pytestmark = pytest.mark.slow


async def test_an_upload_becomes_a_graph_that_can_be_asked(service: Running) -> None:
    files = [("file", ("clinic.ttl", CLINIC.encode()))]
    reply = await service.http.post("/admin/graphs/uploaded", files=files, headers=OPERATOR)
    assert reply.status_code == 202
    job = JobStatus.model_validate(await service.ended(reply.json()["id"], OPERATOR))
    assert (job.state, job.percent) == ("done", 100.0)
    assert job.graph is not None
    assert (job.graph.name, job.graph.entities) == ("uploaded", 3)
    assert job.policy
    assert PROPOSED in job.notes
    answer = await service.http.post("/chat", json={**question(), "graph": "uploaded"}, headers=OPERATOR)
    assert answer.json()["answered"]


async def test_several_files_and_gzip_and_a_policy_are_taken(service: Running) -> None:
    first, second = CLINIC.rsplit(":c1", 1)
    prefixes = "\n".join(line for line in CLINIC.splitlines() if line.startswith("@prefix"))
    files = [
        ("file", ("a.TTL", first.encode())),
        ("file", ("b.ttl.gz", gzip.compress(f"{prefixes}\n:c1{second}".encode()))),
        ("ontology", ("words.ttl", f'{prefixes}\n:treatedBy rdfs:label "treated by" .'.encode())),
        ("policy", (None, (service.services.store.catalog.open("default", "clinic").policy.to_toml()).encode())),
    ]
    reply = await service.http.post("/admin/graphs/parts", files=files, headers=OPERATOR)
    job = await service.ended(reply.json()["id"], OPERATOR)
    assert job["state"] == "done"
    assert job["policy"] is None


async def test_gzip_that_unpacks_to_too_much_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    async with running(tmp_path, max_unpacked_bytes=100_000) as service:
        files = [("file", ("a.nt.gz", gzip.compress(b"# nothing but zeros\n" * 10_000)))]
        reply = await service.http.post("/admin/graphs/x", files=files, headers=OPERATOR)
        job = await service.ended(reply.json()["id"], OPERATOR)
        assert job["state"] == "failed"
        error = ErrorBody.model_validate(job["error"])
        assert (error.code, "unpacks to more than 100000 bytes" in error.message) == ("load_failed", True)
        assert (await service.http.get("/admin/graphs", headers=OPERATOR)).json()["graphs"] == []


async def test_facts_packed_beyond_measure_are_refused_in_a_load_and_in_a_preview(tmp_path: Path) -> None:
    async with running(tmp_path, max_packed_facts=1_000) as service:
        files = [("file", ("a.csv.gz", gzip.compress(b"id,a,b,c,d\n" + b"k1,1,2,3,canary\n" * 10_000)))]
        reply = await service.http.post("/admin/graphs/x", files=files, headers=OPERATOR)
        job = await service.ended(reply.json()["id"], OPERATOR)
        preview = await service.http.post("/admin/preview", files=files, headers=OPERATOR)
        assert (job["state"], preview.status_code) == ("failed", 422)
        for told in (job["error"]["message"], preview.text):
            assert "unpack or split them" in told
            assert "canary" not in told


async def test_tables_are_loaded_with_their_mapping_whatever_their_files_are_called(service: Running) -> None:
    policy = """
[[tables]]
file = "patients.csv"
key = "id"
concept = "patient"
names = ["name"]
[tables.columns.doctor]
relation = "treated by"
table = "doctors.csv"

[[tables]]
file = "doctors.csv"
key = "nr"
concept = "doctor"
names = ["name"]
"""
    files = [
        ("file", ("1.csv", b"nr;name\n7;Quenby Thistlewood\n")),
        ("file", ("2.csv", b"id,name,doctor\n1,Valdis Ozolkrasts,7\n2,Nora Lindqvist,9\n")),
        ("policy", (None, policy.encode())),
    ]
    reply = await service.http.post("/admin/graphs/tables", files=files, headers=OPERATOR)
    job = JobStatus.model_validate(await service.ended(reply.json()["id"], OPERATOR))
    assert (job.state, job.error) == ("done", None)
    assert "1 references of file-2.csv lead to no row and were kept as text (the first in line 3)" in job.notes
    answer = await service.http.post("/chat", json={**question(), "graph": "tables"}, headers=OPERATOR)
    assert answer.json()["answered"]


async def test_nothing_of_an_upload_stays_on_the_disk(service: Running, tmp_path: Path) -> None:
    for turtle in (CLINIC, CLINIC + "broken <"):
        files = [("file", ("Valdis.ttl", turtle.encode()))]
        reply = await service.http.post("/admin/graphs/uploaded", files=files, headers=OPERATOR)
        await service.ended(reply.json()["id"], OPERATOR)
    for path in tmp_path.rglob("*"):
        assert "Valdis" not in path.name
        content = path.read_bytes() if path.is_file() else b""
        assert not [name for name in SECRET_NAMES if name.encode() in content], path.name


@pytest.mark.parametrize("name", ["Valdis.ttl", "patients.Valdis.ttl"])
async def test_a_broken_file_is_told_by_number_and_line_and_changes_nothing(service: Running, name: str) -> None:
    before = (await service.http.get("/admin/graphs", headers=OPERATOR)).json()
    files = [("file", (name, CLINIC.encode() + b':p9 rdfs:label "Nora Lindqvist .\n'))]
    reply = await service.http.post("/admin/graphs/clinic", files=files, headers=OPERATOR)
    job = JobStatus.model_validate(await service.ended(reply.json()["id"], OPERATOR))
    assert job.state == "failed"
    assert job.error is not None
    assert job.error.code == "load_failed"
    assert job.error.message.startswith("file-1.ttl, line ")
    assert job.error.id
    assert not {"Nora", "Valdis"} & set(re.findall(r"\w+", job.model_dump_json()))
    assert (await service.http.get("/admin/graphs", headers=OPERATOR)).json() == before


BAD_UPLOADS = (
    ("bad_request", [("policy", (None, b"x = 1"))]),
    ("bad_request", [("file", ("a.ttl", b"")), ("Nora", (None, b"x"))]),
    ("bad_request", [("file", ("Nora", b""))]),
    ("bad_request", [("file", ("Nora.exe", b""))]),
    ("bad_request", [("file", ("a.ttl", b"")), ("policy", (None, b"")), ("policy", (None, b""))]),
    ("bad_request", [("file", ("a.ttl", b"")), ("policy", (None, b"\xff"))]),
    ("bad_policy", [("file", ("a.ttl", CLINIC.encode())), ("policy", (None, b"= ="))]),
    ("bad_policy", [("file", ("a.ttl", CLINIC.encode())), ("policy", (None, b'unknown_field = "Nora Lindqvist"'))]),
)
CUT_OFF = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.ttl"\r\n\r\nx'
NO_NAME = CUT_OFF + b"\r\n--b\r\nContent-Type: text/turtle\r\n\r\ny\r\n--b--\r\n"


async def test_a_bad_upload_is_refused_and_leaves_nothing(service: Running) -> None:
    for code, files in BAD_UPLOADS:
        reply = await service.http.post("/admin/graphs/x", files=files, headers=OPERATOR)
        refused(reply, 422, code)
        assert "Nora" not in reply.text
        assert not list(service.services.store.incoming.glob("*"))
    for body in (b"", b"--b\r\n", CUT_OFF, CUT_OFF + b"\r\n--b\r\n", NO_NAME):
        for kind in ("multipart/form-data; boundary=b", "multipart/form-data"):
            headers = {**OPERATOR, "Content-Type": kind}
            refused(await service.http.post("/admin/graphs/x", content=body, headers=headers), 422, "bad_request")
            assert not list(service.services.store.incoming.glob("*"))


async def test_an_upload_over_its_limit_is_refused(tmp_path: Path) -> None:
    async with running(tmp_path, max_upload_bytes=5_000, max_body_bytes=2_000) as service:
        for size, status in ((4_000, 202), (6_000, 413)):
            files = [("file", ("a.ttl", CLINIC.encode() + b"#" * (size - len(CLINIC.encode()))))]
            reply = await service.http.post("/admin/graphs/x", files=files, headers=OPERATOR)
            assert reply.status_code == status
        assert "AROG_MAX_UPLOAD_BYTES" in refused(reply, 413, "too_large").hint


async def test_a_bad_graph_name_is_refused(service: Running) -> None:
    files = [("file", ("a.ttl", CLINIC.encode()))]
    for name in ("Nora", "a b", "..", "x" * 64, "-x", "%2e%2e"):
        reply = await service.http.post(f"/admin/graphs/{name}", files=files, headers=OPERATOR)
        assert reply.status_code in (404, 405, 422)
        assert "Nora" not in reply.text


async def test_a_path_is_loaded_from_within_the_allowed_folder_alone(tmp_path: Path) -> None:
    allowed, outside = tmp_path / "allowed", tmp_path / "outside.ttl"
    allowed.mkdir()
    (allowed / "clinic.ttl").write_text(CLINIC)
    outside.write_text(CLINIC)
    (allowed / "link.ttl").symlink_to(outside)
    async with running(tmp_path, allowed_load_dir=allowed) as service:
        for path in ("../outside.ttl", str(outside), "link.ttl", "nothing.ttl", ".", "a\x00b"):
            reply = await service.http.post("/admin/graphs/x", json={"path": path}, headers=OPERATOR)
            assert "Give a path within" in refused(reply, 422, "bad_request").hint
        for path in ("clinic.ttl", str(allowed / "clinic.ttl")):
            reply = await service.http.post("/admin/graphs/x", json={"path": path}, headers=OPERATOR)
            assert (await service.ended(reply.json()["id"], OPERATOR))["state"] == "done"
        assert (allowed / "clinic.ttl").exists()
    async with running(tmp_path) as service:
        reply = await service.http.post("/admin/graphs/x", json={"path": "/etc/passwd"}, headers=OPERATOR)
        assert "AROG_ALLOWED_LOAD_DIR" in refused(reply, 422, "bad_request").hint


async def test_a_bad_body_of_a_load_is_told_by_field(service: Running) -> None:
    headers = {**OPERATOR, "Content-Type": "application/json"}
    for body in (b"{}", b"[]", b"nothing", b'{"path": 1}', b'{"path": "a", "Nora": 1}'):
        reply = await service.http.post("/admin/graphs/x", content=body, headers=headers)
        refused(reply, 422, "bad_request")
        assert "Nora" not in reply.text
        reply = await service.http.post("/admin/graphs/x", content=body, headers=OPERATOR)
        assert "neither" in refused(reply, 422, "bad_request").message


async def test_graphs_are_listed_and_deleted_with_their_conversations(service: Running) -> None:
    key = service.key("default", "clinic")
    conversation = (await service.http.post("/chat", json=question(), headers=key)).json()["conversation"]
    (listed,) = (await service.http.get("/admin/graphs", headers=OPERATOR)).json()["graphs"]
    assert GraphSummary.model_validate(listed).name == "clinic"
    assert (await service.http.delete("/admin/graphs/clinic", headers=OPERATOR)).status_code == 204
    refused(await service.http.delete("/admin/graphs/clinic", headers=OPERATOR), 404, "unknown_graph")
    refused(await service.http.post("/chat", json=question(), headers=key), 404, "unknown_graph")
    service.load()
    body = question(conversation=conversation)
    refused(await service.http.post("/chat", json=body, headers=key), 404, "unknown_conversation")


async def test_a_user_may_not_administer_and_a_tenants_admin_only_its_own(service: Running) -> None:
    user, south = service.key("default", "*"), service.key("south", "*", role="admin")
    refused(await service.http.get("/admin/graphs", headers=user), 403, "not_permitted")
    refused(
        await service.http.post("/admin/keys", json={"tenant": "default", "grants": []}, headers=user),
        403,
        "not_permitted",
    )
    assert (await service.http.get("/admin/graphs", headers=south)).json() == {"graphs": []}
    refused(await service.http.delete("/admin/graphs/clinic", headers=south), 404, "unknown_graph")
    body = {"tenant": "default", "grants": ["*"], "role": "admin"}
    refused(await service.http.post("/admin/keys", json=body, headers=south), 403, "not_permitted")


async def test_a_job_of_another_tenant_is_unknown(service: Running) -> None:
    files = [("file", ("clinic.ttl", CLINIC.encode()))]
    job_id = (await service.http.post("/admin/graphs/x", files=files, headers=OPERATOR)).json()["id"]
    south = service.key("south", "*", role="admin")
    refused(await service.http.get(f"/admin/jobs/{job_id}", headers=south), 404, "unknown_job")
    await service.ended(job_id, OPERATOR)


async def test_keys_are_made_used_and_revoked(service: Running) -> None:
    body = {"tenant": "default", "grants": ["clinic"], "days": 1}
    reply = await service.http.post("/admin/keys", json=body, headers=OPERATOR)
    made = KeyCreated.model_validate_json(reply.content)
    assert reply.status_code == 201
    headers = bearer(made.key)
    assert (await service.http.post("/chat", json=question(), headers=headers)).status_code == 200
    assert (await service.http.delete(f"/admin/keys/{made.key_id}", headers=OPERATOR)).status_code == 204
    refused(await service.http.post("/chat", json=question(), headers=headers), 401, "not_authenticated")
    refused(await service.http.delete("/admin/keys/k0", headers=OPERATOR), 404, "unknown_key")


async def test_the_operator_makes_and_ends_keys_of_other_tenants(service: Running) -> None:
    body = {"tenant": "south", "grants": ["*"], "role": "admin"}
    made = (await service.http.post("/admin/keys", json=body, headers=OPERATOR)).json()
    south = bearer(made["key"])
    own = (await service.http.post("/admin/keys", json={"tenant": "south", "grants": ["x"]}, headers=south)).json()
    refused(await service.http.delete(f"/admin/keys/{own['key_id']}", headers=OPERATOR), 404, "unknown_key")
    reply = await service.http.delete(f"/admin/keys/{own['key_id']}?tenant=south", headers=OPERATOR)
    assert reply.status_code == 204
    refused(await service.http.delete("/admin/keys/k1?tenant=default", headers=south), 403, "not_permitted")


async def test_an_admin_rolls_a_graph_back_as_a_job(service: Running) -> None:
    files = [("file", ("clinic.ttl", (CLINIC + ":extra :knows :other .").encode()))]
    loaded = await service.http.post("/admin/graphs/clinic", files=files, headers=OPERATOR)
    notes = (await service.ended(loaded.json()["id"], OPERATOR))["notes"]
    assert "2 entities gained, 0 lost." in notes
    assert "Relations gained: knows." in notes
    listed = (await service.http.get("/admin/graphs/clinic/versions", headers=OPERATOR)).json()["versions"]
    assert [each["live"] for each in listed] == [False, True]
    started = await service.http.post("/admin/graphs/clinic/rollback", headers=OPERATOR)
    assert started.status_code == 202
    job = await service.ended(started.json()["id"], OPERATOR)
    assert job["state"] == "done"
    assert job["graph"]["version"] == listed[0]["version"]
    assert "0 entities gained, 2 lost." in job["notes"]
    answer = await service.http.post("/chat", json=question(), headers=OPERATOR)
    assert answer.json()["answered"]
    missing = await service.http.post("/admin/graphs/clinic/rollback", json={"version": "9"}, headers=OPERATOR)
    assert "The graph keeps no such version" in refused(missing, 422, "rollback_failed").message
    assert (await service.http.post("/admin/graphs/clinic/rollback")).status_code == 401
