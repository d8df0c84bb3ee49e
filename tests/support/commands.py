"""Run the service's commands in this process: in a folder, without settings of this machine, without a model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from app.cli.main import commands
from app.settings import PREFIX, Settings
from app.wiring import chats
from kg_store.storage.master_key import MasterKey
from kg_store.terms import Schema


class Namer:
    """Implements what wiring needs of ConceptNamer, without a model."""

    def __init__(self, _embedder: object) -> None:
        """Ignore the embedder."""

    def name(self, schema: Schema) -> Sequence[str]:
        return [each.classes[0] if each.classes else "thing" for each in schema.signatures]


def work_in(folder: Path, monkeypatch: pytest.MonkeyPatch, **settings: str) -> None:
    """Makes commands of this process and its children work in `folder`, with `settings` and no others."""
    for name in Settings.model_fields:
        monkeypatch.delenv(PREFIX + name.upper(), raising=False)
    for name, value in {"data_dir": str(folder / "data"), **settings}.items():
        monkeypatch.setenv(PREFIX + name.upper(), value)
    monkeypatch.chdir(folder)
    monkeypatch.setattr(chats, "namer_of", lambda _settings: Namer(None).name)


def work_with_ring(folder: Path, monkeypatch: pytest.MonkeyPatch, url: str | None = None) -> Path:
    """Makes commands work in `folder` with a master key ring, and return its file, which is not written yet.

    `url` is that of the database, if it is not the one in the folder.
    """
    ring = folder / "ring"
    work_in(folder, monkeypatch, master_key_file=str(ring), **({} if url is None else {"database_url": url}))
    return ring


def write_ring(folder: Path) -> None:
    """Writes the file of the ring with one new key."""
    ring = folder / "ring"
    ring.write_text(MasterKey.generate() + "\n")
    ring.chmod(0o600)


def arog(*arguments: str, typed: str | None = None) -> Result:
    app = typer.Typer()
    commands(app)
    return CliRunner().invoke(app, list(arguments), input=typed, env={"COLUMNS": "200"})
