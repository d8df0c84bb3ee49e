"""The privacy report: what it says, who may read it, and that it holds no name but public words."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from app.graphs.report_files import NO_PICTURE, markdown, svg
from client_sdk.protocol import GraphReport, JobStatus
from kg_store.sources.policy import Policy
from tests.app.api.conftest import service
from tests.app.cli.test_main import folder
from tests.support.commands import arog
from tests.support.service import CLINIC, OPERATOR, SECRET_NAMES, Running, running

pytestmark = pytest.mark.slow

__all__ = ["folder", "service"]

NAMES = (
    CLINIC
    + """
:p3 rdfs:label "Rose" ; :age 7 .
:p4 rdfs:label "X" .
:p5 rdfs:label "treated by" .
:p6 rdfs:label "..." .
"""
)
POLICY = Policy.from_toml(
    'show_relations = ["treated by"]\n[relations."http://clinic.invalid/livesIn"]\nhide = true\n'
    '[relations."http://clinic.invalid/age"]\nvalues = "decade"\n'
).to_toml()


async def reported(folder: Path, turtle: str, **parts: str) -> tuple[GraphReport, JobStatus]:
    async with running(folder) as service:
        files = [("file", ("names.ttl", turtle.encode())), *((part, (None, text)) for part, text in parts.items())]
        reply = await service.http.post("/admin/graphs/names", files=files, headers=OPERATOR)
        job = await service.ended(reply.json()["id"], OPERATOR)
        told = await service.http.get("/admin/graphs/names/report?k=2", headers=OPERATOR)
        return GraphReport.model_validate_json(told.content), JobStatus.model_validate(job)


async def test_it_tells_relations_values_and_names_that_the_guard_lets_pass(tmp_path: Path) -> None:
    report, _ = await reported(tmp_path, NAMES, policy=POLICY)
    assert (report.entities, report.relations, report.hidden_relations) == (7, 2, 1)
    assert {use.relation: (use.subjects, use.objects) for use in report.rare_relations} == {
        "treated by": (1, 1), "age": (1, 1),
    }  # fmt: skip
    (age,) = report.value_relations
    assert (age.relation, age.value_kind, age.shown_as) == ("age", "number", "decade")
    names = report.names
    assert (names.like_own_words, names.like_frequent_words) == (["treated by"], ["rose"])
    assert names.of_one_character == ["7", "x"]
    assert (names.too_short, names.unguarded) == (1, 4)
    told = markdown(report)
    assert "1 equal to one of the 3,000 most frequent English words: rose" in told
    assert "| age | number | decade | 1 | 1 |" in told


async def test_a_load_warns_of_what_prompts_tell(tmp_path: Path) -> None:
    _, job = await reported(tmp_path, NAMES, policy='show_relations = ["treated by"]\n')
    assert job.privacy is not None
    assert job.privacy.k == 20
    assert [each.profile for each in job.privacy.profiles][-1] == "paths of two"
    assert "100.0% of the prompts that show all its relations match fewer than 20 entities" in job.privacy.warnings
    assert "4 things have no name that the guard can hold back: all of theirs are public words" in job.privacy.warnings


async def test_it_lists_what_is_masked_and_why_for_the_owner_alone(tmp_path: Path) -> None:
    report, job = await reported(tmp_path, NAMES)
    (masked,) = report.masked
    assert (masked.kind, masked.word) == ("relation", "treated by")
    assert masked.reason == "holds a name or a value of the graph"
    assert "| relation | treated by | holds a name or a value of the graph |" in markdown(report)
    # The outcome of a job lies in the database in clear: it counts, and names nothing.
    assert "1 relation masked by default: each holds a name or a value of the graph" in job.notes
    assert "treated" not in job.model_dump_json()


async def test_it_holds_no_name_but_public_words(tmp_path: Path) -> None:
    report, job = await reported(tmp_path, NAMES)
    for text in (
        report.model_dump_json(),
        markdown(report),
        svg(report).decode(),
        job.model_dump_json(exclude={"policy"}),
    ):
        assert not [name for name in SECRET_NAMES if name.casefold() in text.casefold()]
    assert "rose" in report.model_dump_json()
    assert "rose" not in (svg(report).decode() + repr(report) + job.model_dump_json()).casefold()


async def test_it_is_for_admins_of_the_tenant_alone(service: Running) -> None:
    async def status(headers: dict[str, str]) -> int:
        return (await service.http.get("/admin/graphs/clinic/report", headers=headers)).status_code

    assert await status(OPERATOR) == 200
    assert await status(service.key("default", "*", "inspect:*")) == 403
    assert await status(service.key("south", "*", role="admin")) == 404
    assert await status({}) == 401


async def test_k_is_what_is_asked_for(service: Running) -> None:
    for k, few in ((2, 0.0), (4, 1.0)):
        told = await service.http.get(f"/admin/graphs/clinic/report?k={k}", headers=OPERATOR)
        assert (told.json()["k"], told.json()["profiles"][0]["few"]) == (k, few)
    assert (await service.http.get("/admin/graphs/clinic/report?k=1", headers=OPERATOR)).status_code == 422


def test_the_command_writes_three_files_for_their_owner_alone(folder: Path) -> None:
    assert "Warning: " in arog("graph", "load", "clinic", "clinic.ttl").stderr
    printed = arog("graph", "report", "clinic")
    assert printed.stdout.startswith("# Privacy of the graph clinic")
    (folder / "out").mkdir()
    (folder / "out" / "report.md").touch(0o644)
    assert arog("graph", "report", "clinic", "--out", "out", "--k", "7").exit_code == 0
    files = {path.name: path for path in (folder / "out").iterdir()}
    assert set(files) == {"report.md", "report.json", "report.svg"}
    assert {stat.S_IMODE(path.stat().st_mode) for path in files.values()} == {0o600}
    assert json.loads(files["report.json"].read_text())["k"] == 7
    picture = ElementTree.fromstring(files["report.svg"].read_text())
    words = "".join(picture.itertext())
    assert "Privacy of the graph clinic: 3 entities" in words
    assert "all its paths of two relations" in words
    told = arog("graph", "report", "nowhere")
    assert (told.exit_code, told.stderr) == (2, "arog: no graph of that name in this data folder.\n")


def test_without_its_library_there_is_no_picture_and_that_is_said(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arog("graph", "load", "clinic", "clinic.ttl")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    told = arog("graph", "report", "clinic", "--out", "out")
    assert told.exit_code == 0
    assert NO_PICTURE in told.stderr
    assert not (folder / "out" / "report.svg").exists()


def test_who_is_asked_may_keep_a_version_from_going_live(folder: Path) -> None:
    refused = arog("graph", "load", "clinic", "clinic.ttl", "--ask", typed="n\n")
    assert refused.exit_code == 2
    assert "match fewer than 20 entities" in refused.stderr
    assert refused.stderr.endswith("arog: this version is dropped, and nothing has changed.\n")
    assert "clinic" not in arog("graph", "list").stdout
    assert arog("graph", "load", "clinic", "clinic.ttl", "--ask", typed="y\n").exit_code == 0
    assert "clinic" in arog("graph", "list").stdout
