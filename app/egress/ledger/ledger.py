"""Writes and reads the ledger: one row for every request to a model, written before it is sent, and its reply."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from secrets import token_hex
from typing import Any, Final, Literal, Protocol

from sqlalchemy import Engine, Row, Select, insert, select
from sqlalchemy.exc import SQLAlchemyError

from app.egress.ledger.chain import (
    PURPOSE,
    REPLY,
    REQUEST,
    BrokenHeadError,
    Chains,
    in_utc,
    ledger_entries,
    ledger_replies,
    opened_content,
    reply_context,
    request_context,
    sealed_content,
)
from app.privacy.safe_text import PrivacyError
from kg_store.storage.master_key import MasterKey

BROKEN: Final = "the ledger's end was changed from outside: `arog ledger verify` says more"
MAX_ENTRIES: Final = 1_000

Verdict = Literal["clear", "blocked"]
ReplyOutcome = Literal["used", "unusable"]

# Built once, because SQLAlchemy needs longer to build a statement than SQLite needs to add the row.
_ADD: Final = insert(ledger_entries)
_ADD_REPLIES: Final = insert(ledger_replies)


class LedgerUnavailableError(PrivacyError):
    """An entry could not be written or read; the request that it was for must not be sent."""


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """The ledger's record of one request to a model.

    `caller`: id of the API key. `step`: name of the task. `size` and `digest`: bytes and SHA-256 of the body.
    `hits`: number of names or forbidden words that the guard found. `payload`: the body, in pseudonyms; a blocked body
    is never stored. `anonymity`: the number of entities that match what the body shows of a thing, None if it shows
    none; it is encrypted with the body and kept as long.
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
    anonymity: int | None = None
    id: str = field(default_factory=lambda: token_hex(16))
    at: dt.datetime = field(default_factory=lambda: dt.datetime.now(dt.UTC))


@dataclass(frozen=True, slots=True)
class LedgerReply:
    """The model's reply to one request. `text`: its words, None after the retention period.

    `outcome` is "unusable" if the reply did not fit its schema or the rules of its task.
    """

    entry: LedgerEntry
    outcome: ReplyOutcome
    text: str | None = field(repr=False)
    at: dt.datetime = field(default_factory=lambda: dt.datetime.now(dt.UTC))


