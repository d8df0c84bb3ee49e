"""Opens the service's database for several writers, and migrates its tables."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sqlalchemy import Engine, create_engine, event, func, inspect, select, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import ConnectionPoolEntry

MIGRATIONS = Path(__file__).parent / "migrations"
BUSY_TIMEOUT_S = 20
_LOOK_AGAIN_S = 0.01
_LOCK_NUMBER = 0x61726F67  # "arog" in ASCII: the PostgreSQL lock that migrations hold


_PRIVATE = 0o600
_making = threading.Lock()
_BESIDE = ("", "-wal", "-shm", "-journal")
"""Suffixes of the files that SQLite writes for one database; all of them get the same mode."""


class DatabaseExposedError(Exception):
    """Other users can read a file of the database, and this user may not change its mode."""


def make_engine(url: str) -> Engine:
    """Returns an engine for `url`. SQLite gets WAL, foreign keys, and waits while another process writes.

    Promise: before a connection opens a SQLite database, its main file and the log files beside that have mode 0600,
    whatever the umask and whoever created them; otherwise connecting raises DatabaseExposedError. Limit: the files of
    other databases are protected by their own server.
    """
    parsed = make_url(url)
    sqlite = parsed.get_backend_name() == "sqlite"
    arguments = {"timeout": BUSY_TIMEOUT_S} if sqlite else {}
    # Without hide_parameters the text of an error would quote the row that was written.
    engine = create_engine(url, connect_args=arguments, hide_parameters=True, pool_pre_ping=not sqlite)
    if sqlite:
        event.listen(engine, "do_connect", partial(_close_to_others, _file_of(parsed)))
        event.listen(engine, "connect", _prepare_sqlite)
    return engine


def migrate(engine: Engine) -> None:
    """Migrates every table of kg_store and app to the newest revision. Safe to call at each start."""
    if _revision_of(engine) == _newest_revision():
        return
    # Imported late, because most commands find the tables as they should be.
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    with engine.begin() as connection:
        # Two processes that start together migrate one after the other.
        if engine.dialect.name == "sqlite":
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        elif engine.dialect.name == "postgresql":
            connection.execute(select(func.pg_advisory_xact_lock(_LOCK_NUMBER)))
        config.attributes.update(connection=connection, tables=None)
        command.upgrade(config, "head")


def _newest_revision() -> str:
    """Returns the newest revision's number, with which its file's name begins: v0004_job_wishes.py."""
    return max(path.name[1:5] for path in (MIGRATIONS / "versions").glob("v*.py"))


def _revision_of(engine: Engine) -> str | None:
    """Returns the revision that the database is at; None if it has no tables yet."""
    with engine.connect() as connection:
        if not inspect(connection).has_table("alembic_version"):
            return None
        return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def _file_of(url: URL) -> Path | None:
    """Returns the file of a SQLite URL, or None for a database in memory."""
    name = url.database or ""
    if name in ("", ":memory:") or url.query.get("mode") == "memory":
        return None
    if not name.startswith("file:"):
        return Path(name)
    parts = urlsplit(name)
    return None if parts.path == ":memory:" or "mode=memory" in parts.query else Path(unquote(parts.path))


def _close_to_others(file: Path | None, *_connecting: object) -> None:
    """Gives the database's files mode 0600, and creates the main file if it is missing.

    Raises DatabaseExposedError if another user owns a file that others can read.
    """
    if file is None:
        return
    # Closing a file drops every lock that this process holds on it. SQLite's own connections would lose theirs, and
    # another process would believe it is the last one and delete their log. So the file is opened here only if it is
    # missing, while nobody connects. If the folder can't be written, SQLite reports it.
    with _making, suppress(OSError):
        os.close(os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, _PRIVATE))
    for path in (Path(f"{file}{ending}") for ending in _BESIDE):
        with suppress(FileNotFoundError):
            if stat.S_IMODE(path.stat().st_mode) != _PRIVATE:
                try:
                    path.chmod(_PRIVATE)
                except PermissionError:
                    raise DatabaseExposedError from None


def _prepare_sqlite(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
    assert isinstance(connection, sqlite3.Connection)
    _journal_ahead(connection)
    for pragma in ("foreign_keys=ON", "synchronous=NORMAL", "secure_delete=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _journal_ahead(connection: sqlite3.Connection) -> None:
    """Turns on SQLite's write-ahead log (WAL), and retries for up to BUSY_TIMEOUT_S while another process does so too.

    SQLite's own timeout does not help: in this case it reports "locked" at once.
    """
    deadline = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
        time.sleep(_LOOK_AGAIN_S)
