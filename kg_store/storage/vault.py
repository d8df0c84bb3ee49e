"""Vault: the names and values of one graph version, encrypted row by row."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import Engine, bindparam, insert, select

from kg_store.storage.master_key import MasterKey, bind
from kg_store.storage.tables import vault_entries
from kg_store.terms import Mids, NodeKind, ValueKind

VisibilityFilter = Callable[[tuple[int, ...]], tuple[int, ...]]
"""Returns those of some MIDs that the caller may know, in order."""

PURPOSE = "vault"
NO_NAME = "(no name)"
_QUERY_MIDS = 500
_INSERT_ROWS = 5_000
_MIDNIGHT: Final = re.compile(r"[T ]00:00(?::00(?:\.0+)?)?(?:Z|[+-]\d\d:\d\d)?$")
"""Matches the midnight in a date that its source writes with a time."""
# Rows are padded to multiples of this length, so that a stolen disk does not show the length of each name.
_PAD_BYTES = 64
_AS_JSON: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
# Built once, because building a statement takes SQLAlchemy longer than reading its rows takes SQLite.
_SOME = select(vault_entries.c.mid, vault_entries.c.sealed).where(
    vault_entries.c.version_id == bindparam("version"), vault_entries.c.mid.in_(bindparam("mids", expanding=True))
)


@dataclass(frozen=True, slots=True)
class VaultRecord:
    """The record of one entity, mediator or value.

    `names`: the preferred one first, then aliases; empty for values and mediators. `lexical`: the literal's own text.
    `hidden`: the policy keeps the node out of the graph; it is stored only so that the guard can block its name or
    value. `labels`: (language, name) pairs, if the preferred name is given in several languages.
    """

    kind: NodeKind = field(repr=False)
    names: tuple[str, ...] = field(default=(), repr=False)
    value_kind: ValueKind | None = field(default=None, repr=False)
    lexical: str | None = field(default=None, repr=False)
    hidden: bool = field(default=False, repr=False)
    labels: tuple[tuple[str, str], ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class VaultScope:
    """The graph version that vault rows belong to.

    It is authenticated with each row, together with the MID: a row that is moved to another version cannot be opened.
    """

    tenant: str
    graph: str
    version_id: str

    def context(self) -> bytes:
        return bind(self.tenant, self.graph, self.version_id)


class Vault:
    """Reads the names and values of one graph version.

    Promise: a row can be opened only with the master key, and only for its own tenant, graph, version and MID
    (AES-256-GCM). Condition: the master key is not stored with the database. Limit: the number of rows and their rough
    sizes are visible.
    """

    def __init__(self, engine: Engine, master: MasterKey, scope: VaultScope) -> None:
        self._engine, self._master, self._scope = engine, master, scope
        self._context = scope.context()
        self._holds: VisibilityFilter = lambda mids: mids

    def part(self, holds: VisibilityFilter) -> Vault:
        """Returns the vault restricted to the MIDs that `holds` permits."""
        part = Vault(self._engine, self._master, self._scope)
        part._holds = holds
        return part

    def records(self, mids: Sequence[int] | Mids) -> dict[int, VaultRecord]:
        """Returns the records of those `mids` that this version holds. Raises MasterKeyError."""
        wanted = list(self._holds(tuple(dict.fromkeys(int(mid) for mid in mids))))
        found: dict[int, VaultRecord] = {}
        if not wanted:
            return found
        with self._engine.connect() as connection:
            for start in range(0, len(wanted), _QUERY_MIDS):
                some = {"version": self._scope.version_id, "mids": wanted[start : start + _QUERY_MIDS]}
                found |= {mid: self._opened(mid, sealed) for mid, sealed in connection.execute(_SOME, some)}
        return found

    def all_records(self) -> Iterator[tuple[int, VaultRecord]]:
        """Yields every MID and record, by MID. It reveals everything: only for building indexes and for evaluation."""
        last = -1
        while True:
            with self._engine.connect() as connection:
                rows = connection.execute(
                    select(vault_entries.c.mid, vault_entries.c.sealed)
                    .where(vault_entries.c.version_id == self._scope.version_id, vault_entries.c.mid > last)
                    .order_by(vault_entries.c.mid)
                    .limit(_INSERT_ROWS)
                ).all()
            if not rows:
                return
            held = set(self._holds(tuple(mid for mid, _ in rows)))
            for mid, sealed in rows:
                if mid in held:
                    yield mid, self._opened(mid, sealed)
            last = rows[-1][0]

    def _opened(self, mid: int, sealed: bytes) -> VaultRecord:
        plain = self._master.open(PURPOSE, _bound(self._context, mid), sealed)
        kind, names, value_kind, lexical, hidden, *labels = json.loads(plain.decode("utf-8", "surrogatepass"))
        return VaultRecord(
            NodeKind(kind), tuple(names), ValueKind(value_kind) if value_kind else None, lexical, bool(hidden),
            tuple((language, name) for language, name in labels[0]) if labels else (),
        )  # fmt: skip


def write_records(
    engine: Engine, master: MasterKey, scope: VaultScope, records: Iterable[tuple[int, VaultRecord]]
) -> Iterator[int]:
    """Seals and inserts `records`; yields the number written so far.

    Each batch is a transaction of its own, so that a load does not lock the database all the time.
    """
    batch: list[dict[str, object]] = []
    context, written = scope.context(), 0
    for mid, record in records:
        sealed = master.seal(PURPOSE, _bound(context, mid), _plain(record))
        batch.append({"version_id": scope.version_id, "mid": mid, "sealed": sealed})
        if len(batch) == _INSERT_ROWS:
            written += _insert(engine, batch)
            batch = []
            yield written
    if batch:
        yield written + _insert(engine, batch)


def readable_name(record: VaultRecord, language: str = "") -> str:
    """Returns the text that an answer shows for this node; in `language` if it has a label in it."""
    if record.names:
        return dict(record.labels).get(language, record.names[0])
    if record.lexical is None:
        return NO_NAME
    if record.value_kind is ValueKind.DATE:
        return _MIDNIGHT.sub("", record.lexical).replace("T", " ")
    return record.lexical


def _bound(context: bytes, mid: int) -> bytes:
    return context + mid.to_bytes(8, "big")


def _insert(engine: Engine, batch: list[dict[str, object]]) -> int:
    with engine.begin() as connection:
        connection.execute(insert(vault_entries), batch)
    return len(batch)


def _plain(record: VaultRecord) -> bytes:
    parts: list[object] = [record.kind, record.names, record.value_kind, record.lexical, int(record.hidden)]
    if record.labels:
        parts.append(record.labels)
    plain = _AS_JSON.encode(parts).encode("utf-8", "surrogatepass")
    return plain + b" " * (-len(plain) % _PAD_BYTES)
