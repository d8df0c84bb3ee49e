"""Encrypts ("seals") stored data again with the newest master key, in steps that can be interrupted.

Sealed bytes show the version of their key, so the remaining work is found in the data itself and no progress is
stored.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sqlalchemy import (
    Column,
    ColumnElement,
    Engine,
    LargeBinary,
    Row,
    Select,
    Table,
    bindparam,
    func,
    literal,
    literal_column,
    select,
    update,
)

from kg_store.storage.data_folder import DataFolder
from kg_store.storage.master_key import VERSION_BYTES, MasterKey, bind
from kg_store.storage.tables import erasures, graph_versions, graphs, vault_entries

_BATCH_SIZE: Final = 500
_FILES: Final = ("schema.sealed", "names.sealed", "words.sealed", "embedding.sealed")
_VERSIONS: Final = select(graphs.c.tenant, graphs.c.name, graph_versions.c.id).join(
    graphs, graphs.c.id == graph_versions.c.graph_id
)


@dataclass(frozen=True, slots=True)
class SealedColumn:
    """A column of sealed bytes, and how to seal its rows again.

    `rows` selects the table's primary key, the bytes as `sealed`, and the columns from which `context` makes the
    context that opens them. `held`: further columns that the context depends on; a row is not overwritten if one of
    them has changed since it was read.
    """

    table: Table
    column: Column[Any]
    rows: Select[Any]
    purpose: str
    context: Callable[[Row[Any]], bytes]
    held: tuple[str, ...] = ()


def store_columns() -> list[SealedColumn]:
    """Returns the sealed columns of graphs, versions, vault and erasures. Rows of deleted graphs are left out."""
    vault = (
        select(graphs.c.tenant, graphs.c.name, vault_entries.c.version_id, vault_entries.c.mid, vault_entries.c.sealed)
        .join(graph_versions, graph_versions.c.id == vault_entries.c.version_id)
        .join(graphs, graphs.c.id == graph_versions.c.graph_id)
    )
    under_way = select(graphs.c.tenant, graphs.c.name, erasures.c.id, erasures.c.sealed).join(
        graphs, graphs.c.id == erasures.c.graph_id
    )
    mid_key, info, policy = graphs.c.sealed_mid_key, graph_versions.c.sealed_info, graph_versions.c.sealed_policy
    keys = select(graphs.c.id, graphs.c.tenant, graphs.c.name, mid_key.label("sealed"))

    def of_row(row: Row[Any]) -> bytes:
        return bind(row.tenant, row.name, row.version_id) + int(row.mid).to_bytes(8, "big")

    return [
        SealedColumn(erasures, erasures.c.sealed, under_way, "erasure", _version),
        SealedColumn(graphs, mid_key, keys, "mid key", lambda row: bind(row.tenant, row.name)),
        SealedColumn(graph_versions, info, _VERSIONS.add_columns(info.label("sealed")), "version info", _version),
        SealedColumn(graph_versions, policy, _VERSIONS.add_columns(policy.label("sealed")), "policy", _version),
        SealedColumn(vault_entries, vault_entries.c.sealed, vault, "vault", of_row),
    ]


def reseal(engine: Engine, master: MasterKey, where: SealedColumn) -> Iterator[int]:
    """Seals the rows of a column again; yields the number done so far. Each batch is a transaction of its own.

    Raises MasterKeyError at a row that cannot be opened; the batches before it are done.
    """
    key = list(where.table.primary_key.columns)
    same = [column == bindparam(f"same_{column.name}") for column in key]
    held = [where.table.c[name] == bindparam(f"same_{name}") for name in where.held]
    change = (
        update(where.table)
        # A row that was written meanwhile stays as it is, because it is newer.
        .where(*same, *held, where.column == bindparam("before"))
        .values({where.column.name: bindparam("after")})
    )
    done = 0
    while True:
        with engine.connect() as connection:
            is_older = where.column.is_not(None) & (_head(where) != literal(master.newest_bytes))
            rows = connection.execute(where.rows.where(is_older).limit(_BATCH_SIZE)).all()
        if not rows:
            return
        names = (*(column.name for column in key), *where.held)
        values = [
            {"before": row.sealed, "after": _resealed(master, where.purpose, where.context(row), row.sealed)}
            | {f"same_{name}": getattr(row, name) for name in names}
            for row in rows
        ]
        with engine.begin() as connection:
            connection.execute(change, values)
        done += len(rows)
        yield done


def versions_of(engine: Engine, where: SealedColumn) -> Counter[int]:
    """Returns the number of rows sealed with each version of the key, including orphaned rows."""
    head = _head(where)
    query = select(head, func.count()).where(where.column.is_not(None)).group_by(head)
    with engine.connect() as connection:
        found = connection.execute(query).all()
    return Counter({MasterKey.version_of(bytes(start)): count for start, count in found})


def reseal_files(engine: Engine, master: MasterKey, folder: DataFolder) -> int:
    """Seals the files of this folder's versions again, replacing each atomically; returns their number."""
    with engine.connect() as connection:
        versions = connection.execute(_VERSIONS).all()
    return sum(
        int(_reseal_file(master, folder.path_of(row.id) / file, _version(row))) for row in versions for file in _FILES
    )


def versions_of_files(folder: DataFolder) -> Counter[int]:
    """Returns the number of files in this data folder sealed with each version of the key."""
    found = Counter[int]()
    for path in (path for name in _FILES for path in folder.files_named(name)):
        with path.open("rb") as file:
            found[MasterKey.version_of(file.read(VERSION_BYTES))] += 1
    return found


def _head(where: SealedColumn) -> ColumnElement[bytes]:
    """Returns, as SQL, the first bytes of the column, which hold the key's version.

    Its numbers are literals instead of parameters; PostgreSQL refuses to group by it otherwise.
    """
    return func.substr(where.column, literal_column("1"), literal_column(str(VERSION_BYTES)), type_=LargeBinary())


def _version(row: Any) -> bytes:
    return bind(row.tenant, row.name, row.id)


def _reseal_file(master: MasterKey, path: Path, context: bytes) -> bool:
    """Seals one file again; returns False if that was not necessary or the file is missing."""
    try:
        sealed = path.read_bytes()
    except FileNotFoundError:
        return False
    if sealed.startswith(master.newest_bytes):
        return False
    fresh = path.with_suffix(".new")
    with fresh.open("wb") as file:
        file.write(_resealed(master, path.name, context, sealed))
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
    return True


def _resealed(master: MasterKey, purpose: str, context: bytes, sealed: bytes) -> bytes:
    return master.seal(purpose, context, master.open(purpose, context, sealed))
