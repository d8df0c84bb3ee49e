"""Sets of steps and paths, and what of a graph is rare."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_store.errors import StoreError
from kg_store.graph import anonymity
from kg_store.graph.adjacency import Facts, Nodes, build_adjacency
from kg_store.graph.anonymity import Anonymity, ProfileRisk, find_step_sets, measure_anonymity
from kg_store.graph.blind_graph import CompactGraph
from kg_store.graph.traversal import steps_from, walk
from kg_store.terms import Concept, Hop, NodeKind, Path, Relation, RelationId, Schema, Step

CLASSES = ((), ("visit",))


@st.composite
def graphs(draw: st.DrawFn) -> CompactGraph:
    """A few nodes of each kind, mediators with and without a class, and any facts between them."""
    count, relations = draw(st.integers(1, 9)), draw(st.integers(1, 4))
    kinds = np.array(draw(st.lists(st.sampled_from((0, 0, 0, 1, 2)), min_size=count, max_size=count)), dtype=np.uint8)
    classed = np.array(draw(st.lists(st.integers(0, 1), min_size=count, max_size=count)), dtype=np.int32)
    node = st.integers(0, count - 1)
    facts = draw(st.lists(st.tuples(node, st.integers(0, relations - 1), node), max_size=25))
    heads, relation, tails = (np.array([fact[part] for fact in facts], dtype=np.int32) for part in range(3))
    nodes = Nodes(np.arange(count, dtype=np.int64) * 7, kinds, classed, CLASSES)
    adjacency, signatures = build_adjacency(nodes, Facts(heads, relation, tails), relations)
    words = tuple(Relation(RelationId(at), f"r{at}", f"r{at}", f"of r{at}") for at in range(relations))
    concepts = tuple(Concept(draw(st.sampled_from(("person", "place")))) for _ in signatures)
    return CompactGraph(adjacency, Schema(words, signatures, concepts))


def entities(graph: CompactGraph) -> list[int]:
    mids = graph.members([signature.id for signature in graph.schema.signatures])
    kinds = [graph.schema.signatures[at].kind for at in graph.signatures_of(mids).tolist()]
    return [mid for mid, kind in zip(mids.tolist(), kinds, strict=True) if kind is NodeKind.ENTITY]


def walked_steps(graph: CompactGraph, mid: int) -> frozenset[Step]:
    """Those that lead anywhere, one by one, by what strategies walk with."""
    start = np.array([mid], dtype=np.int64)
    return frozenset(step for step in steps_from(graph, start) if len(walk(graph, start, (step,)).tails))


def walked_paths(graph: CompactGraph, mid: int) -> frozenset[Path]:
    start, paths = np.array([mid], dtype=np.int64), set()
    for step in walked_steps(graph, mid):
        for end in walk(graph, start, (step,)).tails.tolist():
            paths |= {(step, second) for second in walked_steps(graph, end)}
    return frozenset(paths)


def concept(graph: CompactGraph, mid: int) -> str:
    return graph.schema.concepts[graph.signatures_of(np.array([mid], dtype=np.int64))[0]]


def alike(numbers: list[int]) -> set[frozenset[int]]:
    groups = defaultdict(set)
    for place, number in enumerate(numbers):
        groups[number].add(place)
    return {frozenset(group) for group in groups.values()}


def numbered(sets: list[frozenset[Step]] | list[frozenset[Path]]) -> list[int]:
    known = list(dict.fromkeys(sets))
    return [known.index(each) for each in sets]


@pytest.mark.slow
@settings(max_examples=30)
@given(graphs())
def test_sets_of_steps_and_of_paths_are_those_that_walking_finds(graph: CompactGraph) -> None:
    mids = entities(graph)
    steps, paths = [walked_steps(graph, mid) for mid in mids], [walked_paths(graph, mid) for mid in mids]
    concepts = [concept(graph, mid) for mid in mids]
    for rows in (1, 3, anonymity.MAX_ROWS):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(anonymity, "MAX_ROWS", rows)
            found = find_step_sets(graph._arrays, graph.schema)
        assert [found.names[place] for place in found.concepts.tolist()] == concepts
        assert alike(found.one_hop.tolist()) == alike(numbered(steps))
        assert alike(found.two_hops.tolist()) == alike(numbered(paths))
        for having, sets in ((found.having_step, steps), (found.having_path, paths)):
            held = Counter((of, each) for of, those in zip(concepts, sets, strict=True) for each in those)
            assert dict(having) == dict(Counter(held.values()))


def test_mediators_that_join_too_many_things_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    heads = np.arange(1, 41, dtype=np.int32)
    kinds = np.array([2] + [0] * 40, dtype=np.uint8)
    nodes = Nodes(np.arange(41, dtype=np.int64), kinds, np.zeros(41, dtype=np.int32), CLASSES)
    facts = Facts(heads, np.zeros(40, dtype=np.int32), np.zeros(40, dtype=np.int32))
    adjacency, signatures = build_adjacency(nodes, facts, 1)
    schema = Schema((Relation(RelationId(0), "r", "r", "of r"),), signatures, tuple(Concept("x") for _ in signatures))
    assert len(set(find_step_sets(adjacency, schema).one_hop.tolist())) == 1
    monkeypatch.setattr(anonymity, "MAX_STEPS", 1_000)
    with pytest.raises(StoreError, match="more than 1,000 pairs"):
        find_step_sets(adjacency, schema)


def of_sets(profile: str, fitting: Sequence[Hashable], k: int) -> ProfileRisk:
    """One prompt for each of `fitting`; equal ones fit the same entities."""
    held = Counter(fitting)
    sizes = [held[each] for each in fitting]
    if not sizes:
        return ProfileRisk(profile, 0, 0.0, 0.0, 0)
    expected = sum(1 / size for size in sizes) / len(sizes)
    few = sum(size < k for size in sizes) / len(sizes)
    return ProfileRisk(profile, len(sizes), expected, few, min(sizes))


def close(one: ProfileRisk, other: ProfileRisk) -> bool:
    exact = (one.profile, one.prompts, one.smallest) == (other.profile, other.prompts, other.smallest)
    return exact and (one.expected, one.few) == pytest.approx((other.expected, other.few))


@pytest.mark.slow
@settings(max_examples=25)
@given(graphs())
def test_figures_are_those_of_walking_from_every_entity(graph: CompactGraph) -> None:
    k, mids = 3, entities(graph)
    found = measure_anonymity(graph._arrays, graph.schema, k)
    steps = [(concept(graph, mid), walked_steps(graph, mid)) for mid in mids]
    paths = [(concept(graph, mid), walked_paths(graph, mid)) for mid in mids]
    expected = (
        of_sets("concept", [of for of, _ in steps], k),
        of_sets("path of one", [(of, step) for of, those in steps for step in those], k),
        of_sets("path of two", [(of, path) for of, those in paths for path in those], k),
        of_sets("relations", steps, k),
        of_sets("paths of two", paths, k),
    )
    assert all(close(one, other) for one, other in zip(found.profiles, expected, strict=True))
    assert found.entities == len(mids)
    for sets, hops in ((steps, "one_hop"), (paths, "two_hops")):
        held = Counter(sets)
        for row in (found.whole, *found.concepts):
            sizes = [held[each] for each in sets if row.concept in (None, each[0])]
            assert row.entities == len(sizes)
            assert list(getattr(row, hops)) == bars(sizes, found)


def bars(sizes: Sequence[int], found: Anonymity) -> list[int]:
    ends = [*found.bounds[1:], 10**9]
    return [sum(first <= size < end for size in sizes) for first, end in zip(found.bounds, ends, strict=True)]


@settings(max_examples=30)
@given(graphs())
def test_subjects_and_objects_of_relations_are_counted_and_the_rare_ones_told(graph: CompactGraph) -> None:
    found = measure_anonymity(graph._arrays, graph.schema, 3)
    everything = graph.members([signature.id for signature in graph.schema.signatures])
    for relation, use in zip(graph.schema.relations, found.relations, strict=True):
        ways = (graph.neighbours(everything, Hop(relation.id, inverse)) for inverse in (False, True))
        assert (use.subjects, use.objects) == tuple(len(np.unique(edges.heads)) for edges in ways)
        assert (use in found.rare) == (use.subjects < 3 or use.objects < 3)
