"""`arog master-key`: the master key is replaced while a service runs, killed at any moment or not."""

from __future__ import annotations

import os
import shutil
import time
from hashlib import sha256
from pathlib import Path

import pytest
import typer
from sqlalchemy import Engine
from typer.testing import CliRunner

from app.cli.main import commands
from app.egress.ledger.ledger import LedgerEntry, LedgerReply
from app.egress.ledger.verification import check
from app.graphs.erasure import sealed_rows
from app.settings import load_settings
from app.wiring.store import ServiceContext, open_store
from kg_store.storage.data_folder import DataFolder
from kg_store.storage.master_key import MasterKey
from kg_store.storage.reencryption import SealedColumn
from kg_store.storage.vault import VaultScope
from kg_store.version_builder import EMBEDDING_FILE, VersionCipher
from tests.support.commands import arog, work_with_ring, write_ring
from tests.support.processes.vault import TOKEN, fake_vault
from tests.support.service import CLINIC

pytestmark = pytest.mark.slow

BODY = b"Eq7f2k"
DIGEST = sha256(BODY).hexdigest()


def seal(tmp_path: Path) -> None:
    """A graph with the file of an embedding, a conversation and a ledger, sealed with a new ring."""
    write_ring(tmp_path)
    (tmp_path / "clinic.ttl").write_text(CLINIC)
    assert arog("graph", "load", "clinic", "clinic.ttl").exit_code == 0
    store = open_store(load_settings())
    add_to(store)
    scope = VaultScope("default", "clinic", store.catalog.open("default", "clinic").version)
    VersionCipher(DataFolder(load_settings().data_dir), store.master).write(scope, EMBEDDING_FILE, BODY)
    store.upkeep.checkpoint("default")
    store.close()


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sealed once: each test gets a copy."""
    folder = tmp_path_factory.mktemp("sealed")
    with pytest.MonkeyPatch.context() as monkeypatch:
        work_with_ring(folder, monkeypatch)
        seal(folder)
    return folder


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sealed: Path) -> Path:
    shutil.copytree(sealed, tmp_path, dirs_exist_ok=True)
    return work_with_ring(tmp_path, monkeypatch)


@pytest.fixture
def path_of_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, database: str | None) -> Path:
    path = work_with_ring(tmp_path, monkeypatch, database)
    seal(tmp_path)
    return path


def add_to(store: ServiceContext) -> str:
    """A conversation, a request and its reply; the conversation's id."""
    schema = store.catalog.open("default", "clinic").blind.schema
    conversation = store.conversations.open("default", "k", "clinic", None, schema)
    store.conversations.save(conversation, schema)
    entry = LedgerEntry("default", "k", "a", conversation.id, "step", len(BODY), DIGEST, "clear", payload=BODY)
    store.ledger.record(entry)
    store.ledger.record_replies([LedgerReply(entry, "used", "Vx81zp")])
    return conversation.id


def all_opens(store: ServiceContext, conversation: str | None = None) -> None:
    """Names of the graph, the policy, conversation, ledger, an embedding's file."""
    graph = store.catalog.open("default", "clinic")
    assert "Valdis Ozolkrasts" in {name for _, record in graph.vault.all_records() for name in record.names}
    assert [each.name for each in store.catalog.graphs("default")] == ["clinic"]
    cipher = VersionCipher(DataFolder(load_settings().data_dir), store.master)
    assert cipher.read(VaultScope("default", "clinic", graph.version), EMBEDDING_FILE) == BODY
    entries = store.ledger.entries("default")
    assert {entry.payload for entry in entries} == {BODY}
    assert {reply.text for reply in store.ledger.replies_to(entries).values()} == {"Vx81zp"}
    if conversation is not None:
        store.conversations.open("default", "k", "clinic", conversation, graph.blind.schema)


@pytest.mark.process
def test_everything_is_sealed_anew_and_then_the_old_key_can_go(path_of_either: Path) -> None:
    path = path_of_either
    rotated = arog("master-key", "rotate")
    assert rotated.exit_code == 0, rotated.output
    assert "v1: 0 sealed\nnothing is sealed with an older key any more" in rotated.stdout
    assert "within the last hour" in arog("master-key", "drop").stderr
    os.utime(path, (time.time() - 7200,) * 2)
    assert arog("master-key", "drop").exit_code == 0
    assert path.read_text().startswith("v2:")
    assert "," not in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600
    store = open_store(load_settings())
    all_opens(store)
    assert check(store.engine, store.master, store.upkeep.signer, "default").is_whole
    store.close()


def test_a_running_service_meets_the_new_key_and_goes_on(path: Path) -> None:
    running = open_store(load_settings())
    conversation = add_to(running)
    assert arog("master-key", "rotate").exit_code == 0
    assert running.master.newest == 1
    all_opens(running, conversation)
    assert running.master.newest == 2
    add_to(running)
    running.close()
    assert "v1: 0 sealed" in arog("master-key", "status").stdout


