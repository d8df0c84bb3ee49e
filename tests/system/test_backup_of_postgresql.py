"""The restore drill with a real PostgreSQL: backed up while it is written, dropped, restored, asked; and to SQLite."""

from __future__ import annotations

import datetime as dt
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr
from sqlalchemy import Engine, func, insert, inspect, select, text
from sqlalchemy.engine import make_url

from app.database.engine import make_engine, migrate
from app.database.tables import api_keys
from app.egress.ledger.chain import ledger_entries, ledger_signers
from app.wiring.database_copy import TABLES, one_state
from client_sdk import AsyncChat, KeyPair
from tests.support.commands import arog, work_in
from tests.support.processes import postgres
from tests.support.service import OPERATOR, QUESTION, SECRET_NAMES, Running, running, settings_in

pytestmark = pytest.mark.process
DOCTOR = "Quenby Thistlewood"
PAIR = KeyPair.generate()


@pytest.fixture
def url() -> Iterator[str]:
    """A server whose sessions are in a zone of their own: a time that lost its zone would show."""
    with postgres.running() as url:
        run(url, "ALTER DATABASE postgres SET timezone TO 'America/St_Johns'")
        yield url


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str) -> Path:
    """A folder in which commands and the service work with the same data, master key and database."""
    work_in(tmp_path, monkeypatch, master_key_file=str(settings_in(tmp_path).key_file), database_url=url)
    return tmp_path


def run(url: str, *statements: str) -> None:
    engine = make_engine(url)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        for statement in statements:
            connection.execute(text(statement))
    engine.dispose()


def wipe(folder: Path, url: str) -> None:
    shutil.rmtree(folder / "data")
    run(url, "DROP SCHEMA public CASCADE", "CREATE SCHEMA public")


def tables_of(url: str) -> list[str]:
    engine = make_engine(url)
    found = inspect(engine).get_table_names()
    engine.dispose()
    return found


def schemas_of(url: str) -> list[str]:
    """The schemas that somebody made, and the usual one."""
    engine = make_engine(url)
    found = inspect(engine).get_schema_names()
    engine.dispose()
    return [name for name in found if name != "information_schema"]


def rows_of(url: str) -> dict[str, list[tuple[object, ...]]]:
    """Every row of the service as it is read, by table, in one order.

    Without the signer of ledgers, which the check of a restore makes if none is there.
    """
    engine = make_engine(url)
    with engine.connect() as connection:
        found = {
            table.name: sorted((tuple(map(plain, row)) for row in connection.execute(select(table))), key=repr)
            for table in TABLES
            if table is not ledger_signers
        }
    engine.dispose()
    return found


def plain(value: object) -> object:
    if not isinstance(value, dt.datetime):
        return value
    return (value if value.tzinfo else value.replace(tzinfo=dt.UTC)).astimezone(dt.UTC)


async def ask(house: Running, key: str) -> tuple[str, object]:
    answer = await AsyncChat("http://service", key, "clinic", key=PAIR, plain_http=True, http=house.http).ask(QUESTION)
    return answer.text, answer.names


async def backed_up(folder: Path, url: str) -> tuple[Path, str, tuple[str, object]]:
    """A backup of a service that goes on meanwhile, a key of it, and what it answers."""
    file = folder / "night.backup"
    async with running(folder, database_url=SecretStr(url)) as house:
        house.load()
        key = house.services.store.access.create("default", "user", ("clinic",)).key
        before = await ask(house, key)
        assert DOCTOR in str(before[1])
        made = arog("backup", str(file))
        assert (made.exit_code, made.stdout.startswith("1 graphs, 1 versions, ")) == (0, True), made.output
        assert await ask(house, key) == before
    return file, key, before


async def test_what_was_wiped_is_restored_and_answers_as_before(folder: Path, url: str) -> None:
    file, key, before = await backed_up(folder, url)
    assert file.stat().st_mode & 0o777 == 0o600
    assert not any(name.encode() in file.read_bytes() for name in (*SECRET_NAMES, "clinic", "operator", "sqlite"))
    wipe(folder, url)
    checked = arog("restore", str(file), "--verify")
    assert (checked.exit_code, "the ledger of default: rows 1 to 3, whole" in checked.stdout) == (0, True)
    assert not tables_of(url)
    restored = arog("restore", str(file))
    assert (restored.exit_code, "restored: 1 graphs" in restored.stdout) == (0, True), restored.output
    assert not (folder / "data" / "arog.db").exists()
    async with running(folder, database_url=SecretStr(url)) as house:
        assert await ask(house, key) == before  # New rows of the ledger have numbers of their own.
        assert (await house.http.get("/admin/ledger/check", headers=OPERATOR)).json()["is_whole"]
        who = await house.http.post("/admin/graphs/clinic/access", json={"name": DOCTOR}, headers=OPERATOR)
        assert len(who.json()["entries"]) == 2


