"""`arog cases`: lists, reports, exports, approves and forgets, by path and id, and never tells a text."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from app.accounts.names_read import Reader, ReadKind, ReadLimit
from app.chat.case_admin import MAX_SAMPLES
from app.memory.cases import CaseContent
from app.settings import load_settings
from app.wiring.store import open_store
from tests.support.commands import arog, work_with_ring, write_ring
from tests.support.service import CLINIC

PATHS = (("treated by", "lives in"),)


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of two cases of a loaded graph, of two keys."""
    work_with_ring(tmp_path, monkeypatch)
    write_ring(tmp_path)
    (tmp_path / "clinic.ttl").write_text(CLINIC)
    assert arog("graph", "load", "clinic", "clinic.ttl").exit_code == 0
    store = open_store(load_settings())
    for key in ("one", "two"):
        store.cases.keep("default", "clinic", key, f"answer of {key}", CaseContent("m", np.ones(4, np.float32), PATHS))
    ids = [case.id for case in store.cases.of_graph("default", "clinic")]
    store.cases.count_use("default", "clinic", ids[:1])
    store.cases.count_rating("default", "clinic", "", "right")
    store.close()
    return ids


def test_cases_are_listed_reported_and_exported(kept: list[str]) -> None:
    listed = arog("cases", "list", "clinic").stdout
    assert all(case in listed for case in kept)
    assert "path: treated by -> lives in" in listed
    assert "rated so by 2 persons" in listed
    samples = [line for line in listed.splitlines() if line.startswith("  sample: ")]
    assert 0 < len(samples) <= 2 * MAX_SAMPLES
    assert all(" -> " in line for line in samples)
    assert arog("cases", "report", "clinic").stdout == (
        "2 cases, 0 of them approved, 0 held back for you to look at\n"
        "1 answers leaned on cases: 1 rated right, 0 rated wrong\n"
    )
    lines = [json.loads(line) for line in arog("cases", "export", "clinic").stdout.splitlines()]
    assert [(line["id"], line["key_id"], line["used"]) for line in lines] == [
        (kept[0], "one", 1), (kept[1], "two", 0),
    ]  # fmt: skip
    assert "vector" not in lines[0]


def test_cases_are_approved_and_forgotten_by_id_or_key(kept: list[str]) -> None:
    assert arog("cases", "approve", "clinic", kept[0]).stdout == "1 cases are approved\n"
    assert arog("cases", "forget", "clinic", "--key", "two").stdout == "1 cases are forgotten\n"
    assert "1 cases, 1 of them approved" in arog("cases", "report", "clinic").stdout


def test_what_is_not_there_or_not_said_is_told(kept: list[str]) -> None:
    unknown = arog("cases", "forget", "clinic", "nothing")
    assert (unknown.exit_code, "no case of that id" in unknown.output) == (1, True)
    assert arog("cases", "approve", "clinic").exit_code == 2
    assert arog("cases", "approve", "clinic", kept[0], "--key", "one").exit_code == 2
    assert arog("cases", "list", "another").exit_code != 0


def test_who_read_names_of_a_graph_is_listed(kept: list[str]) -> None:
    assert arog("graph", "readers", "clinic").stdout == "nobody has read a name of it\n"
    store = open_store(load_settings())
    told: dict[ReadKind, list[str]] = {"names": ["Anna Keller", "Bo Reed"]}
    store.names_read.take(Reader("default", "clinic", "one", ""), told, {"names": ReadLimit(9, 9)})
    store.close()
    assert "key one: 2 names" in arog("graph", "readers", "clinic").stdout
    assert (
        "key one: 1 names, 1 of them new in the last hour"
        in arog("graph", "readers", "clinic", "--name", "anna keller").stdout
    )
    assert arog("graph", "readers", "clinic", "--name", "Lea").stdout == "nobody has read it\n"
    assert arog("graph", "readers", "nothing").exit_code != 0
