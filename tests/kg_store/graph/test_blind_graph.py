"""Blind graphs: over arrays, and remembered for one question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_store.errors import LoadError
from kg_store.graph.adjacency import KINDS, Facts, Nodes, build_adjacency
from kg_store.graph.blind_graph import CompactGraph, RememberedGraph
from kg_store.graph.schema import read_schema, schema_bytes
from kg_store.terms import (
    Concept,
    Hop,
    NodeKind,
    Relation,
    RelationId,
    Schema,
    SignatureId,
    ValueKind,
    ValueView,
    as_mids,
)

NODES, RELATIONS = 12, 3
TRIPLES = st.lists(st.tuples(st.integers(0, NODES - 1), st.integers(0, RELATIONS - 1), st.integers(0, NODES - 1)))
SOME_NODES = st.lists(st.integers(0, NODES + 3))
HOPS = [Hop(RelationId(relation), inverse) for relation in range(RELATIONS) for inverse in (False, True)]


def mid(node: int) -> int:
    return 1_000 + 7 * node


def built(triples: list[tuple[int, int, int]], nodes: int = NODES, relations: int = RELATIONS) -> CompactGraph:
    table = np.array(triples, dtype=np.int32).reshape(-1, 3)
    mids = np.array([mid(node) for node in range(nodes)], dtype=np.int64)
    kinds = (np.arange(nodes) % 3).astype(np.uint8)
    classes = ((), ("doctor", "person"))
    described = Nodes(mids, kinds, (np.arange(nodes) % 2).astype(np.int32), classes)
    facts = Facts(table[:, 0].copy(), table[:, 1].copy(), table[:, 2].copy())
    adjacency, signatures = build_adjacency(described, facts, relations)
    words = tuple(Relation(RelationId(n), f"r{n}", f"label {n}", f"inverse {n}") for n in range(relations))
    return CompactGraph(adjacency, Schema(words, signatures, tuple(Concept("thing") for _ in signatures)))


def expected(triples: Iterable[tuple[int, int, int]]) -> dict[tuple[int, Hop], set[int]]:
    reached: dict[tuple[int, Hop], set[int]] = defaultdict(set)
    for head, relation, tail in triples:
        reached[mid(head), Hop(RelationId(relation))].add(mid(tail))
        reached[mid(tail), Hop(RelationId(relation), inverse=True)].add(mid(head))
    return reached


@given(TRIPLES, SOME_NODES)
def test_neighbours_are_complete_sorted_and_each_once(triples: list[tuple[int, int, int]], some: list[int]) -> None:
    graph, reached = built(triples), expected(triples)
    heads = as_mids([mid(node) for node in some])
    for hop in HOPS:
        edges = graph.neighbours(heads, hop)
        pairs = list(zip(edges.heads.tolist(), edges.tails.tolist(), strict=True))
        assert pairs == sorted((head, tail) for head in heads.tolist() for tail in reached.get((head, hop), ()))
        assert edges.heads.dtype == edges.tails.dtype == np.int64


@given(TRIPLES, SOME_NODES)
def test_relations_of_are_the_hops_that_leave_one_of_the_nodes(
    triples: list[tuple[int, int, int]], some: list[int]
) -> None:
    reached = expected(triples)
    heads = as_mids([mid(node) for node in some])
    wanted = sorted({hop for (head, hop) in reached if head in heads})
    assert list(built(triples).relations_of(heads)) == wanted


@given(TRIPLES)
def test_nodes_share_a_signature_when_kind_classes_and_hops_are_the_same(triples: list[tuple[int, int, int]]) -> None:
    graph, reached = built(triples), expected(triples)
    mids = as_mids([mid(node) for node in range(NODES)])
    groups: dict[object, set[int]] = defaultdict(set)
    for node, signature_id in enumerate(graph.signatures_of(mids).tolist()):
        hops = tuple(sorted(hop for (head, hop) in reached if head == mid(node)))
        classes = ("doctor", "person") if node % 2 else ()
        signature = graph.schema.signatures[signature_id]
        assert (signature.kind, signature.classes, signature.hops) == (KINDS[node % 3], classes, hops)
        groups[signature.kind, signature.classes, signature.hops].add(mid(node))
    assert len(groups) == len(graph.schema.signatures)
    for signature in graph.schema.signatures:
        members = graph.members([signature.id])
        assert set(members.tolist()) == groups[signature.kind, signature.classes, signature.hops]
    assert (graph.members([each.id for each in graph.schema.signatures]) == mids).all()


def test_what_the_graph_does_not_hold_gives_nothing() -> None:
    graph = built([(0, 0, 1)])
    unknown = as_mids([1, 2**62])
    assert graph.relations_of(unknown) == ()
    assert graph.relations_of(as_mids([])) == ()
    assert len(graph.neighbours(unknown, HOPS[0]).tails) == 0
    assert len(graph.neighbours(as_mids([mid(0)]), Hop(RelationId(99))).tails) == 0
    assert graph.signatures_of(np.array([1, mid(0)])).tolist()[0] == -1
    assert len(graph.members([SignatureId(-1), SignatureId(99)])) == 0
    assert len(graph.members([])) == 0


@given(TRIPLES)
def test_the_facts_about_a_node_are_all_pairs_of_all_of_its_hops(triples: list[tuple[int, int, int]]) -> None:
    graph, reached = built(triples), expected(triples)
    nodes = [*reversed(range(NODES)), 0]
    facts = [sum(len(tails) for (head, _), tails in reached.items() if head == mid(node)) for node in nodes]
    assert graph.fact_counts(np.array([*(mid(node) for node in nodes), 1])).tolist() == [*facts, 0]


def test_a_graph_comes_back_from_its_files_as_memory_maps(tmp_path: Path) -> None:
    graph = built([(0, 0, 1), (1, 1, 2), (3, 2, 0)])
    graph._arrays.save(tmp_path)
    again = CompactGraph.open(tmp_path, graph.schema)
    everything = as_mids([mid(node) for node in range(NODES)])
    for hop in HOPS:
        assert again.neighbours(everything, hop).tails.tolist() == graph.neighbours(everything, hop).tails.tolist()
    assert isinstance(again._arrays.targets.base, np.memmap)
    with pytest.raises(ValueError, match="read-only"):
        again._arrays.targets[0] = 1


def test_a_graph_with_too_many_facts_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kg_store.graph.adjacency._MAX_TARGETS", 3)
    with pytest.raises(LoadError, match="too large"):
        built([(0, 0, 1), (1, 0, 2)])


def test_a_schema_comes_back_from_its_bytes() -> None:
    graph = built([(0, 0, 1), (1, 1, 2)])
    value = Relation(RelationId(3), "http://x.test/on", "on", "on of", ValueKind.DATE, ValueView.YEAR)
    schema = Schema((*graph.schema.relations, value), graph.schema.signatures, graph.schema.concepts)
    again = read_schema(schema_bytes(schema))
    parts = (again.relations, again.signatures, again.concepts)
    assert parts == (schema.relations, schema.signatures, schema.concepts)
    assert {type(signature.kind) for signature in again.signatures} == {NodeKind}


QUESTIONS = st.lists(st.tuples(st.lists(st.integers(0, NODES + 3)), st.sampled_from(HOPS)))


@given(TRIPLES, QUESTIONS)
def test_it_gives_what_the_graph_behind_it_gives(
    triples: list[tuple[int, int, int]], questions: list[tuple[list[int], Hop]]
) -> None:
    graph = built(triples)
    remembered = RememberedGraph(graph)
    assert remembered.schema is graph.schema
    for nodes, hop in [*questions, *questions]:
        mids = as_mids([mid(node) for node in nodes])
        asked, behind = remembered.neighbours(mids, hop), graph.neighbours(mids, hop)
        assert (asked.heads.tolist(), asked.tails.tolist()) == (behind.heads.tolist(), behind.tails.tolist())
        assert remembered.signatures_of(mids).tolist() == graph.signatures_of(mids).tolist()
        assert remembered.relations_of(mids) == graph.relations_of(mids)
    ids = [signature.id for signature in graph.schema.signatures]
    assert remembered.members(ids).tolist() == graph.members(ids).tolist()
