"""Concepts of signatures: the class that a graph gives, else what the relations say, and never a name."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.llm.embeddings.embedder import Embedder
from app.reader.concept_namer import ConceptNamer, NounAgreement, agreed, noun_of
from kg_store.terms import Hop, Mid, NodeKind, Relation, RelationId, Schema, Signature, SignatureId, ValueKind


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


def agreement_of(*signatures: tuple[int, list[str]]) -> tuple[NounAgreement, Schema]:
    """Signatures as (size, hops by label, `^` before what leads there)."""
    labels = sorted({label.lstrip("^") for _, hops in signatures for label in hops})
    made = [
        Signature(SignatureId(at), NodeKind.ENTITY, (), tuple(_hop(labels, text) for text in hops), size)
        for at, (size, hops) in enumerate(signatures)
    ]
    relations = tuple(Relation(RelationId(at), f"urn:{at}", label, "") for at, label in enumerate(labels))
    return NounAgreement(Schema(relations, tuple(made), ()), made), Schema(relations, tuple(made), ())


def _hop(labels: list[str], text: str) -> Hop:
    return Hop(RelationId(labels.index(text.lstrip("^"))), text.startswith("^"))


def words_of(*signatures: tuple[int, list[str]]) -> list[str | None]:
    agreement, schema = agreement_of(*signatures)
    found = [agreement.of(each.hops) for each in schema.signatures]
    return [None if each is None else each.word for each in found]


def test_one_noun_is_told_as_it_is_and_several_by_what_they_have_in_common() -> None:
    assert words_of((1, ["^plays in club"]), (1, ["^country", "^city"])) == ["club", "geographic location"]


def test_what_many_relations_are_around_is_told_in_general_and_a_role_by_the_only_one() -> None:
    many = ["^country", "population", "elevation", "time zone"]
    assert words_of((1, ["^country"]), (1, many)) == ["country", "geographic location"]
    assert words_of((1, ["^directed by"]), (1, ["^actor"]), (1, ["^actor", "^author"])) == [
        "person",
        "actor",
        "person",
    ]


def test_a_relation_whose_facts_stand_the_wrong_way_round_is_turned() -> None:
    right = [(1, ["book.book.pages", f"book.book.{word}"]) for word in ("cover", "print", "edition")]
    turned = [
        (1, ["^book.book.author", "book.book.pages", f"book.book.{word}"]) for word in ("cover", "print", "edition")
    ]
    people = [
        (1, ["book.book.author", "people.person.gender", f"people.person.{word}"])
        for word in ("height", "child", "job")
    ]
    leaf = (50, ["^book.book.author"])
    assert words_of(leaf, *right, *turned, *people)[0] == "book"
    assert words_of(leaf, *right)[0] == "author"


def test_a_relation_that_names_nothing_leads_to_what_most_of_its_things_are() -> None:
    agreement, schema = agreement_of(
        (9, ["^adjoins", "^city"]), (1, ["^adjoins"]), (5, ["^cites", "^spouse"]), (5, ["^cites", "^city"])
    )
    adjoining = agreement.of_like(schema.signatures[1].hops)
    assert adjoining is not None
    assert adjoining.word == "city"
    assert agreement.of(schema.signatures[1].hops) is None
    assert agreement.of_like([schema.signatures[2].hops[0]]) is None


def test_things_of_a_masked_class_are_not_called_like_a_shown_one(namer: ConceptNamer) -> None:
    schema = schema_of(
        [("builder", None), ("engine", None)],
        (NodeKind.ENTITY, "Locomotive", ["builder", "^engine"]),
        (NodeKind.ENTITY, "", ["builder", "^engine"]),
    )
    shown, other = schema.signatures
    assert namer.name(schema) == ["Locomotive", "Locomotive"]
    masked = replace(schema, signatures=(shown, replace(other, masked=(Mid(7),))))
    assert namer.name(masked)[1] != "Locomotive"


def test_things_of_two_masked_classes_are_not_called_alike_and_those_of_one_are(namer: ConceptNamer) -> None:
    """Tools and their loans are two tables: were both called "tag", a count of one would count the other too."""
    schema = schema_of(
        [("builder", None), ("engine", None), ("author", None)],
        (NodeKind.ENTITY, "", ["builder", "^engine"]),
        (NodeKind.ENTITY, "", ["builder", "^engine", "author"]),
        (NodeKind.ENTITY, "", ["builder", "^engine", "^author"]),
    )
    masked = [replace(each, masked=(Mid(7 + at // 2),)) for at, each in enumerate(schema.signatures)]
    one, same, other = namer.name(replace(schema, signatures=tuple(masked)))
    assert one == same
    assert other != one


def test_a_masked_relation_says_no_noun() -> None:
    assert noun_of("^Rk3m2a the zorblat that somebody smears") is None
    assert agreed([]) is None
