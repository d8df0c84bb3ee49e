"""Copies every row of one database into another, from PostgreSQL to SQLite and back."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from sqlalchemy import Connection, Engine, Table, func, insert, inspect, literal, select

from app.database.tables import metadata as app_metadata
from app.egress.ledger.chain import metadata as ledger_metadata
from kg_store.storage.tables import metadata as store_metadata

TABLES: Final = tuple(
    table for metadata in (store_metadata, app_metadata, ledger_metadata) for table in metadata.sorted_tables
)
"""Every table of the service, one that others refer to before these."""
_AT_ONCE: Final = 200


@contextmanager
def one_state(engine: Engine) -> Iterator[Connection]:
    """Yields a connection that reads the database as it is at its first read, whatever others write meanwhile.

    Condition: `engine` is of PostgreSQL.
    """
    with engine.connect() as connection:
        yield connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)


def is_unused(engine: Engine) -> bool:
    """Returns True if no table of the service has a row, or none is there."""
    with engine.connect() as connection:
        there = set(inspect(connection).get_table_names())
        rows = (select(literal(1)).select_from(table).limit(1) for table in TABLES if table.name in there)
        return not any(connection.execute(query).first() for query in rows)


def copy_rows(source: Connection, target: Connection) -> None:
    """Copies all rows into the empty tables of `target`, which counts its row numbers on from there.

    Condition: both databases are migrated to this version.
    """
    for table in TABLES:
        rows = source.execution_options(yield_per=_AT_ONCE).execute(select(table)).mappings()
        for part in rows.partitions():
            target.execute(insert(table), [{name: _in_utc(value) for name, value in row.items()} for row in part])
        _count_on(target, table)


def _in_utc(value: object) -> object:
    """Returns a time as UTC: SQLite returns it without its zone, and PostgreSQL in the zone of its session."""
    if not isinstance(value, dt.datetime):
        return value
    return value.replace(tzinfo=dt.UTC) if value.tzinfo is None else value.astimezone(dt.UTC)


def _count_on(target: Connection, table: Table) -> None:
    column = table.autoincrement_column
    if column is None or target.dialect.name != "postgresql":
        return
    counter = func.pg_get_serial_sequence(table.name, column.name)
    target.execute(select(func.setval(counter, func.coalesce(func.max(column), 0) + 1, False)))
