"""The columns of a preview over HTTP, and the changes that its owner sends back: a load does what the preview said."""

from __future__ import annotations

import json
from typing import Any

from client_sdk.protocol import GraphPreview, JobStatus
from tests.app.api.routes.test_chat import refused
from tests.support.service import OPERATOR, Running

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
