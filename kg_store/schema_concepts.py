"""Concepts of a schema: put into it, and what of a schema prompts hold, so that names equal to it are public words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from kg_store.terms import Concept, LoadError, NodeKind, Schema, Signature
from kg_store.wording import clean


def with_concepts(schema: Schema, concepts: Sequence[str]) -> Schema:
    """`schema` with one concept per signature. LoadError when there are more or fewer."""
    if len(concepts) != len(schema.signatures):
        raise LoadError(f"{len(schema.signatures)} signatures got {len(concepts)} concepts")
    return replace(schema, concepts=tuple(Concept(clean(concept) or "thing") for concept in concepts))


def placeholder(signature: Signature) -> Concept:
    """What stands for a concept before it is named: the most specific class."""
    if signature.classes:
        return Concept(signature.classes[0])
    return Concept("value" if signature.kind is NodeKind.VALUE else "thing")


def phrases_of(schema: Schema) -> Iterable[str]:
    """Every word of the schema: prompts hold them, so names that equal them are public words."""
    for relation in schema.relations:
        yield from (relation.label, relation.inverse_label, relation.description)
    yield from set(schema.concepts)
    yield from {word for signature in schema.signatures for word in signature.classes}
