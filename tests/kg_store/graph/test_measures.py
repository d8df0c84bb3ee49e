"""Anonymity: the same figures that come of walking from every entity, one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings

from kg_store.graph.anonymity import Anonymity, ProfileRisk, measure_anonymity
from kg_store.graph.blind_graph import CompactGraph
from kg_store.terms import Hop
from tests.kg_store.graph.test_relation_sets import concept, entities, graphs, walked_paths, walked_steps


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
