"""`arog character` and `arog chat --character`: a story is kept sealed, and answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.llm.embeddings.embedder import Embedder
from client_sdk.cli.main import run
from tests.app.memory.episodes.stories import STORY
from tests.support.commands import arog, work_with_ring, write_ring

CANARIES = ("Tarnmouth", "lantern", "Tobias", "Mara Venn")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, embedder: Embedder) -> Path:
    work_with_ring(tmp_path, monkeypatch)
    write_ring(tmp_path)
    monkeypatch.setattr("app.wiring.characters.embedder_of", lambda _settings: embedder)
    (tmp_path / "story.txt").write_text(STORY)
    return tmp_path


def test_a_character_is_built_shown_asked_and_forgotten(folder: Path) -> None:
    built = arog("character", "build", "Tobias", "story.txt")
    assert built.stdout == "2 of the story's 3 episodes are kept. Talk with: arog chat --character 'Tobias'\n"
    assert "Tobias: 2 episodes" in arog("character", "list").stdout
    shown = arog("character", "show", "Tobias").stdout
    assert "1.3 utterance (Tobias): “You are late,” answered her brother Tobias." in shown
    assert shown.count(" summary: ") == 2
    asked = arog("character", "talk", "Tobias", typed="Who burned the letter?\n\nWho is Henry?\n")
    assert "I said: “I burned it.”" in asked.stdout
    assert len(asked.stdout.splitlines()) == 2
    assert arog("character", "forget", "Tobias").exit_code == 0
    assert arog("character", "talk", "Tobias", typed="").exit_code == 2


def test_nothing_of_a_story_stands_in_the_data_folder(folder: Path) -> None:
    assert arog("character", "build", "Tobias", "story.txt").exit_code == 0
    files = [path for path in (folder / "data").rglob("*") if path.is_file()]
    assert files
    assert not [word for word in CANARIES for path in files if word.encode() in path.read_bytes()]


def test_an_error_quotes_nothing_of_a_story(folder: Path) -> None:
    (folder / "odd.txt").write_bytes(b"Tarnmouth \xff")
    failed = arog("character", "build", "Mara Venn", "odd.txt")
    assert failed.exit_code == 2
    assert "UTF-8" in failed.stderr
    assert not [word for word in CANARIES if word in failed.output]


def test_chat_talks_with_a_character(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["chat", "--character", "Nobody"]) == 2
    assert "arog character list" in capfd.readouterr().err
