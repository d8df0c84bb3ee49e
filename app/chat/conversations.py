"""Stores each conversation as one encrypted row that expires; only the API key that began it can use it."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import secrets
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import Engine, bindparam, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from app.accounts.names_read import NamesRead
from app.database.tables import conversations
from app.egress.ledger.retention import LedgerUpkeep
from app.memory.cases import MAX_RATABLE, RatableAnswer
from app.privacy.pseudonyms import PseudonymTable
from client_sdk.protocol import Fact, Item
from kg_store.storage.master_key import MasterKey, bind
from kg_store.terms import Schema
from kg_store.text.words import folded_text

PURPOSE = "conversation"
ID_BYTES = 18
_MANY = 500
MAX_NAMED_OF_A_DAY: Final = 200
"""The most things of the graph that a conversation remembers to have been named on a day. Chosen by hand."""
_DIGITS = 16

# The statements are built once, because SQLAlchemy needs longer to build one than SQLite needs to find the row.
_FIND = select(conversations.c.version, conversations.c.sealed).where(
    conversations.c.id == bindparam("id"),
    conversations.c.tenant == bindparam("tenant"),
    conversations.c.key_id == bindparam("key_id"),
    conversations.c.graph == bindparam("graph"),
    conversations.c.expires_at > bindparam("now"),
)
_CHANGE = update(conversations).where(
    conversations.c.id == bindparam("same_id"), conversations.c.version == bindparam("same_version")
)
_ADD = insert(conversations)


class UnknownConversationError(Exception):
    """The caller has no such conversation: it is unknown, expired, or of another key or graph. The error does not tell
    which."""


class ConversationBusyError(Exception):
    """Another request of the same conversation was saved in the meantime, so nothing of this one was."""


@dataclass(slots=True)
class Reason:
    """The reason for the last answer, in pseudonyms: the facts that it cites, in the order in which they were found,
    and its expressions, with the parts of the answer and its confidence (0 to 1; None if nothing is known of it)."""

    facts: list[Fact] = field(default_factory=list)
    expressions: list[str] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """An open conversation. `version` is 0 until it has been saved once."""

    id: str
    tenant: str
    key_id: str
    graph: str
    version: int
    table: PseudonymTable = field(repr=False)
    reason: Reason = field(default_factory=Reason)
    revealed: set[str] = field(default_factory=set, repr=False)
    """Digests of the facts that the conversation's prompts have shown (`app.accounts.quotas`)."""
    answers: dict[str, RatableAnswer] = field(default_factory=dict, repr=False)
    """The newest answers that can still be rated, by id."""

    offered: dict[str, str] = field(default_factory=dict, repr=False)
    """The expressions of the questions that the last turn offered, by the digest of each."""

    named: dict[str, dict[str, list[int]]] = field(default_factory=dict, repr=False)
    """The things of the graph that questions named, as MIDs, by the ISO date and the person who asked."""

    def note_named(self, day: dt.date, person: str, mids: Sequence[int]) -> None:
        """Remembers which things a question of a day named, at most MAX_NAMED_OF_A_DAY of them."""
        if mids:
            known = self.named.setdefault(day.isoformat(), {}).setdefault(person, [])
            known += [mid for mid in dict.fromkeys(mids) if mid not in known][: MAX_NAMED_OF_A_DAY - len(known)]

    def offer(self, readings: Mapping[str, str]) -> None:
        """Remembers the expression of each question that a turn offers, and forgets what the turn before offered."""
        self.offered.clear()
        self.offered.update({_digest(question): expression for question, expression in readings.items()})

    def chosen(self, question: str) -> str:
        """Returns the expression of a question, in pseudonyms, that the last turn offered; empty if it did not."""
        return self.offered.get(_digest(question), "")

    def may_be_rated(self, answer_id: str, answer: RatableAnswer) -> None:
        """Remembers an answer so that it can be rated, and forgets all but the newest MAX_RATABLE."""
        self.answers[answer_id] = answer
        for old in list(self.answers)[:-MAX_RATABLE]:
            del self.answers[old]

    @property
    def context(self) -> bytes:
        """The ids that the row's encryption is bound to: a row copied to another owner or graph can't be opened."""
        return bind(self.tenant, self.key_id, self.graph, self.id)


