"""Defines the ledger's tables and its chains: one chain per tenant, in which each row is linked to the one before it.

The link of row n is the SHA-256 of the link of row n-1 and the content of row n, so that whoever holds one link can
check all rows up to it. The chain's end (its head) is written in a row of its own, encrypted with the master key, in
the same transaction as the rows.
"""

from __future__ import annotations

import datetime as dt
import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    Column,
    Connection,
    DateTime,
    Engine,
    Index,
    Insert,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    bindparam,
    insert,
    update,
)
from sqlalchemy.exc import IntegrityError

from kg_store.errors import MasterKeyError
from kg_store.storage.master_key import MasterKey, bind

metadata: Final = MetaData()

# A row without `number` or `link` was not added by this service; a check reports it.
ledger_entries: Final = Table(
    "ledger_entries",
    metadata,
    Column("position", Integer, primary_key=True, autoincrement=True),
    Column("id", String(32), nullable=False, unique=True),
    Column("at", DateTime(timezone=True), nullable=False),
    Column("tenant", String(63), nullable=False),
    Column("caller", String(32), nullable=False),
    Column("answer", String(64), nullable=False),
    Column("conversation", String(64), nullable=False),
    Column("step", String(32), nullable=False),
    Column("size", Integer, nullable=False),
    Column("digest", String(64), nullable=False),
    Column("verdict", String(16), nullable=False),
    Column("hits", Integer, nullable=False),
    Column("sealed", LargeBinary),
    Column("number", Integer),
    Column("link", String(64)),
    Index("ix_ledger_entries_owner", "tenant", "caller", "position"),
    Index("ix_ledger_entries_answer", "tenant", "answer"),
    Index("ix_ledger_entries_at", "at"),
    Index("uq_ledger_entries_number", "tenant", "number", unique=True),
)

ledger_replies: Final = Table(
    "ledger_replies",
    metadata,
    Column("entry", String(32), primary_key=True),
    Column("at", DateTime(timezone=True), nullable=False),
    Column("outcome", String(16), nullable=False),
    Column("size", Integer, nullable=False),
    Column("sealed", LargeBinary),
    Column("tenant", String(63)),
    Column("digest", String(64)),
    Column("number", Integer),
    Column("link", String(64)),
    Index("ix_ledger_replies_at", "at"),
    Index("uq_ledger_replies_number", "tenant", "number", unique=True),
)

# The access record: whose names were restored for whom. `sealed` holds who asked, why, and the ids of the things.
ledger_access: Final = Table(
    "ledger_access",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("at", DateTime(timezone=True), nullable=False),
    Column("tenant", String(63), nullable=False),
    Column("caller", String(32), nullable=False),
    Column("graph", String(63), nullable=False),
    Column("event", String(16), nullable=False),
    Column("answer", String(64), nullable=False),
    Column("amount", Integer, nullable=False),
    Column("size", Integer, nullable=False),
    Column("digest", String(64), nullable=False),
    Column("sealed", LargeBinary),
    Column("number", Integer),
    Column("link", String(64)),
    Index("ix_ledger_access_graph", "tenant", "graph", "at"),
    Index("ix_ledger_access_caller", "tenant", "caller", "event", "at"),
    Index("uq_ledger_access_number", "tenant", "number", unique=True),
)

# The end of each tenant's chain. `sealed` is an empty text encrypted with the master key and bound to tenant, number
# and link, which proves that this service wrote them.
ledger_heads: Final = Table(
    "ledger_heads",
    metadata,
    Column("tenant", String(63), primary_key=True),
    Column("number", Integer, nullable=False),
    Column("link", String(64), nullable=False),
    Column("sealed", LargeBinary, nullable=False),
)

ledger_checkpoints: Final = Table(
    "ledger_checkpoints",
    metadata,
    Column("position", Integer, primary_key=True, autoincrement=True),
    Column("tenant", String(63), nullable=False),
    Column("number", Integer, nullable=False),
    Column("body", Text, nullable=False),
    Column("signature", String(128), nullable=False),
    Index("ix_ledger_checkpoints_tenant", "tenant", "position"),
)

