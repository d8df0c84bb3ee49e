"""The database of a service: an engine that bears several writers, and the tables brought to the newest form."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, Engine, create_engine, event, func, select
from sqlalchemy.engine import make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.pool import ConnectionPoolEntry

MIGRATIONS = Path(__file__).parent / "migrations"
BUSY_TIMEOUT_S = 20
_LOCK_NUMBER = 0x61726F67  # "arog"


def make_engine(url: str) -> Engine:
    """An engine for `url`. SQLite gets WAL, foreign keys, and a wait instead of an error while another writes."""
    sqlite = make_url(url).get_backend_name() == "sqlite"
    arguments = {"timeout": BUSY_TIMEOUT_S} if sqlite else {}
    # hide_parameters: an error's text would quote the row that was written.
    engine = create_engine(url, connect_args=arguments, hide_parameters=True, pool_pre_ping=not sqlite)
    if sqlite:
        event.listen(engine, "connect", _prepare_sqlite)
    return engine


def migrate(engine: Engine) -> None:
    """Brings every table of kg_store and app to the newest revision. Safe to call at each start."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    with engine.begin() as connection:
        _wait_for_turn(connection)
        config.attributes.update(connection=connection, tables=None)
        command.upgrade(config, "head")


def _wait_for_turn(connection: Connection) -> None:
    """Two processes that start together migrate one after the other."""
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    elif connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(_LOCK_NUMBER)))


def _prepare_sqlite(connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
    assert isinstance(connection, sqlite3.Connection)
    for pragma in ("journal_mode=WAL", "foreign_keys=ON", "synchronous=NORMAL", "secure_delete=ON"):
        connection.execute(f"PRAGMA {pragma}")
