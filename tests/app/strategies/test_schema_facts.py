"""All that strategies ask of a schema is worked out once for a version, however many signatures a graph has."""

from __future__ import annotations

from collections.abc import Iterator

from app.strategies.sets.times import may_say_when
from app.strategies.start import declares_kinds
from kg_store.terms import Concept, Hop, NodeKind, Relation, RelationId, Schema, Signature, SignatureId, ValueKind

SIGNATURES = 2_000
MOST_PASSES = 3


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
    assert Counted.passes <= MOST_PASSES
