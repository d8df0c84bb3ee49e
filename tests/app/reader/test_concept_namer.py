"""Concepts of signatures: the class that a graph gives, else what the relations say, and never a name."""

from __future__ import annotations

import pytest

from app.llm.embeddings.embedder import Embedder
from app.reader.concept_namer import ConceptNamer
from kg_store.terms import Hop, NodeKind, Relation, RelationId, Schema, Signature, SignatureId, ValueKind
from kg_store.text.english import GENERAL_NOUNS


@pytest.fixture(scope="module")
def namer(embedder: Embedder) -> ConceptNamer:
    return ConceptNamer(embedder)


def schema_of(relations: list[tuple[str, ValueKind | None]], *signatures: tuple[NodeKind, str, list[str]]) -> Schema:
    """Signatures as (kind, class or empty, hops by label, `^` before what leads there)."""
    labels = [label for label, _ in relations]

    def hop(text: str) -> Hop:
        return Hop(RelationId(labels.index(text.lstrip("^"))), text.startswith("^"))

    made = [
        Signature(SignatureId(at), kind, (name,) if name else (), tuple(hop(text) for text in hops))
        for at, (kind, name, hops) in enumerate(signatures)
    ]
    known = [Relation(RelationId(at), f"urn:{at}", label, "", kind) for at, (label, kind) in enumerate(relations)]
    return Schema(tuple(known), tuple(made), ())


def test_one_concept_a_signature_in_their_order(namer: ConceptNamer) -> None:
    relations: list[tuple[str, ValueKind | None]] = [
        ("treated by", None), ("spouse", None), ("children", None), ("weight", ValueKind.NUMBER),
        ("date of birth", ValueKind.DATE), ("remark", ValueKind.TEXT), ("active", ValueKind.TRUTH),
    ]  # fmt: skip
    schema = schema_of(
        relations,
        (NodeKind.ENTITY, "Patient", ["treated by"]),
        (NodeKind.ENTITY, "", ["spouse", "children", "date of birth"]),
        (NodeKind.VALUE, "", ["^weight"]),
        (NodeKind.VALUE, "", ["^date of birth"]),
        (NodeKind.VALUE, "", ["^remark"]),
        (NodeKind.VALUE, "", ["^active"]),
        (NodeKind.VALUE, "", []),
        (NodeKind.ENTITY, "", []),
    )
    named = namer.name(schema)
    assert named == ["Patient", "person", "number", "date", "text", "yes or no", "text", "thing"]
    assert namer.name(schema) == named


@pytest.mark.parametrize(
    ("relations", "concept"),
    [
        (["date of birth", "spouse", "children", "profession"], "person"),
        (["directed by", "starred actors", "release year", "written by"], "film"),
        (["population", "time zone", "mayor", "^place of birth"], "geographic location"),
        (["^spouse", "^treated by"], "person"),
        ([], "thing"),
    ],
)
def test_relations_tell_the_kind(namer: ConceptNamer, relations: list[str], concept: str) -> None:
    assert namer.name_relations(relations) == concept


@pytest.mark.parametrize(
    ("label", "concept"), [("^has blorbs", "blorb"), ("^quux code of record", "quux code"), ("^zig|zag marks", "mark"),
     ("^quuxes in", "thing")],
)  # fmt: skip
def test_what_is_only_pointed_at_takes_the_pointers_own_word(namer: ConceptNamer, label: str, concept: str) -> None:
    assert namer.name_relations([label]) == concept
    assert concept not in GENERAL_NOUNS


def test_a_thing_without_a_class_is_of_the_class_of_most_of_its_like(namer: ConceptNamer) -> None:
    schema = schema_of(
        [("knows", None), ("cites", None), ("wrote", None)],
        (NodeKind.ENTITY, "Colleague", ["^knows", "cites"]),
        (NodeKind.ENTITY, "Colleague", ["^knows", "wrote"]),
        (NodeKind.ENTITY, "", ["^knows"]),
        (NodeKind.ENTITY, "Paper", ["^cites"]),
        (NodeKind.ENTITY, "Memo", ["^cites", "^wrote"]),
        (NodeKind.ENTITY, "", ["^cites"]),
    )
    concepts = namer.name(schema)
    assert concepts[2] == "Colleague"
    assert concepts[5] not in ("Paper", "Memo")
