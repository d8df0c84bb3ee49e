"""Agreement of relations: over one thing, over all things of a relation, and against facts that stand reversed."""

from __future__ import annotations

from app.reader.concepts.agreement import NounAgreement, agreed, noun_of
from kg_store.terms import Hop, NodeKind, Relation, RelationId, Schema, Signature, SignatureId


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


def test_the_kind_that_most_relations_say_is_told() -> None:
    assert words_of((3, ["^spouse", "^owned by", "^place of birth"])) == ["person"]


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


def test_a_masked_relation_says_no_noun() -> None:
    assert noun_of("^Rk3m2a the zorblat that somebody smears") is None
    assert agreed([]) is None
