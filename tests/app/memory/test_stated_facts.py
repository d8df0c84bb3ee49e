"""StatedFactStore: sealed rows, each owner's alone, and forgotten with what they mention."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Engine, select, update

from app.database.engine import make_engine, migrate
from app.database.tables import stated_facts
from app.memory import stated_facts as module
from app.memory.stated_facts import NO_SUBJECT, FactOwner, MemoryFullError, Mention, StatedFact, StatedFactStore
from kg_store.errors import MasterKeyError
from kg_store.storage.master_key import MasterKey

OWNER = FactOwner("t", "g", "k", "ann")
LIVES = StatedFact(
    ("", " lives in ", "."),
    (Mention((7,)), Mention((), "Tarnmouth", "text")),
    "conversation",
    "ann",
    "http://g.invalid/livesIn",
    0,
    1,
)
PREFERS = StatedFact(("", " prefers mornings."), (Mention((8,)),), "conversation", "ann")


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    engine = make_engine(f"sqlite:///{tmp_path / 'facts.db'}")
    migrate(engine)
    yield engine
    engine.dispose()


@pytest.fixture
def store(engine: Engine) -> StatedFactStore:
    return StatedFactStore(engine, MasterKey.from_text(MasterKey.generate()))


def test_a_row_tells_no_word_and_opens_for_its_owner_alone(engine: Engine, store: StatedFactStore) -> None:
    store.keep(OWNER, LIVES)
    with engine.connect() as connection:
        row = connection.execute(select(stated_facts)).one()
    assert not any(word in bytes(str(tuple(row)), "utf-8") for word in (b"Tarnmouth", b"lives", b"ann"))
    assert [kept.fact for kept in store.of_owner(OWNER)] == [LIVES]
    with engine.begin() as connection:
        connection.execute(update(stated_facts).values(key_id="another"))
    with pytest.raises(MasterKeyError):
        store.of_owner(replace(OWNER, key_id="another"))


@pytest.mark.parametrize("change", [{"tenant": "u"}, {"graph": "h"}, {"key_id": "other"}, {"person": "bo"}])
def test_what_one_person_told_is_no_others(store: StatedFactStore, change: dict[str, str]) -> None:
    store.keep(OWNER, LIVES)
    other = replace(OWNER, **change)
    assert store.of_owner(other) == store.on_subjects(other, [7]) == []
    ids = [kept.id for kept in store.of_owner(OWNER)]
    assert change == {"person": "bo"} or store.forget(other, ids) == 0
    assert [kept.fact for kept in store.on_subjects(OWNER, [7])] == [LIVES]


def test_the_same_sentence_is_kept_once_and_counts_as_the_newest(store: StatedFactStore) -> None:
    for fact in (LIVES, PREFERS, replace(LIVES, conversation="later")):
        store.keep(OWNER, fact)
    assert [kept.fact.texts for kept in store.of_owner(OWNER)] == [LIVES.texts, PREFERS.texts]


def test_a_fact_is_found_by_what_it_is_about(store: StatedFactStore) -> None:
    nameless = StatedFact(("The meeting is on Monday.",), (), "conversation", "ann")
    for fact in (LIVES, PREFERS, nameless):
        store.keep(OWNER, fact)
    assert [kept.fact for kept in store.on_subjects(OWNER, [8])] == [PREFERS]
    assert [kept.fact for kept in store.on_subjects(OWNER, [NO_SUBJECT])] == [nameless]
    assert [kept.fact for kept in store.on_subjects(OWNER, [7, 8])] == [PREFERS, LIVES]
    assert store.on_subjects(replace(OWNER, person="bo"), [7, 8, NO_SUBJECT]) == []


def test_what_mentions_an_erased_thing_or_name_goes(store: StatedFactStore) -> None:
    store.keep(OWNER, LIVES)
    store.keep(OWNER, PREFERS)
    assert store.forget_about("t", "g", [9], lambda words: "Tarnmouth" in words) == 1
    assert store.forget_about("t", "g", [8], lambda _words: False) == 1
    assert store.is_empty(OWNER)


def test_an_offer_is_kept_with_the_fact_and_told_again_it_stays(store: StatedFactStore) -> None:
    store.keep(OWNER, LIVES)
    store.keep(replace(OWNER, key_id="other"), PREFERS)
    (kept,) = store.of_owner(OWNER)
    assert (store.set_offer("t", "h", [kept.id], "offered"), store.offered("t", "g")) == (0, [])
    assert store.set_offer("t", "g", [kept.id], "offered") == 1
    store.keep(OWNER, replace(LIVES, conversation="later"))
    (offered,) = store.offered("t", "g")
    assert (offered.key_id, offered.fact.texts, store.offered("u", "g")) == (OWNER.key_id, LIVES.texts, [])
    store.set_offer("t", "g", [offered.id], "refused")
    assert (store.offered("t", "g"), store.on_subjects(OWNER, [7])[0].fact.offer) == ([], "refused")


def test_they_go_with_their_graph(store: StatedFactStore) -> None:
    store.keep(OWNER, LIVES)
    assert (store.forget_graph("t", "h"), store.forget_graph("t", "g")) == (0, 1)


def test_a_full_memory_keeps_what_it_has(store: StatedFactStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_FACTS_OF_A_KEY", 1)
    store.keep(OWNER, LIVES)
    with pytest.raises(MemoryFullError):
        store.keep(OWNER, PREFERS)
    assert [kept.fact for kept in store.of_owner(OWNER)] == [LIVES]


def test_facts_are_found_by_their_subject_after_a_new_master_key(engine: Engine) -> None:
    old = MasterKey.generate()
    StatedFactStore(engine, MasterKey.from_text(old)).keep(OWNER, LIVES)
    renewed = StatedFactStore(engine, MasterKey.from_text(MasterKey.rotated(old)))
    assert [kept.fact for kept in renewed.on_subjects(OWNER, [7])] == [LIVES]