def test_what_a_service_sealed_with_the_old_key_keeps_it_from_being_dropped(path: Path) -> None:
    late = open_store(load_settings())
    arog("master-key", "rotate")
    late.ledger.record(LedgerEntry("other", "k", "a", "c", "step", 6, DIGEST, "clear", payload=BODY))
    late.close()
    told = arog("master-key", "drop", "--restarted")
    assert told.exit_code == 2
    assert "an older key still seals something" in told.stderr
    again = arog("master-key", "rotate")
    assert "going on with v2" in again.stderr
    assert "v1: 0 sealed" in again.stdout
    assert "the last rotation is done" in arog("master-key", "rotate").stderr
    assert arog("master-key", "drop", "--restarted").exit_code == 0


class Killed(BaseException):
    """Stands for the end of the process."""


@pytest.mark.parametrize("column", range(0, len(sealed_rows.sealed_columns()), 3))
def test_killed_before_any_part_everything_opens_and_the_next_call_goes_on(
    path: Path, monkeypatch: pytest.MonkeyPatch, column: int
) -> None:
    calls = iter(range(99))
    real = sealed_rows.reseal

    def reseal(engine: Engine, master: MasterKey, where: SealedColumn):  # type: ignore[no-untyped-def]
        if next(calls) == column:
            raise Killed
        return real(engine, master, where)

    monkeypatch.setattr(sealed_rows, "reseal", reseal)
    with pytest.raises(Killed):
        CliRunner().invoke(_app(), ["master-key", "rotate"], catch_exceptions=False)
    monkeypatch.setattr(sealed_rows, "reseal", real)
    store = open_store(load_settings())
    all_opens(store)
    store.close()
    assert "going on with v2" in arog("master-key", "rotate").stderr
    store = open_store(load_settings())
    assert set(+sealed_rows.sealed_by(store.engine, DataFolder(store.settings.data_dir))) == {2}
    store.close()


def _app() -> typer.Typer:
    app = typer.Typer()
    commands(app)
    return app


def test_a_ring_in_the_environment_is_told_to_move_into_a_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AROG_MASTER_KEY", path.read_text().strip())
    monkeypatch.delenv("AROG_MASTER_KEY_FILE")
    told = arog("master-key", "rotate")
    assert told.exit_code == 2
    assert "put it into a file" in told.stderr


def test_a_timer_rotates_when_the_ring_is_old_and_drops_what_seals_nothing(path: Path) -> None:
    def aged(days: float) -> str:
        os.utime(path, (time.time() - days * 86_400,) * 2)
        told = arog("master-key", "rotate", "--every", "30")
        assert told.exit_code == 0, told.output
        return told.output

    assert "nothing to do" in aged(29)
    assert path.read_text().startswith("v1:")
    assert "v2 is added" in aged(31)
    assert "goes at the next call" in aged(0)
    assert [part[:2] for part in path.read_text().split(",")] == ["v2", "v1"]
    assert "nothing to do" in aged(1)
    assert "," not in path.read_text()
    aged(31)
    assert "v4 is added" in aged(31)
    assert [part[:2] for part in path.read_text().split(",")] == ["v4", "v3"]
    store = open_store(load_settings())
    all_opens(store)
    store.close()


def test_a_timer_goes_on_with_a_rotation_that_was_killed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def kill(*_arguments: object) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(sealed_rows, "reseal", kill)
        with pytest.raises(Killed):
            CliRunner().invoke(_app(), ["master-key", "rotate"], catch_exceptions=False)
    assert "going on with v2" in arog("master-key", "rotate", "--every", "30").stderr


def test_a_ring_moves_into_a_key_service_is_rotated_there_and_moves_back(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clear = path.read_text().strip()
    with fake_vault() as vault:
        monkeypatch.setenv("AROG_VAULT_TOKEN", TOKEN)
        moved = arog("master-key", "move", vault.kms())
        assert moved.exit_code == 0, moved.output
        assert f"set AROG_KMS={vault.kms()}" in moved.stderr
        assert "destroy" in moved.stderr
        assert path.read_text().startswith("wrapped:vault:vault:v1:")
        assert path.stat().st_mode & 0o777 == 0o600
        assert "set AROG_KMS" in arog("master-key", "status").stderr
        monkeypatch.setenv("AROG_KMS", vault.kms())
        assert arog("master-key", "rotate").exit_code == 0
        assert arog("master-key", "drop", "--restarted").exit_code == 0
        vault.rotate("arog")
        assert "set AROG_KMS" not in arog("master-key", "move", vault.kms()).stderr
        assert path.read_text().startswith("wrapped:vault:vault:v2:")
        assert arog("master-key", "move", vault.kms("other")).exit_code == 0
        monkeypatch.setenv("AROG_KMS", vault.kms("other"))
        store = open_store(load_settings())
        all_opens(store)
        store.close()
        vault.status = 503
        before = path.read_bytes()
        refused = arog("master-key", "move", "file")
        assert (refused.exit_code, path.read_bytes()) == (2, before)
        assert "sealed" in refused.stderr
        vault.status = None
        assert "unset AROG_KMS" in arog("master-key", "move", "file").stderr
    assert path.read_text().startswith("v2:")
    assert clear not in path.read_text()