class Ledger:
    """Writes and reads the ledger of all tenants.

    Promise: an entry is in the database before `record` returns, no method changes it, and payloads can be read only
    with the master key. A check (`app.egress.ledger.verification`) reveals an entry that was changed or deleted by
    anything else. Not promised: that someone with write access to the database cannot delete rows, nor that a restored
    older state of the whole database is detected without a checkpoint kept elsewhere.
    """

    def __init__(self, engine: Engine, master: MasterKey) -> None:
        self._engine, self._master = engine, master
        self._chains = Chains(engine, master)

    def record(self, entry: LedgerEntry) -> str:
        """Adds an entry and returns its id. Raises LedgerUnavailableError; then nothing may be sent."""
        try:
            self._chains.append(entry.tenant, (_ADD, REQUEST, [self._request_row(entry)]))
        except BrokenHeadError:
            raise LedgerUnavailableError(BROKEN) from None
        except Exception:
            raise LedgerUnavailableError("the ledger could not be written") from None
        return entry.id

    def entries(
        self, tenant: str, caller_id: str | None = None, answer_id: str | None = None, limit: int = 100
    ) -> list[LedgerEntry]:
        """Returns at most `limit` entries, the newest first, with their payloads decrypted.

        If `caller_id` or `answer_id` is None, those of all callers or answers. Raises LedgerUnavailableError.
        """
        query = select(ledger_entries).where(ledger_entries.c.tenant == tenant)
        if caller_id is not None:
            query = query.where(ledger_entries.c.caller == caller_id)
        if answer_id is not None:
            query = query.where(ledger_entries.c.answer == answer_id)
        query = query.order_by(ledger_entries.c.position.desc()).limit(max(0, min(limit, MAX_ENTRIES)))
        return [self._opened(row) for row in self._rows(query)]

    def record_replies(self, replies: Sequence[LedgerReply], entries: Sequence[LedgerEntry] = ()) -> None:
        """Adds replies to requests of one tenant, their texts encrypted, in one transaction.

        `entries`: requests that the service answered itself and that are not recorded yet; they are added first.
        Raises LedgerUnavailableError.
        """
        try:
            requests = [self._request_row(entry) for entry in entries]
            rows = [self._reply_row(reply) for reply in replies]
            (tenant,) = {*(entry.tenant for entry in entries), *(reply.entry.tenant for reply in replies)}
            added = (_ADD, REQUEST, requests), (_ADD_REPLIES, REPLY, rows)
            self._chains.append(tenant, *(each for each in added if each[-1]))
        except BrokenHeadError:
            raise LedgerUnavailableError(BROKEN) from None
        except Exception:
            raise LedgerUnavailableError("the replies could not be written") from None

    def replies_to(self, entries: Sequence[LedgerEntry]) -> dict[str, LedgerReply]:
        """Returns the replies to `entries` by entry id; entries without a reply are left out."""
        by_id = {entry.id: entry for entry in entries}
        query = select(ledger_replies).where(ledger_replies.c.entry.in_(by_id))
        return {row.entry: self._opened_reply(row, by_id[row.entry]) for row in self._rows(query)}

    def _rows(self, query: Select[Any]) -> Sequence[Row[Any]]:
        try:
            with self._engine.connect() as connection:
                return connection.execute(query).all()
        except SQLAlchemyError:
            raise LedgerUnavailableError("the ledger could not be read") from None

    def _request_row(self, entry: LedgerEntry) -> dict[str, Any]:
        values = {name: getattr(entry, name) for name in _PLAIN}
        return values | {"sealed": self._sealed(entry), "at": in_utc(entry.at)}

    def _sealed(self, entry: LedgerEntry) -> bytes | None:
        if entry.payload is None or entry.verdict != "clear":
            return None
        return self._master.seal(PURPOSE, request_context(entry), sealed_content(entry.payload, entry.anonymity))

    def _reply_row(self, reply: LedgerReply) -> dict[str, object]:
        plain = (reply.text or "").encode(errors="replace")
        return {
            "entry": reply.entry.id,
            "at": in_utc(reply.at),
            "outcome": reply.outcome,
            "size": len(plain),
            "digest": sha256(plain).hexdigest(),
            "sealed": self._master.seal(PURPOSE, reply_context(reply.entry), plain),
        }

    def _opened_reply(self, row: Row[tuple[object, ...]], entry: LedgerEntry) -> LedgerReply:
        text = None
        if row.sealed is not None:
            text = self._master.open(PURPOSE, reply_context(entry), row.sealed).decode()
        return LedgerReply(entry, row.outcome, text, in_utc(row.at))

    def _opened(self, row: Row[tuple[object, ...]]) -> LedgerEntry:
        values = {name: getattr(row, name) for name in _PLAIN}
        entry = LedgerEntry(**(values | {"at": in_utc(row.at)}))
        if row.sealed is None:
            return entry
        payload, anonymity = opened_content(self._master.open(PURPOSE, request_context(entry), row.sealed), entry.size)
        return replace(entry, payload=payload, anonymity=anonymity)


_PLAIN: Final = (
    "id", "at", "tenant", "caller", "answer", "conversation", "step", "size", "digest", "verdict", "hits",
)  # fmt: skip


class RequestLog(Protocol):
    """The part of the ledger that a guarded reasoner uses: it records each request before it is sent, and replies."""

    def record(self, entry: LedgerEntry) -> str:
        """Adds an entry and returns its id. Raises LedgerUnavailableError; then nothing may be sent."""
        ...

    def record_replies(self, replies: Sequence[LedgerReply], entries: Sequence[LedgerEntry] = ()) -> None:
        """Adds replies, after `entries` that were not sent to a model. Raises LedgerUnavailableError."""
        ...


class InHouseLog:
    """A RequestLog that stores nothing, for questions that the service asks itself as a test.

    Condition: the embedded reasoner answers them, so nothing leaves.
    """

    def record(self, entry: LedgerEntry) -> str:
        return entry.id

    def record_replies(self, replies: Sequence[LedgerReply], entries: Sequence[LedgerEntry] = ()) -> None:
        """Stores nothing."""
