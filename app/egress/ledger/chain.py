"""The ledger's tables and its chains: one per tenant, each row linked to the one before it, whoever writes.

Row n's link is the SHA-256 of row n-1's link and row n's content, so that whoever holds one link can check all rows
up to it. The end of the chain stands in a row of its own, sealed with the master key, in the same transaction.
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

# A row without `number` or `link` was added from outside: the check tells of it.
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

# The end of each tenant's chain; `sealed` is a seal over nothing, bound to tenant, number and link.
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

# One row: the key that signs checkpoints, sealed, so that it outlives rotations of the master key.
ledger_signers: Final = Table(
    "ledger_signers",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("sealed", LargeBinary, nullable=False),
)


PURPOSE: Final = "ledger"


def request_context(entry: Any) -> bytes:
    """Returns the ids that the payload of a request (an entry or its row) is bound to: moved, it cannot be opened."""
    return bind(entry.id, entry.tenant, entry.caller, entry.answer, entry.conversation, entry.step, entry.digest)


def reply_context(entry: Any) -> bytes:
    """Returns the ids that bind a reply to its request."""
    return bind("reply", entry.id, entry.tenant, entry.caller, entry.answer, entry.conversation, entry.step)


def sealed_content(payload: bytes, anonymity: int | None) -> bytes:
    """Returns the content to be sealed for a request: its body, followed by the anonymity number if there is one."""
    return payload if anonymity is None else payload + str(anonymity).encode()


def opened_content(plain: bytes, size: int) -> tuple[bytes, int | None]:
    """Returns the body, which has `size` bytes, and the anonymity number if there is one."""
    payload, number = plain[:size], plain[size:]
    return payload, int(number) if number.isdigit() else None


START: Final = "0" * 64
HEAD_PURPOSE: Final = "ledger head"


class Kind(NamedTuple):
    """The columns of a table that a link covers. Sealed content is covered by `digest`, so that it can be sealed
    again.
    """

    word: str
    fields: tuple[str, ...]


REQUEST: Final = Kind(
    "request",
    ("id", "at", "tenant", "caller", "answer", "conversation", "step", "size", "digest", "verdict", "hits", "number"),
)
REPLY: Final = Kind("reply", ("entry", "at", "tenant", "outcome", "size", "digest", "number"))

# Built once: SQLAlchemy takes longer over a new statement than SQLite over the row.
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


class BrokenHeadError(Exception):
    """The end of a chain differs from what was last written; nothing may be added to it."""


@dataclass(frozen=True, slots=True)
class ChainHead:
    """The end of a chain: number and link of its last row; 0 and START before the first."""

    number: int = 0
    link: str = START


def content_of(kind: Kind, row: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the content of a row for its link and for export; times are text in UTC."""
    content = {name: row[name] for name in kind.fields}
    return content | {"kind": kind.word, "at": in_utc(row["at"]).isoformat(timespec="microseconds")}


def in_utc(at: dt.datetime) -> dt.datetime:
    """Returns the time in UTC; SQLite drops the time zone, and all times are stored in UTC."""
    return at.replace(tzinfo=dt.UTC) if at.tzinfo is None else at.astimezone(dt.UTC)


def link_of(before: str, content: Mapping[str, Any]) -> str:
    """The link of a row whose predecessor has the link `before`; hex."""
    plain = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return sha256(f"{before}\n{plain}".encode()).hexdigest()


def linked(tenant: str, head: ChainHead, kind: Kind, rows: Sequence[Row]) -> ChainHead:
    """Gives each row its tenant, number and link as a successor of `head`; returns the new head."""
    for row in rows:
        row["tenant"], row["number"] = tenant, head.number + 1
        head = ChainHead(head.number + 1, link_of(head.link, content_of(kind, row)))
        row["link"] = head.link
    return head


def sealed_head(master: MasterKey, tenant: str, head: ChainHead) -> bytes:
    return master.seal(HEAD_PURPOSE, bind(tenant, str(head.number), head.link), b"")


def is_sealed(master: MasterKey, tenant: str, head: ChainHead, sealed: bytes) -> bool:
    """True where this service wrote that head."""
    try:
        master.open(HEAD_PURPOSE, bind(tenant, str(head.number), head.link), sealed)
    except MasterKeyError:
        return False
    return True


@dataclass(slots=True)
class _Known:
    """A tenant's head as this process last wrote it."""

    head: ChainHead | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)


class Chains:
    """The heads of all tenants' chains.

    Promise: no two rows of a tenant follow the same row, whichever threads and processes write; nothing is added to a
    head that was changed from outside. Condition: database transactions are atomic. Limit: an older state of the whole
    database, restored by somebody, is detected only with a checkpoint kept elsewhere.
    """

    def __init__(self, engine: Engine, master: MasterKey) -> None:
        self._engine, self._master = engine, master
        self._known: dict[str, _Known] = {}

    def append(self, tenant: str, statement: Insert, kind: Kind, rows: Sequence[Row]) -> None:
        """Links `rows` and inserts them, in one transaction. Raises BrokenHeadError, SQLAlchemyError."""
        known = self._known.setdefault(tenant, _Known())
        with known.lock:
            try:
                self._append(tenant, known, statement, kind, rows)
            except IntegrityError:
                # Another process began this tenant's chain at the same moment; its head is there now.
                self._append(tenant, known, statement, kind, rows)

    def locked(self, connection: Connection, tenant: str) -> ChainHead:
        """Returns the head, locked until the transaction ends. Raises BrokenHeadError."""
        row = connection.execute(_LOCK, {"of": tenant}).one_or_none()
        if row is None:
            return self._begun(connection, tenant)
        head = ChainHead(row.number, row.link)
        if not is_sealed(self._master, tenant, head, row.sealed):
            raise BrokenHeadError
        return head

    def _append(self, tenant: str, known: _Known, statement: Insert, kind: Kind, rows: Sequence[Row]) -> None:
        before = known.head
        with self._engine.begin() as connection:
            after = linked(tenant, before or ChainHead(), kind, rows)
            if before is None or not self._move(connection, tenant, before, after):
                found = self.locked(connection, tenant)
                if before is not None and found.number < before.number:
                    raise BrokenHeadError
                after = linked(tenant, found, kind, rows)
                self._move(connection, tenant, found, after)
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
