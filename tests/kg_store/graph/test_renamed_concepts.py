"""A new version with other concepts: everything else stays, no name becomes public, and a newer load wins."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import func, select

from kg_store.catalog import Catalog, PrivateGraph
from kg_store.errors import LoadError, UnknownGraphError
from kg_store.storage.tables import graph_versions, vault_entries
from tests.support.stores import CLINIC, catalog_in, load_text, mid_of, reached_names


def concepts(graph: PrivateGraph, word: str) -> list[str]:
    return [word] * len(graph.blind.schema.signatures)


def versions(catalog: Catalog) -> int:
    with catalog._engine.connect() as connection:
        return connection.execute(select(func.count()).select_from(graph_versions)).scalar_one()


def test_all_but_the_concepts_stays(tmp_path: Path) -> None:
    catalog = catalog_in(tmp_path)
    before = load_text(catalog, CLINIC, tmp_path)
    opened = catalog.open("t1", "clinic")
    records, mid = dict(opened.vault.all_records()), mid_of(opened, "Zofia Quarrel")
    steps: list[float] = []
    info = catalog.rename_concepts(opened, concepts(opened, "dweller"), lambda _step, done: steps.append(done))
    assert steps == sorted(steps)
    assert steps[-1] == 1.0
    assert info.version != before.version
    assert (info.triples, info.entities, info.values, info.notes) == (
        before.triples, before.entities, before.values, before.notes,
    )  # fmt: skip
    graph = catalog_in(tmp_path).open("t1", "clinic")
    assert graph.version == info.version
    assert set(graph.blind.schema.concepts) == {"dweller"}
    assert graph.blind.schema.relations == opened.blind.schema.relations
    assert graph.blind.schema.signatures == opened.blind.schema.signatures
    assert dict(graph.vault.all_records()) == records
    assert graph.policy == opened.policy
    assert reached_names(graph, "Aurelio Vantongeren", "treated by") == {"Ottoline Brackwater", "Ptolemy Ashgrove"}
    assert [hit.mids for hit in graph.names.find_secret("zofia quarrel")] == [(mid,)]
    # Who still reads the old version finishes on it.
    assert reached_names(opened, "Aurelio Vantongeren", "treated by")


def test_a_concept_that_would_make_a_name_public_is_refused_and_nothing_changes(tmp_path: Path) -> None:
    catalog = catalog_in(tmp_path)
    before = load_text(catalog, CLINIC, tmp_path)
    opened = catalog.open("t1", "clinic")
    with pytest.raises(LoadError, match="would make 1 names public words") as caught:
        catalog.rename_concepts(opened, concepts(opened, "kestrel wing"))
    assert "kestrel" not in str(caught.value).lower()
    with pytest.raises(LoadError, match="concepts"):
        catalog.rename_concepts(opened, ["dweller"])
    assert catalog.graphs("t1") == [before]
    assert versions(catalog) == 1
    with catalog._engine.connect() as connection:
        held = connection.execute(select(vault_entries.c.version_id).distinct()).scalars().all()
    assert held == [before.version]


def test_a_version_that_is_no_longer_current_is_not_built_upon(tmp_path: Path) -> None:
    catalog = catalog_in(tmp_path)
    load_text(catalog, CLINIC, tmp_path)
    opened = catalog.open("t1", "clinic")
    newer = load_text(catalog, CLINIC, tmp_path)
    with pytest.raises(LoadError, match="meanwhile"):
        catalog.rename_concepts(opened, concepts(opened, "dweller"))
    assert catalog.graphs("t1") == [newer]
    fresh = catalog.open("t1", "clinic")
    newest: list[object] = []

    def load_meanwhile(_step: str, _done: float) -> None:
        if not newest:
            newest.append(load_text(catalog, CLINIC, tmp_path))

    with pytest.raises(LoadError, match="another version"):
        catalog.rename_concepts(fresh, concepts(fresh, "dweller"), load_meanwhile)
    assert catalog.graphs("t1") == newest


def test_a_deleted_graph_does_not_come_back(tmp_path: Path) -> None:
    catalog = catalog_in(tmp_path)
    load_text(catalog, CLINIC, tmp_path)
    opened = catalog.open("t1", "clinic")
    catalog.delete("t1", "clinic")
    with pytest.raises(LoadError, match="meanwhile"):
        catalog.rename_concepts(opened, concepts(opened, "dweller"))
    with pytest.raises(UnknownGraphError):
        catalog.open("t1", "clinic")
    del opened
