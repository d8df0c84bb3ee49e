"""CharacterStore: sealed rows, each tenant's alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, select, update

from app.database.engine import make_engine, migrate
from app.database.tables import characters
from app.memory.episodes.character_store import CharacterStore, UnknownCharacterError
from app.memory.episodes.episode import Episode, Member
from kg_store.errors import MasterKeyError
from kg_store.storage.master_key import MasterKey

EPISODE = Episode(0, (Member("fact", "Quillow sailed."), Member("summary", "Quillow sailed.")), "On Monday")


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    engine = make_engine(f"sqlite:///{tmp_path / 'characters.db'}")
    migrate(engine)
    yield engine
    engine.dispose()


def test_a_row_tells_no_word_and_opens_for_its_tenant_alone(engine: Engine) -> None:
    store = CharacterStore(engine, MasterKey.from_text(MasterKey.generate()))
    store.keep("t", "Quillow", [EPISODE])
    assert store.of_name("t", "Quillow").episodes == (EPISODE,)
    with engine.begin() as connection:
        row = connection.execute(select(characters)).one()
        assert "Quillow" not in str(tuple(row))
        connection.execute(update(characters).values(tenant="u"))
    with pytest.raises(MasterKeyError):
        store.all("u")


def test_a_name_is_kept_once_and_forgotten(engine: Engine) -> None:
    store = CharacterStore(engine, MasterKey.from_text(MasterKey.generate()))
    for episodes in ([EPISODE], [EPISODE, EPISODE]):
        store.keep("t", "Quillow", episodes)
    assert [len(each.episodes) for each in store.all("t")] == [2]
    with pytest.raises(UnknownCharacterError):
        store.forget("u", "Quillow")
    store.forget("t", "Quillow")
    assert store.all("t") == []
