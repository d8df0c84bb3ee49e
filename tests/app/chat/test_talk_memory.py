"""Days of talk over HTTP with the SDK: the asker's own alone, and in no file in clear."""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import select

from app.database.tables import conversations
from client_sdk import AsyncChat, KeyPair
from kg_store.terms import Schema
from tests.support.asking import PEOPLE
from tests.support.service import Running, running

pytestmark = pytest.mark.model
WHERE, OTHER = "Where does Zofia Quarrel live?", "Where does Bertil Oxenhame live?"
NOTHING = "I do not remember that we spoke of anything then."


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[Running]:
    async with running(tmp_path, thinks=True) as house:
        house.load(turtle=PEOPLE)
        yield house


def chat(house: Running, key: str) -> AsyncChat:
    return AsyncChat("http://service", key, "clinic", key=KeyPair.generate(), plain_http=True, http=house.http)


def key_of(house: Running) -> str:
    return house.services.store.access.create("default", "user", ("clinic",)).key


async def said(talk: AsyncChat, *turns: str, **more: str) -> str:
    return [(await talk.ask(turn, **more)).text for turn in turns][-1]  # type: ignore[arg-type]


async def test_what_was_talked_about_is_told_by_its_day(house: Running) -> None:
    key = key_of(house)
    await said(chat(house, key), WHERE, OTHER, "Hello")
    other_talk = chat(house, key)
    both = "Today we spoke of Zofia Quarrel and Bertil Oxenhame."
    assert await said(other_talk, "What did we talk about today?") == both
    assert await said(other_talk, "What did we last talk about?") == both
    assert await said(other_talk, "What did we talk about yesterday?") == NOTHING
    assert (
        await said(other_talk, "When did we last speak of Zofia Quarrel?") == "We last spoke of Zofia Quarrel today."
    )
    assert await said(other_talk, "When did we last speak of Ottoline Brackwater?") == (
        "I do not remember speaking of Ottoline Brackwater."
    )


async def test_an_earlier_day_is_found_by_its_words(house: Running) -> None:
    key, now = key_of(house), dt.datetime.now(dt.UTC).date()
    store, schema = house.services.store.conversations, Schema((), (), ())
    await said(chat(house, key), WHERE)
    (key_id,) = (each.key_id for each in house.services.store.access.keys("default"))
    ((_, mids),) = store.named_in("default", key_id, "clinic", "")
    earlier = store.open("default", key_id, "clinic", None, schema)
    day = now - dt.timedelta(days=7)
    earlier.note_named(day, "", mids)
    store.save(earlier, schema)
    talk = chat(house, key)
    expected = f"On {day.day} {day:%B}{'' if day.year == now.year else f' {day.year}'} we spoke of Zofia Quarrel."
    assert await said(talk, f"What did we talk about last {day:%A}?") == expected


async def test_nobody_else_is_told(house: Running) -> None:
    key = key_of(house)
    await said(chat(house, key), WHERE, person="ann")
    assert await said(chat(house, key), "What did we talk about today?", person="bo") == NOTHING
    assert await said(chat(house, key_of(house)), "What did we talk about today?") == NOTHING
    assert "Zofia Quarrel" in await said(chat(house, key), "What did we talk about today?", person="ann")


async def test_a_row_tells_nothing_of_what_was_named(house: Running) -> None:
    key = key_of(house)
    await said(chat(house, key), WHERE)
    store = house.services.store
    (key_id,) = (each.key_id for each in store.access.keys("default"))
    ((day, mids),) = store.conversations.named_in("default", key_id, "clinic", "")
    with store.engine.connect() as connection:
        row = str(tuple(connection.execute(select(conversations)).one()))
    assert mids
    assert not [each for each in (day.isoformat(), *map(str, mids), "Quarrel") if each in row.partition(key_id)[2]]
