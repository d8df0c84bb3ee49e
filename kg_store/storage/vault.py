"""Vault: the names and values of one graph version, encrypted in pages of a few records."""

from __future__ import annotations

import json
import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, Engine, bindparam, delete, insert, select

from kg_store.errors import MasterKeyError
from kg_store.storage.master_key import MasterKey, bind
from kg_store.storage.tables import vault_entries
from kg_store.terms import Mids, NodeKind, ValueKind

VisibilityFilter = Callable[[tuple[int, ...]], tuple[int, ...]]
"""Returns those of some MIDs that the caller may know, in order."""

PURPOSE = "vault"
NO_NAME = "(no name)"
_QUERY_ROWS = 500
_INSERT_ROWS = 150
_PAGE_RECORDS: Final = 16
_PAGE: Final = b"\x01"
"""The first byte of an opened page; rows of before there were pages hold one record and begin with a bracket."""
_COUNT_BYTES, _MID_BYTES = 2, 8
Parts = list[Any]
"""The fields of a record as JSON has them: kind, names, kind of value, text, hidden, labels; empty ones may lack."""
_EMPTY: Final[Parts] = [None, (), None, None, 0, ()]
_MIDNIGHT: Final = re.compile(r"[T ]00:00(?::00(?:\.0+)?)?(?:Z|[+-]\d\d:\d\d)?$")
"""Matches the midnight in a date that its source writes with a time."""
# Pages are padded to multiples of this length, so that a stolen disk does not show the length of the names.
_PAD_BYTES = 256
# A record holds itself nowhere, so the encoder need not look for that.
_AS_JSON: Final = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":"))
# Built once, because building a statement takes SQLAlchemy longer than reading its rows takes SQLite.
_OF_VERSION = vault_entries.c.version_id == bindparam("version")
_SOME = select(vault_entries.c.mid, vault_entries.c.sealed).where(
    _OF_VERSION, vault_entries.c.mid.in_(bindparam("mids", expanding=True))
)
_FIRSTS = select(vault_entries.c.mid).where(_OF_VERSION).order_by(vault_entries.c.mid)
_NEXT = (
    select(vault_entries.c.mid, vault_entries.c.sealed)
    .where(_OF_VERSION, vault_entries.c.mid > bindparam("last"))
    .order_by(vault_entries.c.mid)
    .limit(_QUERY_ROWS)
)
_DELETED = delete(vault_entries).where(_OF_VERSION, vault_entries.c.mid == bindparam("row"))


class VaultRecord(NamedTuple):
    """The record of one entity, mediator or value.

    `names`: the preferred one first, then aliases; empty for values and mediators. `lexical`: the literal's own text.
    `hidden`: the policy keeps the node out of the graph; it is stored only so that the guard can block its name or
    value. `labels`: (language, name) pairs, if the preferred name is given in several languages.
    """

    kind: NodeKind
    names: tuple[str, ...] = ()
    value_kind: ValueKind | None = None
    lexical: str | None = None
    hidden: bool = False
    labels: tuple[tuple[str, str], ...] = ()

    def __repr__(self) -> str:
        return "VaultRecord()"  # Without names and values.


@dataclass(frozen=True, slots=True)
class VaultScope:
    """The graph version that vault rows belong to.

    It is authenticated with each row, together with the row's MID: a row that is moved to another version cannot be
    opened.
    """

    tenant: str
    graph: str
    version_id: str

    def context(self) -> bytes:
        return bind(self.tenant, self.graph, self.version_id)