class ConversationStore:
    """Opens, saves and deletes the conversations of all tenants.

    Promise: a row in the database reveals no name, value or MID. Condition: the master key is stored elsewhere. Limit:
    the API key, the graph and the time of each conversation are stored in clear.
    """

    def __init__(self, engine: Engine, master: MasterKey, days: float = 30.0) -> None:
        self._engine, self._master, self._life = engine, master, dt.timedelta(days=days)

    def open(self, tenant: str, key_id: str, graph: str, conversation_id: str | None, schema: Schema) -> Conversation:
        """Returns the caller's conversation with this id; a new one if the id is None.

        Raises UnknownConversationError, MasterKeyError.
        """
        if conversation_id is None:
            new_id = secrets.token_urlsafe(ID_BYTES)
            return Conversation(new_id, tenant, key_id, graph, 0, PseudonymTable.new())
        wanted = {"id": conversation_id, "tenant": tenant, "key_id": key_id, "graph": graph}
        with self._engine.connect() as connection:
            row = connection.execute(_FIND, {**wanted, "now": dt.datetime.now(dt.UTC)}).one_or_none()
        if row is None:
            raise UnknownConversationError
        plain = self._master.open(PURPOSE, bind(tenant, key_id, graph, conversation_id), row.sealed)
        return Conversation(conversation_id, tenant, key_id, graph, row.version, *_read(plain, schema))

    def graph_of(self, tenant: str, key_id: str, conversation_id: str) -> str | None:
        """Returns the name of the graph that a conversation is about.

        None if this API key has no such conversation, or it has expired.
        """
        query = select(conversations.c.graph).where(
            conversations.c.id == conversation_id,
            conversations.c.tenant == tenant,
            conversations.c.key_id == key_id,
            conversations.c.expires_at > dt.datetime.now(dt.UTC),
        )
        with self._engine.connect() as connection:
            return connection.execute(query).scalar_one_or_none()

    def save(self, conversation: Conversation, schema: Schema) -> None:
        """Saves the conversation for its next turn.

        Raises ConversationBusyError if its row has changed since `open`.
        """
        plain = _written(conversation, schema)
        content = {
            "version": conversation.version + 1,
            "sealed": self._master.seal(PURPOSE, conversation.context, plain),
            "expires_at": dt.datetime.now(dt.UTC) + self._life,
        }
        with self._engine.begin() as connection:
            if conversation.version:
                same = {"same_id": conversation.id, "same_version": conversation.version}
                if connection.execute(_CHANGE, {**same, **content}).rowcount != 1:
                    raise ConversationBusyError
                return
            row = {"id": conversation.id, "tenant": conversation.tenant, "key_id": conversation.key_id}
            try:
                connection.execute(_ADD, {**row, "graph": conversation.graph, **content})
            except IntegrityError:
                raise ConversationBusyError from None

    def named_in(self, tenant: str, key_id: str, graph: str, person: str) -> Iterator[tuple[dt.date, list[int]]]:
        """Yields what a person's questions to a graph named on each day, conversation by conversation.

        Raises MasterKeyError.
        """
        ours = (
            (conversations.c.tenant == tenant) & (conversations.c.key_id == key_id) & (conversations.c.graph == graph)
        )
        with self._engine.connect() as connection:
            rows = connection.execute(select(conversations).where(ours)).all()
        for row in rows:
            plain = self._master.open(PURPOSE, bind(row.tenant, row.key_id, row.graph, row.id), row.sealed)
            for day, named in _content_of(plain).get("named", {}).items():
                if person in named:
                    yield dt.date.fromisoformat(day), named[person]

    def purge(self) -> int:
        """Deletes expired conversations and returns their number."""
        expired = conversations.c.expires_at <= dt.datetime.now(dt.UTC)
        with self._engine.begin() as connection:
            return connection.execute(delete(conversations).where(expired)).rowcount

    def that_hold(
        self, tenant: str, graph: str, mids: Collection[int], texts: Collection[str], schema: Schema
    ) -> list[str]:
        """Returns the ids of a graph's conversations that named one of these things, or have a pseudonym for it or for
        one of the texts.

        Raises MasterKeyError.
        """
        ours = (conversations.c.tenant == tenant) & (conversations.c.graph == graph)
        found: list[str] = []
        with self._engine.connect() as connection:
            for row in connection.execute(select(conversations).where(ours)):
                plain = self._master.open(PURPOSE, bind(row.tenant, row.key_id, row.graph, row.id), row.sealed)
                table, *_, named = _read(plain, schema)
                known = {mid for persons in named.values() for each in persons.values() for mid in each}
                if table.holds(mids, texts) or not known.isdisjoint(mids):
                    found.append(row.id)
        return found

    def forget(self, tenant: str, ids: Sequence[str]) -> int:
        """Deletes the conversations with these ids and returns how many of them the tenant had."""
        gone = 0
        for start in range(0, len(ids), _MANY):
            these = (conversations.c.tenant == tenant) & conversations.c.id.in_(list(ids[start : start + _MANY]))
            with self._engine.begin() as connection:
                gone += connection.execute(delete(conversations).where(these)).rowcount
        return gone

    def forget_graph(self, tenant: str, graph: str) -> int:
        """Deletes all conversations about a graph and returns their number; for graphs that are deleted."""
        ours = (conversations.c.tenant == tenant) & (conversations.c.graph == graph)
        with self._engine.begin() as connection:
            return connection.execute(delete(conversations).where(ours)).rowcount


