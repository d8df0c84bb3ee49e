"""`arog ledger verify, export, checkpoint, cut, resume` on a data folder."""

from __future__ import annotations

import datetime as dt
import os
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import delete, update
from typer.testing import Result

from app.egress.ledger.chain import ledger_entries, ledger_heads
from app.egress.ledger.ledger import LedgerEntry
from app.settings import load_settings
from app.wiring.store import ServiceContext, open_store
from kg_store.storage.master_key import MasterKey
from tests.support.commands import arog, work_in

ROOT = Path(__file__).parents[3]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ServiceContext:
    work_in(tmp_path, monkeypatch, master_key=MasterKey.generate())
    store = open_store(load_settings())
    for number in range(3):
        digest = "1e6c5e8d"
        store.ledger.record(LedgerEntry("default", "k", f"a{number}", "c", "step", 3, digest, "blocked", 1))
    store.close()
    return store


def ledger(*arguments: str) -> Result:
    return arog("ledger", *arguments)


def test_verify_says_what_is_whole_and_which_row_is_not(store: ServiceContext) -> None:
    assert ledger("verify").stdout == "default: rows 1 to 3, 0 checkpoints: whole\n"
    with store.engine.begin() as connection:
        connection.execute(update(ledger_entries).where(ledger_entries.c.number == 2).values(step="stop"))
        connection.execute(delete(ledger_entries).where(ledger_entries.c.number == 3))
    told = ledger("verify", "--tenant", "default")
    assert told.exit_code == 1
    assert told.stdout.splitlines() == [
        "default: rows 1 to 2, 0 checkpoints: 2 things are wrong", "  row 2 was changed", "  row 3 is missing"
    ]  # fmt: skip


def test_an_export_is_checked_with_the_key_that_a_checkpoint_tells(store: ServiceContext, tmp_path: Path) -> None:
    signed = ledger("checkpoint")
    key = signed.stderr.split()[-1]
    (tmp_path / "kept.json").write_text(signed.stdout)
    exported = ledger("export").stdout
    (tmp_path / "out.jsonl").write_text(exported)
    checked = ledger("verify", "--file", "out.jsonl", "--key", key)
    assert (checked.exit_code, checked.stdout) == (0, "default: rows 1 to 3, 2 checkpoints: whole\n")
    assert ledger("verify", "--kept", "kept.json").exit_code == 0
    (tmp_path / "out.jsonl").write_text(exported.replace('"step": "step"', '"step": "stop"', 1))
    assert ledger("verify", "--file", "out.jsonl", "--key", key).exit_code == 1
    (tmp_path / "out.jsonl").write_text("Zephyrine Oakenhollow\n")
    broken = ledger("verify", "--file", "out.jsonl")
    assert (broken.exit_code, broken.stderr) == (2, "arog: line 1 is not JSON.\n")


def test_old_rows_are_cut(store: ServiceContext) -> None:
    tomorrow = dt.datetime.now(dt.UTC) + dt.timedelta(days=1)
    assert ledger("cut", "--before", f"{tomorrow:%Y-%m-%d}").stdout == "default: 3 rows are deleted\n"
    assert ledger("verify").stdout == "default: no rows, 1 checkpoints: whole\n"


def test_a_ledger_with_a_strange_end_goes_on_only_when_told_to(store: ServiceContext) -> None:
    with store.engine.begin() as connection:
        connection.execute(update(ledger_heads).values(number=2))
    for command in ("checkpoint", "export"):
        told = ledger(command)
        assert told.exit_code == 1
        assert "changed from outside" in told.stderr
    assert ledger("verify").exit_code == 1
    assert ledger("resume").stdout.startswith("default: goes on after row 3;")
    assert ledger("verify").exit_code == 0


@pytest.mark.process
def test_the_commands_stand_beside_the_listing_of_the_sdk(store: ServiceContext) -> None:
    def run(*arguments: str) -> str:
        command = [sys.executable, "-m", "client_sdk", "ledger", *arguments]
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    assert run("verify").startswith("default: rows 1 to 3")
    shown = run("--help")
    assert "--answer" in shown
    assert "export" in shown
