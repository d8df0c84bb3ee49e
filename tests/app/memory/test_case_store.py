"""CaseStore: sealed rows, bound to whose they are; forgotten with what they were of, and counted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import Engine, select, update

from app.database.engine import make_engine, migrate
from app.database.tables import cases
from app.memory import cases as case_module
from app.memory.cases import CaseContent, CaseStore, UnknownCaseError
from kg_store.errors import MasterKeyError
from kg_store.storage.master_key import MasterKey

TREATED = CaseContent("model", np.ones(384, dtype=np.float32), (("treated by", "^lives in"),))
BORN = CaseContent("model", np.zeros(384, dtype=np.float32), (("born in",),))


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    engine = make_engine(f"sqlite:///{tmp_path / 'cases.db'}")
    migrate(engine)
    yield engine
    engine.dispose()


@pytest.fixture
def master() -> MasterKey:
    return MasterKey.from_text(MasterKey.generate())


@pytest.fixture
def store(engine: Engine, master: MasterKey) -> CaseStore:
    return CaseStore(engine, master)


def test_a_row_tells_no_relation_and_opens_for_its_owner_alone(engine: Engine, master: MasterKey) -> None:
    CaseStore(engine, master).keep("t", "g", "k", "answer", TREATED)
    with engine.connect() as connection:
        row = connection.execute(select(cases)).one()
    assert b"treated" not in row.sealed
    assert row.answer != "answer"
    (opened,) = CaseStore(engine, master).of_graph("t", "g")
    assert opened.content.paths == TREATED.paths
    with engine.begin() as connection:
        connection.execute(update(cases).values(key_id="another"))
    with pytest.raises(MasterKeyError):
        CaseStore(engine, master).of_graph("t", "g")


def test_a_key_uses_its_own_and_what_was_approved_in_its_tenant_and_graph(store: CaseStore) -> None:
    store.keep("t", "g", "k", "1", TREATED)
    assert len(store.usable_by("t", "g", "k")) == 1
    for tenant, graph, key in (("t", "g", "other"), ("t", "h", "k"), ("u", "g", "k")):
        assert store.usable_by(tenant, graph, key) == []
    (case,) = store.of_graph("t", "g")
    with pytest.raises(UnknownCaseError):
        store.approve("u", "g", [case.id])
    assert store.approve("t", "g", [case.id]) == 1
    assert len(store.usable_by("t", "g", "other")) == 1
    assert store.usable_by("u", "g", "other") == []


def test_a_relation_that_is_gone_takes_its_cases_with_it(store: CaseStore) -> None:
    store.keep("t", "g", "k", "1", TREATED)
    store.keep("t", "g", "k", "2", BORN)
    assert store.forget_without("t", "g", {"born in", "lives in"}) == 1
    assert [each.content.paths for each in store.of_graph("t", "g")] == [BORN.paths]


def test_a_graph_takes_its_cases_and_counts_with_it_and_no_others(store: CaseStore) -> None:
    for graph in ("g", "h"):
        store.keep("t", graph, "k", "1", TREATED)
        store.count_use("t", graph, [each.id for each in store.of_graph("t", graph)])
    assert store.forget_graph("t", "g") == 1
    assert store.effects("t", "g").leaned == 0
    assert store.effects("t", "h").leaned == 1
    assert [each.used for each in store.of_graph("t", "h")] == [1]


def test_a_key_keeps_so_many_and_approved_ones_stay(store: CaseStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(case_module, "MAX_CASES_OF_A_KEY", 2)
    store.keep("t", "g", "k", "1", TREATED)
    store.approve("t", "g", [each.id for each in store.of_graph("t", "g")])
    for answer in ("2", "3", "4"):
        store.keep("t", "g", "k", answer, BORN)
    found = store.of_graph("t", "g")
    assert len(found) == 3
    assert sum(each.approved_at is not None for each in found) == 1
