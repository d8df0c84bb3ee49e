"""`arog try` and `try_files`: files are asked at once, and nothing of them stays."""

from __future__ import annotations

import subprocess  # our own words alone  # nosec B404
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from client_sdk import NotConfiguredError, RefusedError, try_files
from kg_store.storage.master_key import MasterKey

PEOPLE = "name,town,age\nZebedee Quill,Arnsbridge,41\nOttilie Marrow,Arnsbridge,39\nPerpetua Vance,Selham,n/a\n"
PETS = "pet,owner\nBiscuit,Zebedee Quill\nPickle,Ottilie Marrow\nMustard,Ottilie Marrow\n"

pytestmark = [pytest.mark.process, pytest.mark.model, pytest.mark.slow]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Path]]:
    """Two tables, and a folder of temporary files that has to be empty again in the end."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setenv("AROG_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("AROG_ENDPOINT_URL", "http://127.0.0.1:9/v1")
    people, pets = tmp_path / "people.csv", tmp_path / "pets.csv"
    people.write_text(PEOPLE)
    pets.write_text(PETS)
    yield [people, pets]
    # The service's folder holds what was loaded; what libraries keep for themselves holds nothing of it.
    assert list(temporary.glob("arog-*")) == []


def test_a_notebook_asks_files_and_their_folder_is_deleted(files: list[Path], tmp_path: Path) -> None:
    with try_files(files) as tried:
        assert list((tmp_path / "temporary").glob("arog-try-*"))
        assert "3" in tried.ask("How many pets are there?").text
        assert tried.doubts
        assert all(doubt.strip() for doubt in tried.doubts)
    # The caller's own data folder, which the settings name, is not touched.
    assert not (tmp_path / "data").exists()


def test_a_public_graph_is_tried_beside_the_files(files: list[Path], tmp_path: Path) -> None:
    (tmp_path / "homes.csv").write_text("pet,keeper,food\nTuffik,Quarto Reels,seeds\n")
    with try_files(files, [tmp_path / "homes.csv"]) as tried:
        assert tried.ask("How many pets are there?").answered
        assert not any("homes" in doubt for doubt in tried.doubts)


def test_a_program_that_ends_without_closing_leaves_nothing(files: list[Path]) -> None:
    done = subprocess.run(  # nosec B603
        [sys.executable, "-c", f"from client_sdk import try_files; tried = try_files({list(map(str, files))!r})"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


def test_the_command_reads_asks_and_keeps_the_files_as_a_graph(files: list[Path], tmp_path: Path) -> None:
    (tmp_path / "data").mkdir(mode=0o700)
    (tmp_path / "data" / "master.key").touch(0o600)
    (tmp_path / "data" / "master.key").write_text(MasterKey.generate())
    command = [sys.executable, "-m", "client_sdk", "try", *map(str, files), "--keep", "pets"]
    done = subprocess.run(  # nosec B603
        command, input="How many pets are there?\n/quit\n", capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "To look at, before you trust an answer:\n  - " in done.stderr
    assert "The number of pets is 3." in done.stdout
    assert "pets: " in done.stdout
    assert done.stderr.endswith("Deleted: the graph of this trial and its folder.\n")
    listed = [sys.executable, "-m", "client_sdk", "graph", "list"]
    kept = subprocess.run(listed, capture_output=True, text=True, check=True, cwd=tmp_path)  # nosec B603
    assert "pets" in kept.stdout


def test_a_file_that_can_not_be_read_is_told_by_its_own_name(files: list[Path], tmp_path: Path) -> None:
    broken = tmp_path / "quarterly-zebra.json"
    broken.write_text('{"a": [1, 2')
    with pytest.raises(RefusedError, match=r"quarterly-zebra\.json"), try_files([broken]):
        pass
    with pytest.raises(NotConfiguredError, match="there is no file"):
        try_files([tmp_path / "missing.csv"])
    assert files
