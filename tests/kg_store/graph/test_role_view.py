"""A role's part of a graph is the graph that was loaded without the rest; and the guard knows all names still."""

from __future__ import annotations

import gc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kg_store.catalog import Catalog, PrivateGraph
from kg_store.errors import LoadError, PolicyError, UnknownGraphError
from kg_store.graph.adjacency import Adjacency, Facts, Nodes, build_adjacency
from kg_store.graph.blind_graph import CompactGraph
from kg_store.graph.pruning import restricted
from kg_store.sources.policy import Policy, RolePolicy
from kg_store.terms import Concept, Hop, Relation, RelationId, Schema
from tests.kg_store.graph.test_removal import everything, graphs
from tests.support.stores import CLINIC, PREFIXES, catalog_in, concepts_of, mid_of, reached_names, written

ROLES = """
[roles.reception]
show_relations = ["treated by", "works in"]

[roles.ward]
withhold_relations = ["http://clinic.test/ssn", "weight"]
withhold_concepts = ["doctor"]

[roles.everything]

[roles.nothing]
show_relations = []
"""
WITHOUT_DOCTORS = PREFIXES + (
    ':p1 a :Patient ; rdfs:label "Zofia Quarrel"@en, "Sofie Quarrel"@de ; skos:altLabel "Zosia Q" ;\n'
    '    :bornOn "1961-02-11"^^xsd:date .\n'
    '[] :of :p1 ; :on "2020-03-12"^^xsd:date .\n'
)


def loaded(folder: Path, roles: str = ROLES) -> Catalog:
    catalog = catalog_in(folder)
    catalog.name_concepts_by(concepts_of)
    catalog.load("t1", "clinic", [written(folder, CLINIC)], Policy.from_toml(roles), concepts_of)
    return catalog


def holds(graph: PrivateGraph, mid: int) -> bool:
    return int(graph.blind.signatures_of(np.array([mid], dtype=np.int64))[0]) >= 0


def test_a_role_sees_its_relations_and_what_they_join(tmp_path: Path) -> None:
    catalog = loaded(tmp_path)
    whole, part = catalog.open("t1", "clinic"), catalog.open_as("t1", "clinic", "reception")
    assert [each.label for each in part.blind.schema.relations] == ["treated by", "works in"]
    assert reached_names(part, "Aurelio Vantongeren", "treated by") == {"Ottoline Brackwater", "Ptolemy Ashgrove"}
    secret = mid_of(whole, "843-48-1389")
    assert not holds(part, secret)
    assert part.vault.records([secret]) == {}
    assert len(list(part.vault.all_records())) == 5
    assert part.linker.find_mentions("Who has 843-48-1389?") == []
    assert [mention.mids for mention in part.linker.find_mentions("Is Zofia Quarrel here?")] != []
    # The guard has every name.
    assert part.names is whole.names
    assert part.names.find_secret("843-48-1389")
    assert catalog.open_as("t1", "clinic", "reception") is part
    assert catalog.open_as("t1", "clinic", None) is whole


def test_a_part_is_what_a_load_without_the_rest_gives(tmp_path: Path) -> None:
    part = loaded(tmp_path).open_as("t1", "clinic", "ward")
    other = catalog_in(tmp_path / "other")
    other.load("t1", "clinic", [written(tmp_path, WITHOUT_DOCTORS, "less.ttl")], Policy(), concepts_of)
    fresh = other.open("t1", "clinic")
    mine, theirs = everything(part), everything(fresh)
    assert mine[2] == theirs[2]
    assert sorted(map(repr, mine[0].values())) == sorted(map(repr, theirs[0].values()))  # type: ignore[attr-defined]
    assert sorted(map(repr, mine[3])) == sorted(map(repr, theirs[3]))  # type: ignore[call-overload]
    assert len(mine[1]) == len(theirs[1])  # type: ignore[arg-type]
    names = [name for record in mine[0].values() for name in (*record.names, record.lexical) if name]  # type: ignore[attr-defined]
    for text in (*names, "843-48-1389", "Ottoline Brackwater", "zofia quarell"):
        linked = part.linker.find_mentions(f"What of {text}?")
        assert [len(mention.mids) for mention in linked] == [
            len(mention.mids) for mention in fresh.linker.find_mentions(f"What of {text}?")
        ]


