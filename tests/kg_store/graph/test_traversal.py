"""Moves over a graph: steps through mediators, whole paths, and the concepts that are met."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_store.catalog import PrivateGraph
from kg_store.graph.adjacency import distinct_rows
from kg_store.graph.blind_graph import BlindGraph
from kg_store.graph.kinds import kinds_of, nameless_kinds
from kg_store.graph.traversal import (
    concept_of,
    kind_of,
    members_of,
    reached,
    steps_from,
    steps_from_each,
    tail_concept,
    walk,
)
from kg_store.sources.policy import MediatorPolicy, Policy
from kg_store.terms import NO_MIDS, Hop, Mids, NodeKind, RelationId, Schema, Step, as_mids
from tests.support.algebra_fakes import MEDIATOR, FakeGraph
from tests.support.stores import PREFIXES, catalog_in, mid_of, names_of, written

FAMILY = (
    PREFIXES
    + """
:a rdfs:label "Zofia Quarrel" ; :marriage _:m ; :treatedBy :d ; :bornOn "1961-02-11"^^xsd:date ; :visit _:v .
:b rdfs:label "Aurelio Vantongeren" ; :marriage _:m ; :treatedBy :d .
:c rdfs:label "Bertil Oxenhame" ; :treatedBy :d .
_:m :wedding _:w ; :since 1990 .
_:w :place :t .
_:v a :Visit ; :seenBy :d .
:d rdfs:label "Ottoline Brackwater" ; :worksIn :t .
:t rdfs:label "Zemgalburg" .
"""
)


def concepts(schema: Schema) -> Sequence[str]:
    """A word for each signature: its class, its kind, or what it is by its relations."""

    def word(hops: tuple[Hop, ...]) -> str:
        labels = {schema.label(hop) for hop in hops}
        return "patient" if "treated by" in labels else "doctor" if "^treated by" in labels else "town"

    return [
        each.classes[0] if each.classes else "date" if each.kind is NodeKind.VALUE
        else "link" if each.kind is NodeKind.MEDIATOR else word(each.hops)
        for each in schema.signatures
    ]  # fmt: skip


@pytest.fixture(scope="module")
def family(tmp_path_factory: pytest.TempPathFactory) -> PrivateGraph:
    folder: Path = tmp_path_factory.mktemp("family")
    catalog = catalog_in(folder)
    policy = Policy(types="concept", mediators=MediatorPolicy(blank_nodes=True))
    catalog.load("t1", "g", [written(folder, FAMILY)], policy, concepts)
    return catalog.open("t1", "g")


def one(graph: PrivateGraph, *names: str) -> Mids:
    return as_mids([mid_of(graph, name) for name in names])


def step(graph: PrivateGraph, label: str) -> Step:
    schema = graph.blind.schema
    hops = {schema.label(hop): hop for each in schema.signatures for hop in each.hops}
    return tuple(hops[part] for part in label.split("|"))


def labels(graph: PrivateGraph, steps: Sequence[Step]) -> list[str]:
    return [graph.blind.schema.label_step(each) for each in steps]


def test_steps_run_through_nameless_nodes_and_end_at_things(family: PrivateGraph) -> None:
    steps = labels(family, steps_from(family.blind, one(family, "Zofia Quarrel")))
    assert "marriage" not in steps
    assert {"treated by", "born on", "marriage|^marriage", "marriage|since", "marriage|wedding|place"} <= set(steps)
    assert len(steps) == len(set(steps))


@pytest.mark.parametrize(
    ("start", "path", "ends"),
    [
        ("Zofia Quarrel", ["treated by"], {"Ottoline Brackwater"}),
        ("Zofia Quarrel", ["treated by", "^treated by"], {"Zofia Quarrel", "Aurelio Vantongeren", "Bertil Oxenhame"}),
        ("Zofia Quarrel", ["marriage|^marriage"], {"Aurelio Vantongeren"}),
        ("Zofia Quarrel", ["marriage|wedding|place"], {"Zemgalburg"}),
        ("Zemgalburg", ["^place|^wedding|^marriage"], {"Zofia Quarrel", "Aurelio Vantongeren"}),
        ("Bertil Oxenhame", ["marriage|^marriage"], set()),
        ("Zofia Quarrel", ["marriage|^marriage", "treated by", "works in"], {"Zemgalburg"}),
    ],
)
def test_a_path_is_walked_to_its_end(family: PrivateGraph, start: str, path: list[str], ends: set[str]) -> None:
    steps = tuple(step(family, label) for label in path)
    assert names_of(family, reached(family.blind, one(family, start), steps)) == ends


NODES = st.integers(1, 4)
MIDDLES = st.integers(21, 23)


@given(st.sets(st.tuples(NODES, MIDDLES)), st.sets(st.tuples(MIDDLES, NODES)), st.sets(NODES))
def test_a_step_through_mediators_joins_what_they_join(
    into: set[tuple[int, int]], out: set[tuple[int, int]], starts: set[int]
) -> None:
    triples = [(a, "in", m) for a, m in into] + [(m, "out", b) for m, b in out] + [(9, "in", 29), (29, "out", 9)]
    graph = FakeGraph(triples, dict.fromkeys((21, 22, 23, 29), MEDIATOR))
    edges = walk(graph, as_mids(sorted(starts)), (((Hop(RelationId(0)), Hop(RelationId(1)))),))
    expected = {(a, b) for a, m in into for n, b in out if m == n and a in starts and a != b}
    assert list(zip(edges.heads.tolist(), edges.tails.tolist(), strict=True)) == sorted(expected)


def test_concepts_of_a_mixed_set_are_its_commonest_two(family: PrivateGraph) -> None:
    graph = family.blind
    patients = ("Zofia Quarrel", "Aurelio Vantongeren", "Bertil Oxenhame")
    assert concept_of(graph, one(family, *patients)) == "patient"
    assert concept_of(graph, one(family, *patients, "Ottoline Brackwater")) == "patient"
    assert concept_of(graph, one(family, "Zofia Quarrel", "Ottoline Brackwater")) == "doctor, patient"
    assert concept_of(graph, as_mids([5])) == "thing"
    assert concept_of(graph, NO_MIDS) == "thing"


def test_the_concept_of_an_end_is_read_from_the_schema(family: PrivateGraph) -> None:
    schema = family.blind.schema
    for label, concept in (("treated by", "doctor"), ("^treated by", "patient"), ("marriage|wedding|place", "town")):
        assert tail_concept(schema, step(family, label)) == concept


def test_the_kind_of_a_set_and_the_members_of_a_concept(family: PrivateGraph) -> None:
    graph = family.blind
    assert kind_of(graph, one(family, "Zofia Quarrel")) is NodeKind.ENTITY
    assert kind_of(graph, one(family, "1961-02-11")) is NodeKind.VALUE
    assert kind_of(graph, NO_MIDS) is kind_of(graph, as_mids([5])) is NodeKind.ENTITY
    assert names_of(family, members_of(graph, "doctor")) == {"Ottoline Brackwater"}
    assert kind_of(graph, members_of(graph, "link")) is NodeKind.MEDIATOR
    assert members_of(graph, "spaceship").tolist() == []


def test_nameless_nodes_are_of_the_kind_of_what_leads_to_them(family: PrivateGraph) -> None:
    """Visits have a class of their own."""
    graph = family.blind
    assert set(nameless_kinds(graph.schema)) == {"marriage", "wedding"}
    assert {kind_of(graph, members_of(graph, kind)) for kind in ("marriage", "wedding")} == {NodeKind.MEDIATOR}
    assert len(members_of(graph, "marriage")) == 1


def test_kinds_are_those_of_things_and_of_classes(family: PrivateGraph) -> None:
    kinds = kinds_of(family.blind.schema)
    assert {"patient", "doctor", "town"} <= set(kinds)
    assert not {"link", "date"} & set(kinds)
    assert len(kinds) == 4
    assert np.array_equal(sorted(kinds), kinds)


def plainly(graph: BlindGraph, mid: int, mediators: int = 2) -> set[Step]:
    """The steps of one node, hop by hop: on through nameless nodes, to what has a name or a class."""
    found: set[Step] = set()
    for hop in graph.relations_of(as_mids([mid])):
        for tail in graph.neighbours(as_mids([mid]), hop).tails.tolist():
            signature = graph.schema.signatures[int(graph.signatures_of(as_mids([tail]))[0])]
            if signature.kind is not NodeKind.MEDIATOR or signature.classes:
                found.add((hop,))
            if signature.kind is NodeKind.MEDIATOR and mediators:
                found |= {(hop, *rest) for rest in plainly(graph, tail, mediators - 1)}
    return found


@pytest.fixture(scope="module")
def street(tmp_path_factory: pytest.TempPathFactory) -> PrivateGraph:
    """A graph without nameless nodes."""
    folder: Path = tmp_path_factory.mktemp("street")
    named = "".join(line + "\n" for line in FAMILY.splitlines() if "_:" not in line)
    catalog = catalog_in(folder)
    catalog.load("t1", "g", [written(folder, named)], Policy(), concepts)
    return catalog.open("t1", "g")


@pytest.mark.parametrize("fixture", ["family", "street"])
def test_the_steps_of_many_sets_at_once_are_those_that_each_node_has(
    request: pytest.FixtureRequest, fixture: str
) -> None:
    graph: BlindGraph = request.getfixturevalue(fixture).blind
    nodes = graph.members([signature.id for signature in graph.schema.signatures])
    sets = [*(nodes[at : at + 1] for at in range(len(nodes))), nodes[::2], nodes, NO_MIDS, as_mids([5])]
    wanted = [sorted({step for mid in mids.tolist() if mid in nodes for step in plainly(graph, mid)}) for mids in sets]
    assert [steps_from_each(graph, sets) for _ in range(2)] == [wanted, wanted]
    assert max(len(step) for step in wanted[-3]) == (3 if fixture == "family" else 1)
    assert steps_from_each(graph, []) == []


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1 << 62), st.integers(0, 3))), st.booleans())
def test_rows_are_sorted_and_kept_once_whether_they_fit_one_number_or_not(
    rows: list[tuple[int, int, int]], fit: bool
) -> None:
    rows = [(one, two % 3 if fit else two, three) for one, two, three in rows]
    columns = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    assert [*zip(*(column.tolist() for column in distinct_rows(*columns)), strict=True)] == sorted(set(rows))
