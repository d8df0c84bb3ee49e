"""Where retrieval starts: what the question names, what it leans on, and kinds where it names nothing."""

from __future__ import annotations

from collections.abc import Iterator

from app.llm.embeddings.embedder import Embedder
from app.reader.embedded_reasoner import EmbeddedReasoner
from app.strategies.sets.times import may_say_when
from app.strategies.start import MAX_KINDS, Start, declares_kinds, starting_places
from kg_store.terms import Concept, Hop, NodeKind, Relation, RelationId, Schema, Signature, SignatureId, ValueKind
from tests.support.asking import Asked


def start(asked: Asked, embedder: Embedder, *turns: str) -> Start:
    return starting_places(asked.inquiry(EmbeddedReasoner(embedder), *turns), embedder)


def named(asked: Asked, found: Start) -> list[set[str]]:
    return [asked.names(place.pseudonym) for place in found.frontier]


def test_what_the_question_names_is_the_start(asked: Asked, embedder: Embedder) -> None:
    found = start(asked, embedder, "Do Zofia Quarrel and Ptolemy Ashgrove live there?")
    assert named(asked, found) == [{"Zofia Quarrel"}, {"Ptolemy Ashgrove"}]
    assert [place.concept for place in found.frontier] == ["patient", "doctor"]


def test_kinds_are_only_shown_beside_a_thing(asked: Asked, embedder: Embedder) -> None:
    found = start(asked, embedder, "Which doctors treat Zofia Quarrel?")
    assert named(asked, found) == [{"Zofia Quarrel"}]
    assert [asked.names(place.pseudonym) for place in found.kinds] == [{"Ottoline Brackwater", "Ptolemy Ashgrove"}]


def test_a_question_that_names_only_kinds_starts_from_all_of_them(asked: Asked, embedder: Embedder) -> None:
    found = start(asked, embedder, "In which cities do doctors live?")
    assert {place.concept for place in found.frontier} == {"city", "doctor"}
    assert {frozenset(names) for names in named(asked, found)} == {
        frozenset({"Zemgalburg", "Umbrathal"}), frozenset({"Ottoline Brackwater", "Ptolemy Ashgrove"}),
    }  # fmt: skip
    assert found.kinds == ()


def test_without_a_name_or_kind_the_nearest_kinds_are_taken(asked: Asked, embedder: Embedder) -> None:
    found = start(asked, embedder, "Which physician earns most?")
    assert found.frontier[0].concept == "doctor"
    assert 1 <= len(found.frontier) <= MAX_KINDS


def test_a_value_that_the_graph_does_not_hold_is_shown_beside_kinds(asked: Asked, embedder: Embedder) -> None:
    found = start(asked, embedder, "Which patients were born before 1931-03-04?")
    literal, kind = found.frontier
    assert (literal.kind, len(literal.mids), literal.concept) == (NodeKind.VALUE, 0, "date")
    assert (kind.concept, len(kind.mids)) == ("patient", 3)


SIGNATURES = 2_000
MAX_PASSES = 3


class Counted(tuple[Signature, ...]):
    """A tuple that counts how often it is gone through."""

    passes = 0

    def __iter__(self) -> Iterator[Signature]:
        type(self).passes += 1
        return super().__iter__()


def test_a_large_schema_is_gone_through_a_few_times_alone() -> None:
    began = Relation(RelationId(0), "iri", "began on", "^began on", ValueKind.DATE)
    signatures = Counted(Signature(SignatureId(at), NodeKind.ENTITY, (), (Hop(began.id),)) for at in range(SIGNATURES))
    schema = Schema((began,), signatures, tuple(Concept("event") for _ in range(SIGNATURES)))
    for _ in range(3):
        assert may_say_when(schema)
        assert not declares_kinds(schema)
    assert Counted.passes <= MAX_PASSES
