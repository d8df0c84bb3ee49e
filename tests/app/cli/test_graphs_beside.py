"""Public graphs over the command line: loaded by the owner's word, listed, and put beside another graph."""

from __future__ import annotations

from pathlib import Path

import pytest

from kg_store.storage.master_key import MasterKey
from tests.support.commands import arog, work_in
from tests.support.service import CLINIC

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    work_in(tmp_path, monkeypatch, master_key=MasterKey.generate())
    (tmp_path / "clinic.ttl").write_text(CLINIC)
    (tmp_path / "common.tsv").write_text("UsedFor\tpan\tcook\nUsedFor\tpot\tcook\nIsA\tpan\tpot\n")
    (tmp_path / "common.toml").write_text(
        '[public]\nfiles = ["common.tsv"]\n\n[[triples]]\nfile = "common.tsv"\ncolumns = [2, 1, 3]\n'
    )
    return tmp_path


def row_of(graph: str) -> str:
    return next(line for line in arog("graph", "list").stdout.splitlines() if f" {graph} " in line[:12])


@pytest.mark.usefixtures("folder")
def test_a_public_graph_is_loaded_listed_and_put_beside_another() -> None:
    assert arog("graph", "load", "clinic", "clinic.ttl").exit_code == 0
    loaded = arog("graph", "load", "common", "common.tsv", "--policy", "common.toml")
    assert loaded.exit_code == 0, loaded.output
    assert "common: 3 triples, 3 entities" in loaded.stdout
    assert "all its files are public, by the word of its owner" in loaded.stderr
    assert "Warning" not in loaded.stderr
    assert ("true" in row_of("common"), "true" in row_of("clinic")) == (True, False)
    assert arog("graph", "beside", "clinic", "common").stdout == "common stands beside clinic\n"
    assert "common" in row_of("clinic")
    refused = arog("graph", "beside", "common", "clinic")
    assert (refused.exit_code, "load it again with all its files as public" in refused.stderr) == (2, True)
    assert arog("graph", "beside", "clinic", "common", "--remove").exit_code == 0
    assert "common" not in row_of("clinic")


@pytest.mark.usefixtures("folder")
def test_a_graph_of_public_files_alone_needs_no_other_file() -> None:
    assert arog("graph", "load", "clinic", "--public", "clinic.ttl").exit_code == 0
    assert "true" in row_of("clinic")
    assert "files = " in arog("graph", "inspect", "--public", "clinic.ttl").stdout
    for command in ("load", "inspect"):
        nothing = arog("graph", command, *(["clinic"] if command == "load" else []))
        assert (nothing.exit_code, "name at least one file" in nothing.stderr) == (2, True)
