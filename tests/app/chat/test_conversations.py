"""Conversations: sealed, bound to the key that opened them, saved once per version, gone when they expire."""

from __future__ import annotations

import datetime as dt
import json

import pytest
from sqlalchemy import Engine, select, update

from app.chat.conversations import PURPOSE, ConversationBusyError, ConversationStore, UnknownConversationError
from app.database.tables import conversations
from kg_store.errors import MasterKeyError
from kg_store.storage.master_key import MasterKey
from kg_store.terms import Mid, Schema

SCHEMA = Schema((), (), ())
MASTER = MasterKey.from_text(MasterKey.generate())


@pytest.fixture
def store(engine: Engine) -> ConversationStore:
    return ConversationStore(engine, MASTER, days=1)


def saved(store: ConversationStore) -> str:
    conversation = store.open("north", "k1", "clinic", None, SCHEMA)
    conversation.table.of_entity(Mid(77))
    store.save(conversation, SCHEMA)
    return conversation.id


def test_a_conversation_keeps_its_pseudonyms(store: ConversationStore) -> None:
    first = store.open("north", "k1", "clinic", None, SCHEMA)
    word = first.table.of_entity(Mid(77))
    store.save(first, SCHEMA)
    again = store.open("north", "k1", "clinic", first.id, SCHEMA)
    assert again.version == 1
    assert again.table.of_entity(Mid(77)) == word
    store.save(again, SCHEMA)
    assert store.open("north", "k1", "clinic", first.id, SCHEMA).version == 2


def test_what_a_turn_offers_can_be_chosen_in_the_next(store: ConversationStore) -> None:
    first = store.open("north", "k1", "clinic", None, SCHEMA)
    first.offer({"Who treats Ez9y8x?": 'reach(Ez9y8x, "treated by")'})
    store.save(first, SCHEMA)
    again = store.open("north", "k1", "clinic", first.id, SCHEMA)
    assert again.chosen("who  treats Ez9y8x?") == 'reach(Ez9y8x, "treated by")'
    assert again.chosen("Who treats Ez9y8y?") == ""
    again.offer({})
    assert again.chosen("Who treats Ez9y8x?") == ""


def test_a_conversation_that_named_a_thing_holds_it(store: ConversationStore) -> None:
    conversation = store.open("north", "k1", "clinic", None, SCHEMA)
    conversation.note_named(dt.date(2026, 12, 1), "ann", [78])
    store.save(conversation, SCHEMA)
    assert store.that_hold("north", "clinic", [78], [], SCHEMA) == [conversation.id]
    assert store.that_hold("north", "clinic", [79], [], SCHEMA) == []


@pytest.mark.parametrize(
    ("tenant", "key_id", "graph"), [("south", "k1", "clinic"), ("north", "k2", "clinic"), ("north", "k1", "films")]
)
def test_nobody_enters_anothers_conversation(store: ConversationStore, tenant: str, key_id: str, graph: str) -> None:
    conversation_id = saved(store)
    with pytest.raises(UnknownConversationError) as foreign:
        store.open(tenant, key_id, graph, conversation_id, SCHEMA)
    with pytest.raises(UnknownConversationError) as missing:
        store.open("north", "k1", "clinic", "nothing", SCHEMA)
    assert str(foreign.value) == str(missing.value) == ""


def test_a_row_that_was_stored_before_rows_were_compressed_is_read(engine: Engine, store: ConversationStore) -> None:
    first = store.open("north", "k1", "clinic", None, SCHEMA)
    word = first.table.of_entity(Mid(77))
    store.save(first, SCHEMA)
    old = {"table": first.table.to_bytes(SCHEMA).decode(), "facts": [], "expressions": [], "revealed": []}
    with engine.begin() as connection:
        sealed = MASTER.seal(PURPOSE, first.context, json.dumps(old).encode())
        connection.execute(update(conversations).values(sealed=sealed))
    assert store.open("north", "k1", "clinic", first.id, SCHEMA).table.of_entity(Mid(77)) == word


def test_of_two_answers_at_once_the_second_is_refused(store: ConversationStore) -> None:
    conversation_id = saved(store)
    one = store.open("north", "k1", "clinic", conversation_id, SCHEMA)
    two = store.open("north", "k1", "clinic", conversation_id, SCHEMA)
    store.save(one, SCHEMA)
    with pytest.raises(ConversationBusyError):
        store.save(two, SCHEMA)


def test_an_expired_conversation_is_unknown_and_is_purged(engine: Engine) -> None:
    short, long = ConversationStore(engine, MASTER, days=-1), ConversationStore(engine, MASTER, days=1)
    expired, kept = saved(short), saved(long)
    with pytest.raises(UnknownConversationError):
        long.open("north", "k1", "clinic", expired, SCHEMA)
    assert long.purge() == 1
    with engine.connect() as connection:
        assert list(connection.execute(select(conversations.c.id)).scalars()) == [kept]


def test_a_row_moved_to_another_owner_does_not_open(engine: Engine, store: ConversationStore) -> None:
    conversation_id = saved(store)
    with engine.begin() as connection:
        connection.execute(update(conversations).values(key_id="k2"))
    with pytest.raises(MasterKeyError):
        store.open("north", "k2", "clinic", conversation_id, SCHEMA)


def test_conversations_over_a_deleted_graph_are_forgotten(store: ConversationStore) -> None:
    conversation_id = saved(store)
    assert store.forget_graph("south", "clinic") == 0
    assert store.forget_graph("north", "clinic") == 1
    with pytest.raises(UnknownConversationError):
        store.open("north", "k1", "clinic", conversation_id, SCHEMA)


def test_the_row_holds_no_mid_in_clear(engine: Engine, store: ConversationStore) -> None:
    conversation = store.open("north", "k1", "clinic", None, SCHEMA)
    mid = Mid(0x1122_3344_5566_7788)
    word = conversation.table.of_entity(mid)
    store.save(conversation, SCHEMA)
    with engine.connect() as connection:
        sealed = connection.execute(select(conversations.c.sealed)).scalar_one()
    for plain in (word.encode(), str(mid).encode(), mid.to_bytes(8, "big"), mid.to_bytes(8, "little")):
        assert plain not in sealed
    assert word not in repr(conversation)
