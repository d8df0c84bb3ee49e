"""The database: migrations make the tables that the code uses, twice over and from two processes at once."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, MetaData, inspect, text
from sqlalchemy.exc import IntegrityError

from app.database import tables as service_tables
from app.database.engine import MIGRATIONS, make_engine, migrate
from app.egress.ledger import chain
from kg_store.storage import tables as store_tables
from tests.support.waiting import run_together

METADATAS: list[MetaData] = [service_tables.metadata, chain.metadata, store_tables.metadata]


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    engine = make_engine(f"sqlite:///{tmp_path / 'arog.db'}")
    yield engine
    engine.dispose()


def test_migrated_tables_are_the_tables_of_the_code(engine: Engine) -> None:
    migrate(engine)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, METADATAS) == []  # type: ignore[arg-type]


def test_only_the_newest_revision_is_taken_for_migrated(engine: Engine) -> None:
    migrate(engine)
    with engine.begin() as connection:
        newest = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
        assert newest == ScriptDirectory(str(MIGRATIONS)).get_current_head()
        connection.execute(text("DROP TABLE names_read"))
    migrate(engine)
    assert not inspect(engine).has_table("names_read")  # nothing was left to migrate
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE alembic_version"))
        for table in inspect(connection).get_table_names():
            connection.execute(text(f'DROP TABLE "{table}"'))
    migrate(engine)
    assert inspect(engine).has_table("names_read")


def test_two_that_start_at_once_migrate_one_after_the_other(engine: Engine, tmp_path: Path) -> None:
    failures: list[BaseException] = []

    def start() -> None:
        own = make_engine(f"sqlite:///{tmp_path / 'arog.db'}")
        try:
            migrate(own)
        except BaseException as error:
            failures.append(error)
        finally:
            own.dispose()

    run_together(*(start for _ in range(4)))
    assert failures == []
    assert "api_keys" in inspect(engine).get_table_names()


def test_many_that_connect_at_once_to_a_new_database_all_get_in(tmp_path: Path) -> None:
    for attempt in range(20):
        engines = [make_engine(f"sqlite:///{tmp_path / f'{attempt}.db'}") for _ in range(8)]
        failures: list[BaseException] = []

        def connect(engine: Engine, failures: list[BaseException] = failures) -> None:
            try:
                engine.connect().close()
            except BaseException as error:
                failures.append(error)
            finally:
                engine.dispose()

        run_together(*(partial(connect, engine) for engine in engines))
        assert failures == []


def test_sqlite_bears_several_writers_and_keeps_its_references(engine: Engine) -> None:
    with engine.connect() as connection:
        pragmas = {
            name: connection.execute(text(f"PRAGMA {name}")).scalar() for name in ("journal_mode", "foreign_keys")
        }
        assert pragmas == {"journal_mode": "wal", "foreign_keys": 1}
        assert connection.execute(text("PRAGMA busy_timeout")).scalar() == 20_000


def test_an_error_does_not_quote_the_row(engine: Engine) -> None:
    migrate(engine)
    insert = text("INSERT INTO api_keys (key_id) VALUES (:name)")
    with pytest.raises(IntegrityError) as caught, engine.begin() as connection:
        connection.execute(insert, {"name": "Nora Lindqvist"})
    assert "Nora" not in str(caught.value)


MASKS = [0o000, 0o022, 0o077, 0o277]


@pytest.fixture
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("umask", MASKS, indirect=True)
@pytest.mark.parametrize("form", ["sqlite:///{}", "sqlite:///file:{}?uri=true"])
def test_no_other_user_can_read_the_database_or_its_log_whatever_the_umask(
    tmp_path: Path, umask: int, form: str
) -> None:
    file = tmp_path / "arog.db"
    engine = make_engine(form.format(file))
    migrate(engine)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE t (c INTEGER)"))
        names = {path.name for path in tmp_path.iterdir()}
        assert names == {"arog.db", "arog.db-wal", "arog.db-shm"}
        assert {mode_of(path) for path in tmp_path.iterdir()} == {0o600}
    engine.dispose()


@pytest.mark.parametrize("name", ["arog.db", "arog.db-wal", "arog.db-shm"])
def test_a_database_that_was_open_to_others_is_closed_to_them(tmp_path: Path, name: str) -> None:
    first = make_engine(f"sqlite:///{tmp_path / 'arog.db'}")
    migrate(first)
    with first.connect() as reading:
        reading.execute(text("SELECT 1"))
        (tmp_path / name).chmod(0o644)
        second = make_engine(f"sqlite:///{tmp_path / 'arog.db'}")
        migrate(second)
        assert {mode_of(path) for path in tmp_path.iterdir()} == {0o600}
        second.dispose()
    first.dispose()


COMMIT = """
import sys
from sqlalchemy import text
from app.database.engine import make_engine
engine = make_engine(sys.argv[1])
with engine.begin() as connection:
    connection.execute(text("INSERT INTO t VALUES (1)"))
engine.dispose()
"""


@pytest.mark.process
def test_a_process_that_ends_takes_no_log_from_one_that_goes_on(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'arog.db'}"
    engine = make_engine(url)
    count = text("SELECT count(*) FROM t")
    with engine.connect() as staying:
        staying.execute(text("CREATE TABLE t (c INTEGER)"))
        staying.commit()
        with engine.connect() as another:  # the pool opens the file once more
            another.execute(count)
        staying.rollback()
        for seen in (1, 2):
            subprocess.run([sys.executable, "-c", COMMIT, url], check=True)
            assert (tmp_path / "arog.db-wal").exists()
            assert staying.execute(count).scalar() == seen
            staying.rollback()
    engine.dispose()
