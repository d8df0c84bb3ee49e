"""The number of entities that fit what a prompt says, and wider kinds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kg_store.graph.blind_graph import CompactGraph
from kg_store.graph.matching_entities import EntityDescription, PathCardinality, how_many_fit, wider_kinds
from kg_store.graph.traversal import reached, steps_from
from kg_store.terms import Concept, Mids, NodeKind, Path, Schema, Signature, SignatureId
from tests.kg_store.graph.test_anonymity import graphs

BOUNDS = ((1, 1), (2, 5), (0, 0), (3, None))


def things(graph: CompactGraph) -> list[int]:
    """All but values, whose concept is person, place or visit."""
    mids = graph.members([each.id for each in graph.schema.signatures if each.kind is not NodeKind.VALUE])
    return [int(mid) for mid in mids]


def is_of(graph: CompactGraph, mid: int, concept: str) -> bool:
    signature = int(graph.signatures_of(as_one(mid))[0])
    return concept in {str(graph.schema.concepts[signature]), *graph.schema.signatures[signature].classes}


def as_one(mid: int) -> Mids:
    return np.array([mid], dtype=np.int64)


def leads(graph: CompactGraph, mid: int, path: Path) -> int:
    """To how many things, walked from one alone."""
    return len(reached(graph, as_one(mid), path))


@st.composite
def cases(draw: st.DrawFn) -> tuple[CompactGraph, EntityDescription]:
    """A graph, and something that may be said of one of its things: paths that some have, and some that none has."""
    graph = draw(graphs())
    all_steps = steps_from(graph, graph.members([each.id for each in graph.schema.signatures]))
    path = st.lists(st.sampled_from(all_steps), min_size=1, max_size=3).map(tuple) if all_steps else st.nothing()
    readings = st.frozensets(path, max_size=2) if all_steps else st.just(frozenset())
    sized = (
        st.builds(lambda p, b: PathCardinality(p, *b), path, st.sampled_from(BOUNDS)) if all_steps else st.nothing()
    )
    said = EntityDescription(
        draw(st.sampled_from(("person", "place", "visit", "person, place", "visit, person"))),
        draw(st.frozensets(readings, max_size=3)),
        draw(st.frozensets(sized, max_size=2)) if all_steps else frozenset(),
        draw(st.none() | st.frozensets(st.sampled_from(all_steps)) if all_steps else st.none()),
    )
    return graph, said


@pytest.mark.slow
@settings(deadline=None, max_examples=300)
@given(cases())
def test_the_count_is_that_of_walking_from_each(case: tuple[CompactGraph, EntityDescription]) -> None:
    graph, said = case
    concepts = said.concept.split(", ")
    of_kind = [mid for mid in things(graph) if any(is_of(graph, mid, each) for each in concepts)]
    if not of_kind:
        entities = [each.id for each in graph.schema.signatures if each.kind is NodeKind.ENTITY]
        of_kind = graph.members(entities).tolist()

    def fits(mid: int) -> bool:
        exact = said.steps is None or set(steps_from(graph, as_one(mid))) == said.steps
        having = all(any(leads(graph, mid, path) for path in readings) for readings in said.leads)
        sized = all(
            each.least <= leads(graph, mid, each.path) <= (10**9 if each.most is None else each.most)
            for each in said.sizes
        )
        return exact and having and sized

    for _ in range(2):  # At first it is worked out, then remembered.
        assert how_many_fit(graph, said) == sum(map(fits, of_kind))


def schema_of(sizes: dict[str, int]) -> Schema:
    """A schema with so many entities of each concept, and as many values of each."""
    kinds = [(kind, concept) for concept in sizes for kind in (NodeKind.ENTITY, NodeKind.VALUE)]
    signatures = tuple(
        Signature(SignatureId(at), kind, (), (), sizes[concept]) for at, (kind, concept) in enumerate(kinds)
    )
    return Schema((), signatures, tuple(Concept(concept) for _, concept in kinds))


def test_small_kinds_share_cells_with_small_ones_and_large_ones_stay() -> None:
    schema = schema_of({"patient": 90, "doctor": 30, "ward": 8, "drug": 11, "city": 6, "gender": 2})
    assert wider_kinds(schema, 20) == dict.fromkeys(
        ("ward", "drug", "city", "gender"), "city, drug, gender, ward"
    )  # fmt: skip
    assert wider_kinds(schema, 10) == dict.fromkeys(("ward", "city", "gender"), "city, gender, ward")
    # Drugs are left over: eleven are too few by themselves, and the cell before takes them in.
    assert wider_kinds(schema, 12) == dict.fromkeys(
        ("ward", "drug", "city", "gender"), "city, drug, gender, ward"
    )  # fmt: skip
    assert wider_kinds(schema, 1) == {}


def test_where_the_small_ones_are_too_few_the_least_large_one_joins_them() -> None:
    assert wider_kinds(schema_of({"patient": 90, "doctor": 30, "gender": 2}), 20) == dict.fromkeys(
        ("doctor", "gender"), "doctor, gender"
    )
    assert wider_kinds(schema_of({"doctor": 3, "gender": 2}), 20) == dict.fromkeys(
        ("doctor", "gender"), "doctor, gender"
    )
    assert wider_kinds(schema_of({"doctor": 3}), 20) == wider_kinds(schema_of({}), 20) == {}


SIZES = st.dictionaries(st.sampled_from([f"kind{number}" for number in range(12)]), st.integers(1, 40), max_size=12)


@given(SIZES, st.integers(1, 60))
def test_what_is_shown_stands_for_at_least_k_and_is_the_same_for_all_of_them(sizes: dict[str, int], k: int) -> None:
    shown = wider_kinds(schema_of(sizes), k)
    cells = {concept: shown.get(concept, concept).split(", ") for concept in sizes}
    for concept, cell in cells.items():
        assert concept in cell
        assert all(cells[each] == cell for each in cell)
        assert sum(sizes[each] for each in cell) >= min(k, sum(sizes.values()))