# One row: the key that signs checkpoints, encrypted with the master key; it stays the same if that key is rotated.
ledger_signers: Final = Table(
    "ledger_signers",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("sealed", LargeBinary, nullable=False),
)


PURPOSE: Final = "ledger"


def request_context(entry: Any) -> bytes:
    """Returns the ids that the encryption of a request's payload is bound to; in another row it can't be opened.

    `entry`: a LedgerEntry or its database row.
    """
    return bind(entry.id, entry.tenant, entry.caller, entry.answer, entry.conversation, entry.step, entry.digest)


def reply_context(entry: Any) -> bytes:
    """Returns the ids that the encryption of a reply is bound to; in another row it can't be opened.

    `entry`: the LedgerEntry of the request that it replies to, or that request's database row.
    """
    return bind("reply", entry.id, entry.tenant, entry.caller, entry.answer, entry.conversation, entry.step)


def access_context(entry: Any) -> bytes:
    """Returns the ids that the encryption of an access entry's content is bound to; in another row it can't be opened.

    `entry`: an AccessEntry or its database row.
    """
    return bind("access", entry.id, entry.tenant, entry.caller, entry.graph, entry.event, entry.answer)


def sealed_content(payload: bytes, anonymity: int | None) -> bytes:
    """Returns the bytes to encrypt for a request: its body, followed by the anonymity number if there is one."""
    return payload if anonymity is None else payload + str(anonymity).encode()


def opened_content(plain: bytes, size: int) -> tuple[bytes, int | None]:
    """Splits decrypted content into the body, which has `size` bytes, and the anonymity number if there is one."""
    payload, number = plain[:size], plain[size:]
    return payload, int(number) if number.isdigit() else None


START: Final = "0" * 64
HEAD_PURPOSE: Final = "ledger head"


class Kind(NamedTuple):
    """The columns of a table that a row's link covers.

    Encrypted content is covered by its `digest` only, so that it can be encrypted again with another key.
    """

    word: str
    fields: tuple[str, ...]


REQUEST: Final = Kind(
    "request",
    ("id", "at", "tenant", "caller", "answer", "conversation", "step", "size", "digest", "verdict", "hits", "number"),
)
REPLY: Final = Kind("reply", ("entry", "at", "tenant", "outcome", "size", "digest", "number"))
ACCESS: Final = Kind(
    "access", ("id", "at", "tenant", "caller", "graph", "event", "answer", "amount", "size", "digest", "number")
)

# Built once, because SQLAlchemy needs longer to build a statement than SQLite needs to change the row.
_MOVE: Final = (
    update(ledger_heads)
    .where(
        ledger_heads.c.tenant == bindparam("of"),
        ledger_heads.c.number == bindparam("from_number"),
        ledger_heads.c.link == bindparam("from_link"),
    )
    .values(number=bindparam("to_number"), link=bindparam("to_link"), sealed=bindparam("to_sealed"))
)
# An update that changes nothing locks the row in PostgreSQL and the database in SQLite, before it is read.
_LOCK: Final = (
    update(ledger_heads)
    .where(ledger_heads.c.tenant == bindparam("of"))
    .values(number=ledger_heads.c.number)
    .returning(ledger_heads.c.number, ledger_heads.c.link, ledger_heads.c.sealed)
)
_BEGIN: Final = insert(ledger_heads)

Row = dict[str, Any]
AddedRows = tuple[Insert, "Kind", Sequence[Row]]
"""A statement that inserts rows, their kind, and the rows; at least one."""


class BrokenHeadError(Exception):
    """The end of a chain is not the one that this service last wrote; nothing may be added to it."""


@dataclass(frozen=True, slots=True)
class ChainHead:
    """The end of a chain: number and link of its last row, or 0 and START if it has none."""

    number: int = 0
    link: str = START


