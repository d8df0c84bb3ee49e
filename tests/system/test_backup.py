"""The restore drill: back up, wipe, restore, ask; what was changed is refused, and who was erased stays away."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pydantic import SecretStr
from sqlalchemy import update

from app.egress.ledger.chain import ledger_access
from app.wiring import backup
from client_sdk import AsyncChat, KeyPair
from kg_store.storage.archive import ArchiveError, reading, writing
from kg_store.storage.master_key import MasterKey
from tests.support.commands import arog, work_in
from tests.support.service import CLINIC, OPERATOR, QUESTION, SECRET_NAMES, Running, running, settings_in

DOCTOR, PATIENT = "Quenby Thistlewood", "Valdis Ozolkrasts"
PAIR = KeyPair.generate()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which commands and the service work with the same data and master key."""
    settings = settings_in(tmp_path)
    work_in(tmp_path, monkeypatch, master_key_file=str(settings.key_file))
    return tmp_path


def chat_of(house: Running, key: str) -> AsyncChat:
    return AsyncChat("http://service", key, "clinic", key=PAIR, plain_http=True, http=house.http)


def user_key(house: Running) -> str:
    return house.services.store.access.create("default", "user", ("clinic",)).key


def wipe(folder: Path) -> None:
    shutil.rmtree(folder / "data")


async def test_what_was_wiped_is_restored_and_answers_as_before(folder: Path) -> None:
    file = folder / "night.backup"
    async with running(folder) as house:
        house.load()
        key = user_key(house)
        before = await chat_of(house, key).ask(QUESTION, reason="case 4711")
        assert DOCTOR in before.names
        made = arog("backup", str(file))  # The service goes on meanwhile.
        assert (made.exit_code, made.stdout.startswith("1 graphs, 1 versions, ")) == (0, True)
        assert (await chat_of(house, key).ask(QUESTION)).names == before.names
    assert file.stat().st_mode & 0o777 == 0o600
    assert not any(name.encode() in file.read_bytes() for name in (*SECRET_NAMES, "clinic", "operator", "sqlite"))
    assert [path.name for path in folder.glob("*.new")] == []

    wipe(folder)
    checked = arog("restore", str(file), "--verify")
    assert (checked.exit_code, "can be restored: 1 graphs" in checked.stdout) == (0, True)
    assert "the ledger of default: rows 1 to 3, whole" in checked.stdout
    assert not (folder / "data").exists()
    restored = arog("restore", str(file))
    assert (restored.exit_code, "restored: 1 graphs" in restored.stdout) == (0, True)
    assert "people who were erased" in restored.stderr
    async with running(folder) as house:
        after = await chat_of(house, key).ask(QUESTION)
        assert (after.text, after.names) == (before.text, before.names)
        told = (await house.http.get("/admin/ledger/check", headers=OPERATOR)).json()
        assert told["is_whole"]
        who = await house.http.post("/admin/graphs/clinic/access", json={"name": DOCTOR}, headers=OPERATOR)
        assert [each["reason"] for each in who.json()["entries"]] == ["", "case 4711"]