class Vault:
    """Reads the names and values of one graph version.

    A row is a page: the records of up to _PAGE_RECORDS MIDs that follow one another, under the first of them. Promise:
    a row can be opened only with the master key, and only for its own tenant, graph, version and first MID
    (AES-256-GCM). Condition: the master key is not stored with the database. Limit: the number of rows and their rough
    sizes are visible.
    """

    def __init__(self, engine: Engine, master: MasterKey, scope: VaultScope) -> None:
        self._engine, self._master, self._scope = engine, master, scope
        self._context = scope.context()
        self._holds: VisibilityFilter = lambda mids: mids
        self._firsts: array[int] | None = None

    def part(self, holds: VisibilityFilter) -> Vault:
        """Returns the vault restricted to the MIDs that `holds` permits."""
        part = Vault(self._engine, self._master, self._scope)
        part._holds, part._firsts = holds, self._firsts
        return part

    def records(self, mids: Sequence[int] | Mids) -> dict[int, VaultRecord]:
        """Returns the records of those `mids` that this version holds, in their order. Raises MasterKeyError."""
        wanted = self._holds(tuple(dict.fromkeys(int(mid) for mid in mids)))
        if not wanted:
            return {}
        with self._engine.connect() as connection:
            pages = self._pages(connection, wanted)
        found = {mid: parts for row, sealed in pages for mid, parts in self._opened(row, sealed)}
        return {mid: _record(found[mid]) for mid in wanted if mid in found}

    def holds_any(self, connection: Connection, mids: Collection[int]) -> bool:
        """Returns True if the version has a record of one of `mids`. Raises MasterKeyError."""
        pages = self._pages(connection, mids)
        return any(mid in mids for row, sealed in pages for mid, _ in self._opened(row, sealed))

    def all_records(self) -> Iterator[tuple[int, VaultRecord]]:
        """Yields every MID and record, by MID. It reveals everything: only for building indexes and for evaluation."""
        last = -1
        while True:
            with self._engine.connect() as connection:
                rows = connection.execute(_NEXT, {"version": self._scope.version_id, "last": last}).all()
            if not rows:
                return
            for row, sealed in rows:
                page = dict(self._opened(row, sealed))
                for mid in self._holds(tuple(page)):
                    yield mid, _record(page[mid])
            last = rows[-1][0]

    def delete(self, mids: Collection[int]) -> None:
        """Deletes the records of `mids`; a page that holds others too is sealed anew without them.

        A page that does not open is deleted whole. Condition: the version is to be deleted, so that nobody writes it.
        """
        with self._engine.begin() as connection:
            for row, sealed in self._pages(connection, mids):
                try:
                    page = self._opened(row, sealed)
                except MasterKeyError:
                    page = []
                left = [(mid, parts) for mid, parts in page if mid not in mids]
                if page and len(left) == len(page):
                    continue
                connection.execute(_DELETED, {"version": self._scope.version_id, "row": row})
                if left:
                    connection.execute(insert(vault_entries), _sealed_page(self._master, self._scope, left))

    def _pages(self, connection: Connection, mids: Collection[int]) -> list[tuple[int, bytes]]:
        """Returns (row, sealed bytes) of each page that may hold some of `mids`."""
        found: list[tuple[int, bytes]] = []
        for _ in range(2):
            rows = self._rows_of(connection, mids)
            found = []
            for start in range(0, len(rows), _QUERY_ROWS):
                some = {"version": self._scope.version_id, "mids": rows[start : start + _QUERY_ROWS]}
                found += [(row, sealed) for row, sealed in connection.execute(_SOME, some)]
            if len(found) == len(rows):
                break
            self._firsts = None  # Something was erased meanwhile, and its pages stand under other MIDs.
        return found

    def _rows_of(self, connection: Connection, mids: Collection[int]) -> list[int]:
        """Returns the first MIDs of the pages in which `mids` would be; they are read once, and kept."""
        firsts = self._firsts
        if firsts is None:
            version = {"version": self._scope.version_id}
            firsts = self._firsts = array("q", connection.execute(_FIRSTS, version).scalars())
        places = {bisect_right(firsts, mid) - 1 for mid in mids}
        return [firsts[place] for place in sorted(places) if place >= 0]

    def _opened(self, row: int, sealed: bytes) -> list[tuple[int, Parts]]:
        return parts_in(row, self._master.open(PURPOSE, _bound(self._context, row), sealed))