def content_of(kind: Kind, row: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the content of a row that its link covers and an export shows; its time is text in UTC."""
    content = {name: row[name] for name in kind.fields}
    return content | {"kind": kind.word, "at": in_utc(row["at"]).isoformat(timespec="microseconds")}


def in_utc(at: dt.datetime) -> dt.datetime:
    """Returns the time in UTC. A time without a zone counts as UTC, because SQLite drops the zone."""
    return at.replace(tzinfo=dt.UTC) if at.tzinfo is None else at.astimezone(dt.UTC)


def link_of(before: str, content: Mapping[str, Any]) -> str:
    """Returns the link (SHA-256 in hex) of a row with this content that follows the row with the link `before`."""
    plain = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return sha256(f"{before}\n{plain}".encode()).hexdigest()


def linked(tenant: str, head: ChainHead, kind: Kind, rows: Sequence[Row]) -> ChainHead:
    """Sets tenant, number and link of each row, so that they follow `head` in order; returns the new head."""
    for row in rows:
        row["tenant"], row["number"] = tenant, head.number + 1
        head = ChainHead(head.number + 1, link_of(head.link, content_of(kind, row)))
        row["link"] = head.link
    return head


def _all_linked(tenant: str, head: ChainHead, added: Sequence[AddedRows]) -> ChainHead:
    for _, kind, rows in added:
        head = linked(tenant, head, kind, rows)
    return head


def sealed_head(master: MasterKey, tenant: str, head: ChainHead) -> bytes:
    return master.seal(HEAD_PURPOSE, bind(tenant, str(head.number), head.link), b"")


def is_sealed(master: MasterKey, tenant: str, head: ChainHead, sealed: bytes) -> bool:
    """Returns True if `sealed` proves that this service wrote the head."""
    try:
        master.open(HEAD_PURPOSE, bind(tenant, str(head.number), head.link), sealed)
    except MasterKeyError:
        return False
    return True


@dataclass(slots=True)
class _Known:
    """The head that this process last wrote for a tenant, and a lock for its threads."""

    head: ChainHead | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)


class Chains:
    """Appends rows to the tenants' chains.

    Promise: no two rows of a tenant follow the same row, whichever threads and processes write, and nothing is added
    to a head that this service did not write. Condition: database transactions are atomic. Limit: if somebody restores
    an older state of the whole database, only a checkpoint kept elsewhere reveals it.
    """

    def __init__(self, engine: Engine, master: MasterKey) -> None:
        self._engine, self._master = engine, master
        self._known: dict[str, _Known] = {}

    def append(self, tenant: str, *added: AddedRows) -> None:
        """Links rows and inserts them in their order, in one transaction. Raises BrokenHeadError, SQLAlchemyError."""
        known = self._known.setdefault(tenant, _Known())
        with known.lock:
            try:
                self._append(tenant, known, added)
            except IntegrityError:
                # Another process began this tenant's chain at the same moment; now its head can be read.
                self._append(tenant, known, added)

    def locked(self, connection: Connection, tenant: str) -> ChainHead:
        """Returns a tenant's head and locks it until the transaction ends. Raises BrokenHeadError."""
        row = connection.execute(_LOCK, {"of": tenant}).one_or_none()
        if row is None:
            return self._begun(connection, tenant)
        head = ChainHead(row.number, row.link)
        if not is_sealed(self._master, tenant, head, row.sealed):
            raise BrokenHeadError
        return head

    def _append(self, tenant: str, known: _Known, added: Sequence[AddedRows]) -> None:
        before = known.head
        with self._engine.begin() as connection:
            after = _all_linked(tenant, before or ChainHead(), added)
            if before is None or not self._move(connection, tenant, before, after):
                found = self.locked(connection, tenant)
                if before is not None and found.number < before.number:
                    raise BrokenHeadError
                after = _all_linked(tenant, found, added)
                self._move(connection, tenant, found, after)
            for statement, _, rows in added:
                connection.execute(statement, rows)
        known.head = after

    def _move(self, connection: Connection, tenant: str, before: ChainHead, after: ChainHead) -> bool:
        moved = {
            "of": tenant, "from_number": before.number, "from_link": before.link,
            "to_number": after.number, "to_link": after.link, "to_sealed": sealed_head(self._master, tenant, after),
        }  # fmt: skip
        return connection.execute(_MOVE, moved).rowcount == 1

    def _begun(self, connection: Connection, tenant: str) -> ChainHead:
        head = ChainHead()
        row = {"tenant": tenant, "number": head.number, "link": head.link}
        connection.execute(_BEGIN, {**row, "sealed": sealed_head(self._master, tenant, head)})
        return head
