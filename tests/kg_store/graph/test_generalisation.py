"""Wider kinds: small concepts share cells, which tell of none of their members which of them it is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kg_store.graph.matching_entities import wider_kinds
from kg_store.terms import Concept, NodeKind, Schema, Signature, SignatureId


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