def _written(conversation: Conversation, schema: Schema) -> bytes:
    """Returns the content of the row before it is sealed. It is compressed: it holds nothing that anybody typed, so
    that its length tells no more than how long the conversation is."""
    reason = conversation.reason
    content = {
        "table": conversation.table.to_bytes(schema).decode(),
        "facts": [fact.model_dump() for fact in reason.facts],
        "expressions": reason.expressions,
        "items": [item.model_dump() for item in reason.items],
        "confidence": reason.confidence,
        "revealed": sorted(conversation.revealed),
        "answers": {answer_id: answer.to_json() for answer_id, answer in conversation.answers.items()},
        "offered": conversation.offered,
        "named": conversation.named,
    }
    return zlib.compress(json.dumps(content, separators=(",", ":")).encode())


_Content = tuple[PseudonymTable, Reason, set[str], dict[str, RatableAnswer], dict[str, str], dict[str, Any]]


def _read(plain: bytes, schema: Schema) -> _Content:
    """Reads the bytes that `_written` returned. Raises ValueError.

    Old rows may lack the ratable answers, what was offered, what was named and the parts of the answer.
    """
    content = _content_of(plain)
    facts = [Fact.model_validate(fact) for fact in content["facts"]]
    items = [Item.model_validate(item) for item in content.get("items", ())]
    reason = Reason(facts, content["expressions"], items, content.get("confidence"))
    answers = {each: RatableAnswer.from_json(answer) for each, answer in content.get("answers", {}).items()}
    table = PseudonymTable.from_bytes(content["table"].encode(), schema)
    return table, reason, set(content["revealed"]), answers, content.get("offered", {}), content.get("named", {})


def _content_of(plain: bytes) -> dict[str, Any]:
    """Returns the content of a row as it was written; old rows are not compressed."""
    content: dict[str, Any] = json.loads(plain if plain.startswith(b"{") else zlib.decompress(plain))
    return content


def _digest(question: str) -> str:
    """Returns a digest of a question that is the same whatever its capitals and blanks."""
    return hashlib.sha256(folded_text(question).encode()).hexdigest()[:_DIGITS]


@dataclass(frozen=True, slots=True)
class RetentionDays:
    """The number of days that the ledger's payloads, and the records of who read which names, are kept."""

    ledger: float
    names_read: float


def purge_expired(
    master: MasterKey,
    conversations: ConversationStore,
    upkeep: LedgerUpkeep,
    names_read: NamesRead,
    days: RetentionDays,
) -> int:
    """Deletes expired conversations, ledger payloads and records of read names, and returns how many rows that were.

    Also signs a checkpoint of each ledger that has grown.
    """
    master.refresh()
    now = dt.datetime.now(dt.UTC)
    purged = conversations.purge() + upkeep.forget_payloads(now - dt.timedelta(days=days.ledger))
    purged += names_read.purge((now - dt.timedelta(days=days.names_read)).date())
    purged += upkeep.forget_access(now - dt.timedelta(days=days.names_read))
    upkeep.checkpoint_all()
    return purged