def test_a_role_without_rules_sees_all_and_one_that_shows_nothing_an_empty_graph(tmp_path: Path) -> None:
    catalog = loaded(tmp_path)
    assert (
        everything(catalog.open_as("t1", "clinic", "everything"))[:4] == everything(catalog.open("t1", "clinic"))[:4]
    )
    empty = catalog.open_as("t1", "clinic", "nothing")
    assert empty.blind.schema.relations == ()
    assert list(empty.vault.all_records()) == []
    assert empty.blind.relations_of(np.array([1, 2], dtype=np.int64)) == ()
    assert empty.linker.find_mentions("Zofia Quarrel") == []


def test_a_role_that_is_not_there_is_like_a_graph_that_is_not_there(tmp_path: Path) -> None:
    catalog = loaded(tmp_path)
    with pytest.raises(UnknownGraphError):
        catalog.open_as("t1", "clinic", "surgeon")
    with pytest.raises(UnknownGraphError):
        catalog.open_as("t1", "elsewhere", "ward")


@pytest.mark.parametrize(
    ("rule", "place"),
    [
        ('show_relations = ["treated by", "tretaed by"]', "roles, number 1, show_relations, item 2"),
        ('withhold_relations = ["sssn"]', "roles, number 1, withhold_relations, item 1"),
        ('show_concepts = ["patients"]', "roles, number 1, show_concepts, item 1"),
        ('withhold_concepts = ["nurse"]', "roles, number 1, withhold_concepts, item 1"),
    ],
)
def test_a_word_that_names_nothing_is_refused_at_load_and_not_quoted(tmp_path: Path, rule: str, place: str) -> None:
    with pytest.raises(PolicyError) as caught:
        loaded(tmp_path, f"[roles.ward]\n{rule}\n")
    assert place in str(caught.value)
    assert not any(word in str(caught.value) for word in ("tretaed", "sssn", "patients", "nurse"))


def test_roles_are_kept_with_the_policy_and_their_names_are_checked() -> None:
    policy = Policy.from_toml(ROLES)
    assert Policy.from_toml(policy.to_toml()) == policy
    assert set(policy.roles) == {"reception", "ward", "everything", "nothing"}
    for bad in ('[roles."Front Desk"]\n', "[roles.ward]\nshow = []\n"):
        with pytest.raises(PolicyError):
            Policy.from_toml(bad)


def test_a_concept_that_a_role_names_is_not_renamed(tmp_path: Path) -> None:
    catalog = loaded(tmp_path)
    whole = catalog.open("t1", "clinic")
    renamed = ["medic" if concept == "doctor" else str(concept) for concept in whole.blind.schema.concepts]
    # Its class still says what it is.
    catalog.rename_concepts(whole, renamed)
    plain = Policy.from_toml('types = "hide"\n[roles.ward]\nwithhold_concepts = ["medic"]\n')
    source = [written(tmp_path, CLINIC)]
    catalog.load("t1", "plain", source, plain, lambda schema: ["medic"] * len(schema.signatures))
    opened = catalog.open("t1", "plain")
    with pytest.raises(LoadError, match="roles of the policy"):
        catalog.rename_concepts(opened, ["healer"] * len(opened.blind.schema.signatures))


