"""A graph without some of its things: as if they had never been loaded; and no later load brings them back."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from kg_store.catalog import Catalog, PrivateGraph
from kg_store.errors import LoadError, UnknownGraphError
from kg_store.graph.adjacency import Adjacency, Facts, Nodes, build_adjacency
from kg_store.graph.blind_graph import CompactGraph
from kg_store.graph.pruning import facts_of, pruned
from kg_store.sources.policy import Policy
from kg_store.storage.master_key import MasterKey
from kg_store.storage.tables import vault_entries
from kg_store.storage.versions import ForgottenRows
from kg_store.terms import Hop, NodeKind, Relation, RelationId, Schema
from tests.support.stores import (
    CLINIC,
    MASTER,
    PREFIXES,
    catalog_in,
    concepts_of,
    labels_of,
    load_text,
    mid_of,
    reached_names,
    written,
)

pytestmark = pytest.mark.slow

SHARED = (
    CLINIC
    + """
:p1 :livesIn :a1 ; :memberOf :g1 ; :dossier "DOSSIER-77123" ; :file "SHARED-FILE-5" ; :confidant :c9 .
:p2 :bornOn "1961-02-11"^^xsd:date ; :memberOf :g1 ; :file "SHARED-FILE-5" .
:a1 rdfs:label "12 Plumtree Walk" .
:c9 rdfs:label "Klabaut Rixender" .
[] :of :p1 ; :with :p2 ; :in :w1 .
"""
)
HIDING = Policy.from_toml(
    "".join(f'[relations."http://clinic.test/{name}"]\nhide = true\n' for name in ("dossier", "file", "confidant"))
)


def rows(catalog: Catalog) -> ForgottenRows:
    return ForgottenRows(catalog._engine, MasterKey.from_text(MASTER))


def everything(graph: PrivateGraph) -> tuple[object, ...]:
    """All of a graph by names and labels: vault, facts, concepts, and what its index finds."""
    records = dict(graph.vault.all_records())
    facts = set()
    for hop in (Hop(each.id) for each in graph.blind.schema.relations):
        edges = graph.blind.neighbours(np.array(sorted(records), dtype=np.int64), hop)
        pairs = zip(edges.heads.tolist(), edges.tails.tolist(), strict=True)
        facts |= {(graph.blind.schema.label(hop), *pair) for pair in pairs}
    schema = graph.blind.schema
    signatures = graph.blind.signatures_of(np.array(sorted(records), dtype=np.int64)).tolist()
    kinds = [
        (each.kind, each.classes, tuple(map(schema.label, each.hops)), each.size, schema.concepts[each.id])
        if (each := schema.signatures[at] if at >= 0 else None) else None
        for at in signatures
    ]  # fmt: skip
    spelt = {name for record in records.values() for name in (*record.names, record.lexical or "")}
    found = sorted((text, hit.mids, hit.public, hit.linkable) for text in spelt for hit in graph.names.find(text))
    return records, facts, labels_of(schema), kinds, found


def without(catalog: Catalog, *names: str) -> PrivateGraph:
    opened = catalog.open("t1", "clinic")
    going = catalog.closure_of_removal(opened, [mid_of(opened, name) for name in names])
    catalog.without(opened, going, concepts_of)
    return catalog.open("t1", "clinic")


def test_a_thing_goes_with_its_own_values_and_what_only_joined_it(tmp_path: Path) -> None:
    catalog = catalog_in(tmp_path)
    catalog.load("t1", "clinic", [written(tmp_path, SHARED)], HIDING, concepts_of)
    opened = catalog.open("t1", "clinic")
    zofia, before = mid_of(opened, "Zofia Quarrel"), dict(opened.vault.all_records())
    going = catalog.closure_of_removal(opened, [zofia])
    gone = {name for mid in going.mids.tolist() for name in (*before[mid].names, before[mid].lexical)}
    assert gone - {None} == {
        "Zofia Quarrel", "Sofie Quarrel", "Zosia Q",  # her names
        "71.5", "843-48-1389", "2020-03-12", "DOSSIER-77123",  # values that nobody else has
        "12 Plumtree Walk", "Klabaut Rixender",  # things that hung on her alone
    }  # fmt: skip
    # The visit joined her and a doctor alone; the meeting joins two others.
    assert (going.values, going.mediators, going.alone) == (4, 1, 2)
    graph = without(catalog, "Zofia Quarrel")
    after = dict(graph.vault.all_records())
    assert after == {mid: record for mid, record in before.items() if mid not in going.mids}
    assert reached_names(graph, "Aurelio Vantongeren", "born on") == {"1961-02-11"}
    assert graph.names.find("SHARED-FILE-5")
    for name in gone - {None}:
        assert [hit for hit in graph.names.find(name) if hit.start == 0 and hit.end == len(name)] == []
        assert graph.linker.find_mentions(name) == []
    info = catalog.graphs("t1")[0]
    counts = [record.kind for record in after.values() if not record.hidden]
    told = (info.entities, info.values, info.mediators)
    assert told == tuple(counts.count(kind) for kind in (NodeKind.ENTITY, NodeKind.VALUE, NodeKind.MEDIATOR))
    assert info.relations == len(graph.blind.schema.relations) < len(opened.blind.schema.relations)


def test_what_is_left_is_what_a_load_without_it_gives(tmp_path: Path) -> None:
    catalog, other = catalog_in(tmp_path), catalog_in(tmp_path / "other")
    with catalog._engine.connect() as connection:
        assert connection.execute(select(vault_entries)).first() is None
    load_text(catalog, CLINIC, tmp_path)
    rows(catalog).begin("t1", "clinic", [mid_of(catalog.open("t1", "clinic"), "Zofia Quarrel")])
    left = everything(without(catalog, "Zofia Quarrel"))
    # Loaded again, she is left out: the same graph, the same key of ids.
    info = load_text(catalog, CLINIC, tmp_path)
    assert info.notes[-1].startswith("1 things of the source were forgotten")
    assert everything(catalog.open("t1", "clinic")) == left
    # Loaded from a source that never knew her, under another key of ids: the same but for the ids.
    alone = [
        part
        for part in CLINIC.split("\n")
        if ":p1" not in part and "843-48" not in part and "treatedBy :d1 ;" not in part
    ]
    kept = "\n".join(part for part in alone if "71.5" not in part)
    load_text(other, kept, tmp_path)
    records, facts, labels, kinds, found = everything(other.open("t1", "clinic"))
    assert labels == left[2]
    assert len(facts) == len(left[1])  # type: ignore[arg-type]
    assert sorted(map(repr, kinds)) == sorted(map(repr, left[3]))  # type: ignore[call-overload]
    assert sorted(map(repr, records.values())) == sorted(map(repr, left[0].values()))  # type: ignore[attr-defined]
    assert len(found) == len(left[4])  # type: ignore[arg-type]


def test_names_of_what_is_left_are_guarded_as_before_and_concepts_stay(tmp_path: Path) -> None:
    catalog = catalog_in(tmp_path)
    load_text(catalog, CLINIC, tmp_path)
    opened = catalog.open("t1", "clinic")
    catalog.rename_concepts(opened, [f"kind {each.id}" for each in opened.blind.schema.signatures])
    before = catalog.open("t1", "clinic")
    asked: list[Schema] = []

    def name_concepts(schema: Schema) -> Sequence[str]:
        asked.append(schema)
        return ["named anew"] * len(schema.signatures)

    going = catalog.closure_of_removal(before, [mid_of(before, "Aurelio Vantongeren")])
    catalog.without(before, going, name_concepts)
    after = catalog.open("t1", "clinic")
    assert len(asked) == 1
    concepts = set(after.blind.schema.concepts)
    assert "named anew" in concepts
    assert concepts - {"named anew"} < set(before.blind.schema.concepts)
    for name in ("Ottoline Brackwater", "Zofia Quarrel", "Kestrel Wing", "71.5"):
        assert [hit.mids for hit in after.names.find_secret(name)] == [(mid_of(after, name),)]
    assert after.policy == before.policy


def test_a_load_that_began_before_somebody_was_forgotten_does_not_bring_them_back(tmp_path: Path) -> None:
    catalog = catalog_in(tmp_path)
    load_text(catalog, CLINIC, tmp_path)
    opened = catalog.open("t1", "clinic")
    mid = mid_of(opened, "Zofia Quarrel")

    def forgets_meanwhile(schema: Schema) -> Sequence[str]:
        rows(catalog).begin("t1", "clinic", [mid])
        return schema.concepts

    with pytest.raises(LoadError, match="forgotten in the graph meanwhile"):
        catalog.load("t1", "clinic", [written(tmp_path, CLINIC)], None, forgets_meanwhile)
    assert catalog.open("t1", "clinic") is opened


def test_what_was_forgotten_may_be_let_in_again(tmp_path: Path) -> None:
    catalog = catalog_in(tmp_path)
    load_text(catalog, CLINIC, tmp_path)
    mid = mid_of(catalog.open("t1", "clinic"), "Zofia Quarrel")
    erasure = rows(catalog).begin("t1", "clinic", [mid])
    without(catalog, "Zofia Quarrel")
    assert [(each.id, each.things) for each in rows(catalog).list_erasures("t1", "clinic")] == [(erasure.id, 1)]
    assert rows(catalog).undo_erasure("t1", "clinic", erasure.id) == 1
    load_text(catalog, CLINIC, tmp_path)
    assert mid_of(catalog.open("t1", "clinic"), "Zofia Quarrel") == mid


def test_an_erasure_under_way_is_sealed_and_goes_with_its_graph(tmp_path: Path) -> None:
    catalog = catalog_in(tmp_path)
    load_text(catalog, CLINIC, tmp_path)
    begun = rows(catalog).begin("t1", "clinic", [4711])
    assert rows(catalog).begun("t1", "clinic") == [begun]
    assert rows(catalog).begun("t2", "clinic") == []
    catalog.delete("t1", "clinic")
    assert rows(catalog).begun("t1", "clinic") == []
    load_text(catalog, CLINIC, tmp_path)
    assert rows(catalog).list_erasures("t1", "clinic") == []
    with pytest.raises(UnknownGraphError):
        rows(catalog).begin("t1", "elsewhere", [4711])


def test_who_still_reads_the_old_version_finds_no_name_there(tmp_path: Path) -> None:
    service, command = catalog_in(tmp_path), catalog_in(tmp_path)
    load_text(command, CLINIC, tmp_path)
    held = service.open("t1", "clinic")
    mid = mid_of(held, "Zofia Quarrel")
    without(command, "Zofia Quarrel")
    assert command.has_readers("t1", "clinic")
    command.delete_retired_records("t1", "clinic", [mid])
    assert held.vault.records([mid]) == {}
    assert reached_names(held, "Aurelio Vantongeren", "weight") == {"80"}
    del held
    service.release_replaced_versions()
    gc.collect()
    assert not command.has_readers("t1", "clinic")
    assert len(list((tmp_path / "graphs").iterdir())) == 1


def test_the_last_thing_of_a_graph_is_not_taken_out(tmp_path: Path) -> None:
    catalog = catalog_in(tmp_path)
    load_text(catalog, PREFIXES + ':p1 rdfs:label "Zofia Quarrel" ; :weight 71 .', tmp_path)
    opened = catalog.open("t1", "clinic")
    going = catalog.closure_of_removal(opened, [mid_of(opened, "Zofia Quarrel")])
    with pytest.raises(LoadError, match="delete it instead"):
        catalog.without(opened, going, concepts_of)


@st.composite
def graphs(draw: st.DrawFn) -> tuple[Adjacency, Schema, list[tuple[int, int, int]]]:
    size, relations = draw(st.integers(2, 12)), draw(st.integers(1, 4))
    node = st.integers(0, size - 1)
    facts = draw(st.lists(st.tuples(node, st.integers(0, relations - 1), node), max_size=30))
    kinds = np.array(draw(st.lists(st.integers(0, 2), min_size=size, max_size=size)), dtype=np.uint8)
    nodes = Nodes(np.arange(size, dtype=np.int64) * 3 + 5, kinds, np.zeros(size, np.int32), [()])
    columns = np.array(facts, dtype=np.int32).reshape(-1, 3)
    adjacency, signatures = build_adjacency(nodes, Facts(columns[:, 0], columns[:, 1], columns[:, 2]), relations)
    words = tuple(Relation(RelationId(at), f"r{at}", f"r{at}", f"r{at} of") for at in range(relations))
    return adjacency, Schema(words, signatures, tuple(f"c{each.id}" for each in signatures)), facts  # type: ignore[arg-type]


@given(graphs(), st.data())
@settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow])
def test_pruned_arrays_are_those_of_the_facts_that_are_left(
    built: tuple[Adjacency, Schema, list[tuple[int, int, int]]], data: st.DataObject
) -> None:
    adjacency, schema, facts = built
    size = len(adjacency.mids)
    gone = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    every = facts_of(adjacency)
    triples = set(zip(every.heads.tolist(), every.relations.tolist(), every.tails.tolist(), strict=True))
    assert triples == set(facts)
    hidden = data.draw(st.sets(st.integers(0, len(schema.relations) - 1)))
    left = pruned(adjacency, schema, gone, ~np.isin(every.relations, list(hidden)), every)
    graph, mids = CompactGraph(left.adjacency, left.schema), adjacency.mids
    shown = set()
    for relation in left.schema.relations:
        edges = graph.neighbours(mids, Hop(relation.id))
        shown |= {
            (head, relation.iri, tail) for head, tail in zip(edges.heads.tolist(), edges.tails.tolist(), strict=True)
        }
    assert shown == {
        (int(mids[head]), f"r{relation}", int(mids[tail]))
        for head, relation, tail in facts
        if not gone[head] and not gone[tail] and relation not in hidden
    }
    assert ((graph.signatures_of(mids) == -1) == gone).all()
    assert sum(left.counts().values()) == size - gone.sum()
    assert left.facts == len(shown)