async def test_a_restore_is_tried_in_the_database_itself_beside_what_it_holds(folder: Path, url: str) -> None:
    file, _key, _before = await backed_up(folder, url)
    held = rows_of(url)
    checked = arog("restore", str(file), "--verify")
    assert checked.exit_code == 0, checked.output
    assert "all rows went into the database of AROG_DATABASE_URL" in checked.stdout
    assert "the ledger of default: rows 1 to 3, whole, in that database too" in checked.stdout
    assert not any(name in checked.output for name in SECRET_NAMES)
    assert (rows_of(url), schemas_of(url)) == (held, ["public"])
    run(url, "CREATE ROLE guest LOGIN")
    work = make_url(url).set(username="guest").render_as_string(hide_password=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AROG_DATABASE_URL", work)
        refused = arog("restore", str(file), "--verify")
    assert (refused.exit_code, "needs the right CREATE" in refused.stderr) == (2, True), refused.output


async def test_every_row_is_as_it_was_also_in_a_database_of_the_other_kind(
    folder: Path, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _file, key, before = await backed_up(folder, url)
    file, in_server = folder / "later.backup", rows_of(url)
    assert all(in_server[name] for name in ("ledger_entries", "ledger_access", "api_keys", "conversations"))
    assert arog("backup", str(file)).exit_code == 0
    wipe(folder, url)
    assert arog("restore", str(file)).exit_code == 0
    assert rows_of(url) == in_server
    wipe(folder, url)
    monkeypatch.delenv("AROG_DATABASE_URL")
    assert arog("restore", str(file)).exit_code == 0
    assert rows_of(f"sqlite:///{folder}/data/arog.db") == in_server
    async with running(folder) as house:
        assert await ask(house, key) == before
        assert arog("backup", str(folder / "from_file.backup")).exit_code == 0
    shutil.rmtree(folder / "data")
    monkeypatch.setenv("AROG_DATABASE_URL", url)
    assert arog("restore", str(folder / "from_file.backup")).exit_code == 0
    async with running(folder, database_url=SecretStr(url)) as house:
        assert await ask(house, key) == before
        assert (await house.http.get("/admin/ledger/check", headers=OPERATOR)).json()["is_whole"]


async def test_a_database_with_rows_is_not_replaced_and_a_failure_leaves_it_empty(folder: Path, url: str) -> None:
    file, _key, _before = await backed_up(folder, url)
    shutil.rmtree(folder / "data")
    refused = arog("restore", str(file))
    assert (refused.exit_code, "replaces none" in refused.stderr) == (2, True)
    assert not (folder / "data").exists()
    wipe_rows = "DROP SCHEMA public CASCADE", "CREATE SCHEMA public"
    run(url, *wipe_rows)
    engine = make_engine(url)
    migrate(engine)
    engine.dispose()
    run(url, "ALTER TABLE ledger_heads ADD CHECK (number < 0)")
    failed = arog("restore", str(file))
    assert (failed.exit_code, "it is as it was before" in failed.stderr) == (2, True), failed.output
    assert not any(rows_of(url).values())
    assert not (folder / "data" / "graphs").exists()
    run(url, *wipe_rows)
    assert arog("restore", str(file)).exit_code == 0


@pytest.fixture
def engine(url: str) -> Iterator[Engine]:
    engine = make_engine(url)
    migrate(engine)
    yield engine
    engine.dispose()


def test_a_copy_is_one_state_whatever_is_written_meanwhile(engine: Engine) -> None:
    with one_state(engine) as reading:
        assert reading.execute(select(func.count()).select_from(ledger_entries)).scalar() == 0
        row = {"key_id": "k", "digest": "d", "tenant": "t", "role": "user", "grants": [], "created_at": NOW}
        with engine.begin() as writing:
            writing.execute(insert(api_keys).values(row))
        assert reading.execute(select(func.count()).select_from(api_keys)).scalar() == 0
    with one_state(engine) as reading:
        assert reading.execute(select(func.count()).select_from(api_keys)).scalar() == 1


def test_no_table_of_the_database_is_left_out(engine: Engine) -> None:
    assert {table.name for table in TABLES} == set(inspect(engine).get_table_names()) - {"alembic_version"}


NOW = dt.datetime(2026, 11, 29, 12, tzinfo=dt.UTC)