def write_records(
    engine: Engine, master: MasterKey, scope: VaultScope, records: Iterable[tuple[int, VaultRecord]]
) -> Iterator[int]:
    """Seals and inserts `records`, which are ordered by MID; yields the number written so far.

    Each batch is a transaction of its own, so that a load does not lock the database all the time. Raises ValueError
    if the records are not in order, because they would not be found again.
    """
    left, written, last = iter(records), 0, -1
    batch: list[dict[str, object]] = []
    while page := list(islice(left, _PAGE_RECORDS)):
        mids = [last, *(mid for mid, _ in page)]
        if any(after <= before for before, after in pairwise(mids)):
            raise ValueError("the records of a vault are not in the order of their MIDs")
        batch.append(_sealed_page(master, scope, [(mid, _parts(record)) for mid, record in page]))
        written, last = written + len(page), mids[-1]
        if len(batch) == _INSERT_ROWS:
            _insert(engine, batch)
            batch = []
            yield written
    if batch:
        _insert(engine, batch)
        yield written


def readable_name(record: VaultRecord, language: str = "") -> str:
    """Returns the text that an answer shows for this node; in `language` if it has a label in it."""
    if record.names:
        return dict(record.labels).get(language, record.names[0])
    if record.lexical is None:
        return NO_NAME
    if record.value_kind is ValueKind.DATE:
        return _MIDNIGHT.sub("", record.lexical).replace("T", " ")
    return record.lexical


def _insert(engine: Engine, batch: list[dict[str, object]]) -> None:
    with engine.begin() as connection:
        connection.execute(insert(vault_entries), batch)


def parts_in(row: int, plain: bytes) -> list[tuple[int, Parts]]:
    """Returns the MIDs in an opened row, each with the parts of its record."""
    if plain[:1] != _PAGE:
        return [(row, json.loads(plain.decode("utf-8", "surrogatepass")))]
    start = 1 + _COUNT_BYTES
    end = start + int.from_bytes(plain[1:start], "big") * _MID_BYTES
    mids = (int.from_bytes(plain[at : at + _MID_BYTES], "big") for at in range(start, end, _MID_BYTES))
    return list(zip(mids, json.loads(plain[end:].decode("utf-8", "surrogatepass")), strict=True))


def _sealed_page(master: MasterKey, scope: VaultScope, page: Sequence[tuple[int, Parts]]) -> dict[str, object]:
    """Returns the database row of a page."""
    first = page[0][0]
    head = [_PAGE, len(page).to_bytes(_COUNT_BYTES, "big"), *(mid.to_bytes(_MID_BYTES, "big") for mid, _ in page)]
    body = _AS_JSON.encode([parts for _, parts in page]).encode("utf-8", "surrogatepass")
    plain = b"".join((*head, body))
    sealed = master.seal(PURPOSE, _bound(scope.context(), first), plain + b" " * (-len(plain) % _PAD_BYTES))
    return {"version_id": scope.version_id, "mid": first, "sealed": sealed}


def _parts(record: VaultRecord) -> Parts:
    """Returns the fields of a record in their order, without those at its end that are empty."""
    if record.labels:
        return [record.kind, record.names, record.value_kind, record.lexical, int(record.hidden), record.labels]
    if record.hidden:
        return [record.kind, record.names, record.value_kind, record.lexical, 1]
    if record.lexical is None and record.value_kind is None:
        return [record.kind, record.names] if record.names else [record.kind]
    return [record.kind, record.names, record.value_kind, record.lexical]


def _record(parts: Parts) -> VaultRecord:
    kind, names, value_kind, lexical, hidden, labels = [*parts, *_EMPTY[len(parts) :]]
    return VaultRecord(
        NodeKind(kind), tuple(names), ValueKind(value_kind) if value_kind else None, lexical, bool(hidden),
        tuple((language, name) for language, name in labels),
    )  # fmt: skip


def _bound(context: bytes, mid: int) -> bytes:
    return context + mid.to_bytes(_MID_BYTES, "big")