def test_a_part_holds_its_version_and_goes_with_it(tmp_path: Path) -> None:
    catalog, loader = loaded(tmp_path), catalog_in(tmp_path)
    held = catalog.open_as("t1", "clinic", "reception")
    loader.load("t1", "clinic", [written(tmp_path, CLINIC)], Policy.from_toml(ROLES), concepts_of)
    assert reached_names(held, "Aurelio Vantongeren", "treated by")
    assert loader.has_readers("t1", "clinic")
    assert catalog.open_as("t1", "clinic", "reception").version != held.version
    del held
    gc.collect()
    catalog.release_replaced_versions()
    assert not loader.has_readers("t1", "clinic")


@given(graphs(), st.data())
@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
def test_any_part_is_the_graph_of_the_facts_that_are_shown(
    built: tuple[Adjacency, Schema, list[tuple[int, int, int]]], data: st.DataObject
) -> None:
    adjacency, schema, facts = built
    labels, concepts = [each.label for each in schema.relations], sorted(set(schema.concepts))
    some = st.lists(st.sampled_from(labels), unique=True).map(tuple)
    kinds = st.lists(st.sampled_from(concepts), unique=True).map(tuple)
    role = RolePolicy(
        show_relations=data.draw(st.none() | some), withhold_relations=data.draw(some),
        show_concepts=data.draw(st.none() | kinds), withhold_concepts=data.draw(kinds),
    )  # fmt: skip
    part = restricted(adjacency, schema, role, lambda schema: schema.concepts)
    kind_of = [schema.signatures[at].kind.value for at in adjacency.signatures.tolist()]
    concept_of = [schema.concepts[at] for at in adjacency.signatures.tolist()]

    def admitted(node: int) -> bool:
        if kind_of[node] != "entity":
            return True
        shown = role.show_concepts is None or concept_of[node] in role.show_concepts
        return shown and concept_of[node] not in role.withhold_concepts

    shown = {
        (head, relation, tail)
        for head, relation, tail in facts
        if admitted(head) and admitted(tail)
        and (role.show_relations is None or labels[relation] in role.show_relations)
        and labels[relation] not in role.withhold_relations
    }  # fmt: skip
    fewer = without_unused(adjacency, schema, shown)
    assert [each.label for each in part.schema.relations] == [each.label for each in fewer.schema.relations]
    mids = adjacency.mids
    assert ((part.signatures_of(mids) >= 0) == (fewer.signatures_of(mids) >= 0)).all()
    assert part.relations_of(mids) == fewer.relations_of(mids)
    for hop in [Hop(each.id, inverse) for each in fewer.schema.relations for inverse in (False, True)]:
        mine, theirs = part.neighbours(mids, hop), fewer.neighbours(mids, hop)
        assert (mine.heads == theirs.heads).all()
        assert (mine.tails == theirs.tails).all()
    described = [sorted((s.kind.value, s.hops, s.size) for s in each.schema.signatures) for each in (part, fewer)]
    assert described[0] == described[1]


def without_unused(adjacency: Adjacency, schema: Schema, facts: set[tuple[int, int, int]]) -> CompactGraph:
    """The graph of `facts` alone, built from nothing else."""
    kinds = {"entity": 0, "value": 1, "mediator": 2}
    nodes = sorted({end for head, _, tail in facts for end in (head, tail)})
    used = sorted({relation for _, relation, _ in facts})
    rows = [(nodes.index(head), used.index(relation), nodes.index(tail)) for head, relation, tail in facts]
    columns = np.array(rows, dtype=np.int32).reshape(-1, 3)
    codes = [kinds[schema.signatures[int(adjacency.signatures[node])].kind.value] for node in nodes]
    held = Nodes(adjacency.mids[nodes], np.array(codes, dtype=np.uint8), np.zeros(len(nodes), np.int32), [()])
    arrays, signatures = build_adjacency(held, Facts(columns[:, 0], columns[:, 1], columns[:, 2]), len(used))
    words = tuple(
        Relation(RelationId(new), each.iri, each.label, each.inverse_label)
        for new, each in enumerate(schema.relations[old] for old in used)
    )
    return CompactGraph(arrays, Schema(words, signatures, tuple(Concept("thing") for _ in signatures)))
