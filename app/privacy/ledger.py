"""The ledger: one row for every request to the model, added before it is sent and never changed; and the replies."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from secrets import token_hex
from typing import Final, Literal

from sqlalchemy import (
    Column,
    DateTime,
    Engine,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Row,
    String,
    Table,
    insert,
    select,
    update,
)
from sqlalchemy.exc import SQLAlchemyError

from app.privacy.errors import PrivacyError
from kg_store.keys import MasterKey, bind

PURPOSE: Final = "ledger"
MAX_ENTRIES: Final = 1_000

Verdict = Literal["clear", "blocked"]
ReplyOutcome = Literal["used", "unusable"]

metadata = MetaData()

ledger_entries = Table(
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
    Index("ix_ledger_entries_owner", "tenant", "caller", "position"),
    Index("ix_ledger_entries_answer", "tenant", "answer"),
    Index("ix_ledger_entries_at", "at"),
)

ledger_replies = Table(
    "ledger_replies",
    metadata,
    Column("entry", String(32), primary_key=True),
    Column("at", DateTime(timezone=True), nullable=False),
    Column("outcome", String(16), nullable=False),
    Column("size", Integer, nullable=False),
    Column("sealed", LargeBinary),
    Index("ix_ledger_replies_at", "at"),
)

# Built once: SQLAlchemy takes longer over a new statement than SQLite over the row.
_ADD: Final = insert(ledger_entries)
_ADD_REPLIES: Final = insert(ledger_replies)


class LedgerUnavailable(PrivacyError):
    """An entry could not be written or read. What it was for must not be sent."""


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One request to the model. `caller` is the API key's id, `payload` the body, in pseudonyms.

    `hits` counts what the guard found; a blocked body is never kept. `size` and `digest` are the body's.
    """

    tenant: str
    caller: str
    answer: str
    conversation: str
    step: str
    size: int
    digest: str
    verdict: Verdict
    hits: int = 0
    payload: bytes | None = field(default=None, repr=False)
    id: str = field(default_factory=lambda: token_hex(16))
    at: dt.datetime = field(default_factory=lambda: dt.datetime.now(dt.UTC))


@dataclass(frozen=True, slots=True)
class LedgerReply:
    """What the model said to one request, in its own words; `text` is None once its retention has passed.

    `unusable`: it did not fit its schema, or the rules of its task.
    """

    entry: LedgerEntry
    outcome: ReplyOutcome
    text: str | None = field(repr=False)
    at: dt.datetime = field(default_factory=lambda: dt.datetime.now(dt.UTC))


class Ledger:
    """Promise: an entry stands in the database before `record` returns, and no method changes what it says.

    Condition: payloads can be read with the master key alone. Not promised: that an operator with write access
    to the database could not delete rows.
    """

    def __init__(self, engine: Engine, master: MasterKey) -> None:
        self._engine, self._master = engine, master

    def record(self, entry: LedgerEntry) -> str:
        """Adds an entry; its id. Raises LedgerUnavailable, and then nothing may be sent."""
        try:
            values = {name: getattr(entry, name) for name in _PLAIN} | {"sealed": self._sealed(entry)}
            with self._engine.begin() as connection:
                connection.execute(_ADD, values)
        except Exception:
            raise LedgerUnavailable("the ledger could not be written") from None
        return entry.id

    def entries(
        self, tenant: str, caller_id: str | None = None, answer_id: str | None = None, limit: int = 100
    ) -> list[LedgerEntry]:
        """The newest first, payloads opened. None: of every caller, of every answer. Raises LedgerUnavailable."""
        query = select(ledger_entries).where(ledger_entries.c.tenant == tenant)
        if caller_id is not None:
            query = query.where(ledger_entries.c.caller == caller_id)
        if answer_id is not None:
            query = query.where(ledger_entries.c.answer == answer_id)
        query = query.order_by(ledger_entries.c.position.desc()).limit(max(0, min(limit, MAX_ENTRIES)))
        try:
            with self._engine.connect() as connection:
                rows = connection.execute(query).all()
        except SQLAlchemyError:
            raise LedgerUnavailable("the ledger could not be read") from None
        return [self._opened(row) for row in rows]

    def record_replies(self, replies: Sequence[LedgerReply]) -> None:
        """Adds what came back, sealed like the requests. Raises LedgerUnavailable."""
        try:
            rows = [self._reply_row(reply) for reply in replies]
            with self._engine.begin() as connection:
                connection.execute(_ADD_REPLIES, rows)
        except Exception:
            raise LedgerUnavailable("the replies could not be written") from None

    def replies_to(self, entries: Sequence[LedgerEntry]) -> dict[str, LedgerReply]:
        """What came back to `entries`, by their ids; those that nothing came back to are left out."""
        by_id = {entry.id: entry for entry in entries}
        query = select(ledger_replies).where(ledger_replies.c.entry.in_(by_id))
        try:
            with self._engine.connect() as connection:
                rows = connection.execute(query).all()
        except SQLAlchemyError:
            raise LedgerUnavailable("the replies could not be read") from None
        return {row.entry: self._opened_reply(row, by_id[row.entry]) for row in rows}

    def forget_payloads(self, before: dt.datetime) -> int:
        """Drops the payloads and replies of older entries, whose retention is over; how many. The entries stay."""
        with self._engine.begin() as connection:
            return sum(
                connection.execute(
                    update(table).where(table.c.at < before.astimezone(dt.UTC), table.c.sealed.is_not(None)),
                    {"sealed": None},
                ).rowcount
                for table in (ledger_entries, ledger_replies)
            )

    def _sealed(self, entry: LedgerEntry) -> bytes | None:
        if entry.payload is None or entry.verdict != "clear":
            return None
        return self._master.seal(PURPOSE, _context(entry), entry.payload)

    def _reply_row(self, reply: LedgerReply) -> dict[str, object]:
        plain = (reply.text or "").encode(errors="replace")
        sealed = self._master.seal(PURPOSE, _reply_context(reply.entry), plain)
        size = len(plain)
        return {"entry": reply.entry.id, "at": reply.at, "outcome": reply.outcome, "size": size, "sealed": sealed}

    def _opened_reply(self, row: Row[tuple[object, ...]], entry: LedgerEntry) -> LedgerReply:
        text = None
        if row.sealed is not None:
            text = self._master.open(PURPOSE, _reply_context(entry), row.sealed).decode()
        return LedgerReply(entry, row.outcome, text, row.at.replace(tzinfo=row.at.tzinfo or dt.UTC))

    def _opened(self, row: Row[tuple[object, ...]]) -> LedgerEntry:
        values = {name: getattr(row, name) for name in _PLAIN}
        # SQLite forgets the zone; everything is kept in UTC.
        values["at"] = values["at"].replace(tzinfo=values["at"].tzinfo or dt.UTC)
        entry = LedgerEntry(**values)
        if row.sealed is None:
            return entry
        return replace(entry, payload=self._master.open(PURPOSE, _context(entry), row.sealed))


_PLAIN: Final = (
    "id", "at", "tenant", "caller", "answer", "conversation", "step", "size", "digest", "verdict", "hits",
)  # fmt: skip


def _context(entry: LedgerEntry) -> bytes:
    """Binds a payload to its row: one that is moved to another entry, or another's, does not open."""
    return bind(entry.id, entry.tenant, entry.caller, entry.answer, entry.conversation, entry.step, entry.digest)


def _reply_context(entry: LedgerEntry) -> bytes:
    """Binds a reply to the request that it came back to."""
    return bind("reply", entry.id, entry.tenant, entry.caller, entry.answer, entry.conversation, entry.step)