async def test_a_changed_byte_a_cut_and_another_key_are_refused_and_nothing_is_restored(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, broken = folder / "night.backup", folder / "broken.backup"
    async with running(folder) as house:
        house.load()
        assert arog("backup", str(file)).exit_code == 0
    wipe(folder)
    whole = file.read_bytes()
    assert len(whole) < 1_000_000  # One piece: the places below lie in all its parts.
    places = [0, 20, 40, len(whole) // 3, len(whole) // 2, len(whole) - 1]
    changed = [whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in places]
    for bad in (*changed, whole[:-1], whole[: len(whole) // 2], whole + b"x", b"", whole[:31]):
        broken.write_bytes(bad)
        for options in ((), ("--verify",)):
            refused = arog("restore", str(broken), *options)
            assert refused.exit_code == 2
            assert "backup" in refused.stderr
            assert "Traceback" not in refused.output
            assert not (folder / "data" / "graphs").exists()
            assert not (folder / "data" / ".restoring").exists()
            assert not (folder / "data" / "arog.db").exists()
    (folder / "other.key").write_text(MasterKey.generate())
    (folder / "other.key").chmod(0o600)
    monkeypatch.setenv("AROG_MASTER_KEY_FILE", str(folder / "other.key"))
    refused = arog("restore", str(file))
    assert (refused.exit_code, "another master key" in refused.stderr) == (2, True)


async def test_who_was_erased_after_the_backup_does_not_come_back(folder: Path) -> None:
    file, erased = folder / "night.backup", folder / "erased.backup"
    async with running(folder) as house:
        house.load()
        key = user_key(house)
        await chat_of(house, key).ask(QUESTION, reason=f"asked about {PATIENT}")
        assert arog("backup", str(file)).exit_code == 0
        job = await house.http.post("/admin/graphs/clinic/forget", json={"name": PATIENT}, headers=OPERATOR)
        assert (await house.ended(str(job.json()["id"]), OPERATOR))["state"] == "done"
    assert arog("backup", "--erased", str(erased)).stdout.startswith("1 erased things")
    assert not any(name.encode() in erased.read_bytes() for name in SECRET_NAMES)

    wipe(folder)
    assert arog("restore", str(file)).exit_code == 0
    async with running(folder) as house:
        assert DOCTOR in (await chat_of(house, key).ask(QUESTION)).names  # Not told so, the person is there again.
    wipe(folder)
    restored = arog("restore", str(file), "--erased", str(erased))
    assert restored.exit_code == 0, restored.output
    assert "1 things that were erased after the backup are erased again" in restored.stdout
    async with running(folder) as house:
        assert not (await chat_of(house, key).ask(QUESTION)).names
        who = {"name": PATIENT}
        gone = await house.http.post("/admin/graphs/clinic/access", json=who, headers=OPERATOR)
        assert (gone.status_code, gone.json()["code"]) == (404, "unknown_name")
        (entry, *_) = house.services.store.access_record.entries("default")
        assert (entry.reason, len(entry.things)) == ("", 1)
        assert (await house.http.get("/admin/ledger/check", headers=OPERATOR)).json()["is_whole"]
        house.load(turtle=CLINIC)
        assert not (await chat_of(house, key).ask(QUESTION)).names


async def test_no_data_is_replaced_and_no_backup_overwritten(folder: Path) -> None:
    file = folder / "night.backup"
    async with running(folder) as house:
        house.load()
        assert arog("backup", str(file)).exit_code == 0
        again = arog("backup", str(file))
        assert (again.exit_code, "there already" in again.stderr) == (2, True)
    refused = arog("restore", str(file))
    assert (refused.exit_code, "replaces none" in refused.stderr) == (2, True)
    assert arog("restore", str(file), "--verify").exit_code == 0
    wrong = arog("restore", str(file), "--verify", "--erased", str(file))
    assert (wrong.exit_code, "arog backup --erased" in wrong.stderr) == (2, True)


async def test_a_changed_ledger_ends_with_an_exit_code_and_a_way_on_and_can_be_restored(folder: Path) -> None:
    file = folder / "night.backup"
    async with running(folder) as house:
        house.load()
        await chat_of(house, user_key(house)).ask(QUESTION)
        with house.services.store.engine.begin() as connection:
            assert connection.execute(update(ledger_access).values(amount=7)).rowcount == 1
        assert arog("backup", str(file)).exit_code == 0
    wipe(folder)
    for options in (("--verify",), ()):
        told = arog("restore", str(file), *options)
        assert (told.exit_code, "things are wrong" in told.stdout) == (1, True)
        assert "Try an older backup" in told.stderr
        assert (folder / "data" / "arog.db").exists() == (not options)


def test_a_database_of_another_kind_or_out_of_reach_is_refused_in_words(folder: Path) -> None:
    for kind, words in (("mysql+pymysql", "are for SQLite and PostgreSQL"), ("postgresql+psycopg", "can't be opened")):
        settings = settings_in(folder, database_url=SecretStr(f"{kind}://user:hidden@127.0.0.1:9/arog"))
        with pytest.raises(backup.BackupError, match=words) as caught:
            backup.restore(settings, folder / "none", None, print)
        assert "hidden" not in str(caught.value)


def test_an_archive_of_many_pieces_is_whole_or_refused(tmp_path: Path) -> None:
    master, file = MasterKey.from_text(MasterKey.generate()), tmp_path / "archive"
    content = bytes(range(256)) * 20_000
    (tmp_path / "big").write_bytes(content)
    with writing(master, file) as tar:
        tar.add(tmp_path / "big", "big")
    assert [(name, each.read()) for name, each in reading(master, file)] == [("big", content)]
    pieces, at, whole = [], 31, file.read_bytes()
    while at < len(whole):
        size = 4 + int.from_bytes(whole[at : at + 4], "big")
        pieces.append(whole[at : at + size])
        at += size
    assert len(pieces) > 3
    swapped = [pieces[1], pieces[0], *pieces[2:]]
    for wrong in (pieces[:-1], pieces[:1], pieces[1:], swapped, [*pieces, pieces[-1]], [*pieces[:2], *pieces[3:]]):
        file.write_bytes(whole[:31] + b"".join(wrong))
        with pytest.raises(ArchiveError):
            [each.read() for _name, each in reading(master, file)]
