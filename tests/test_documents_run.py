"""Every block of code in README and docs is run against a real service, or says why not."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pyoxigraph
import pytest
import yaml
from nbclient import NotebookClient

from tests.door.test_how_to import PAGES
from tests.support.documents import DOCUMENTS, ROOT, SHELLS, Block, blocks_of, fences_of, shows
from tests.support.processes.demo_service import DemoService, demo_service
from tests.support.processes.forked_commands import forked

# Their blocks are run against a proxy by tests/door/test_how_to.py.
OF_THE_DOOR = {f"docs/how-to/{page}.md" for page in PAGES}
BLOCKS = [block for document in DOCUMENTS for block in blocks_of(document)]
WITH_COMMANDS = [document for document in DOCUMENTS if any(b.fate in ("runs", "fails") for b in blocks_of(document))]
WITHIN_S = 300


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DemoService]:
    """Runs typed commands in forks of one process that has imported all commands, which saves starting Python."""
    folder = tmp_path_factory.mktemp("documents")
    with demo_service(folder) as running, forked(folder / ".venv" / "bin" / "arog", tmp_path_factory.mktemp("forks")):
        yield running


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_block_is_found(document: Path) -> None:
    assert fences_of(document) == 2 * len(list(blocks_of(document)))


@pytest.mark.parametrize("block", [one for one in BLOCKS if one.language in SHELLS], ids=lambda one: one.where)
def test_a_block_of_commands_is_run_or_says_why_not(block: Block) -> None:
    is_run = block.fate in ("runs", "fails") or str(block.document.relative_to(ROOT)) in OF_THE_DOOR
    assert is_run or (block.fate == "not run" and block.told)


@pytest.mark.parametrize("block", [one for one in BLOCKS if one.language not in SHELLS], ids=lambda one: one.where)
def test_a_block_of_data_can_be_read(block: Block) -> None:
    match block.language:
        case "json":
            json.loads(block.text)
        case "toml":
            tomllib.loads(block.text)
        case "ttl":
            assert list(pyoxigraph.parse(block.text.encode(), pyoxigraph.RdfFormat.TURTLE))
        case "csv":
            assert len({len(row) for row in csv.reader(io.StringIO(block.text))}) == 1
        case "yaml":
            assert yaml.safe_load(block.text)
        case "ini":
            assert all(re.fullmatch(r"[A-Z_]+=\S+", line) for line in block.text.splitlines())
        case other:
            assert other == "text"


@pytest.mark.process
@pytest.mark.parametrize("document", WITH_COMMANDS, ids=lambda path: path.name)
def test_the_blocks_of_a_document_run_one_after_the_other(document: Path, service: DemoService) -> None:
    kept = service.folder / f"{document.stem}.environment"
    kept.touch()
    for block in blocks_of(document):
        text = service.here(block.text)
        if block.fate == "file":
            (service.folder / block.told).write_text(text, "utf-8")
        elif block.fate in ("runs", "fails"):
            done = run(block.language, text, kept, service)
            told = f"{block.where}\n{done.stdout}\n{done.stderr}"
            assert (done.returncode == 0) == (block.fate == "runs"), told
            assert shows(block.told, done.stdout + done.stderr), told


def run(language: str, text: str, kept: Path, service: DemoService) -> subprocess.CompletedProcess[str]:
    """In the folder of the service. What one block exports, the next ones of its document have, as in a terminal."""
    script = text if language == "bash" else f".venv/bin/python - <<'END OF BLOCK'\n{text}END OF BLOCK\n"
    whole = f"set -eu -o pipefail\n. {kept}\n{script}\nexport -p > {kept}\n"
    return subprocess.run(
        ["bash", "-c", whole], cwd=service.folder, env=service.environment, capture_output=True, text=True,
        timeout=WITHIN_S, check=False,
    )  # fmt: skip


@pytest.mark.process
def test_the_notebook_runs_and_holds_no_output(service: DemoService, monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = nbformat.read(ROOT / "docs" / "quickstart.ipynb", as_version=4)
    assert not [cell for cell in notebook.cells if cell.get("outputs")]
    for name, value in (service.environment | {"AROG_API_KEY": service.api_key}).items():
        monkeypatch.setenv(name, value)
    NotebookClient(notebook, timeout=WITHIN_S, resources={"metadata": {"path": service.folder}}).execute()
    (_, asked, _, frame, *_, last) = [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]
    assert "<svg" in asked[0].data["text/html"]
    assert "Arnsbridge" in asked[0].data["text/html"]
    assert "Edda Thornbury-Vale" in frame[0].data["text/html"]
    assert last[-1].data["text/plain"] == "[]"


@pytest.mark.parametrize(
    ("told", "printed", "is_shown"),
    [
        ("", "", True),
        ("a b", "x a\n  b y", True),
        ("a … d", "a b\nc d", True),
        ("a.c", "abc", False),
        ("a … d", "d a", False),
    ],
)
def test_what_a_block_shows_is_looked_for(told: str, printed: str, is_shown: bool) -> None:
    assert shows(told, printed) == is_shown
