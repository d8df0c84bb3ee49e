"""Concepts of a schema: assigns them, and lists the words of a schema, which prompts hold and which are therefore
public.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from kg_store.errors import LoadError
from kg_store.terms import (
    Concept,
    Hop,
    Mid,
    NodeKind,
    Relation,
    RelationId,
    Schema,
    Signature,
    SignatureId,
    ValueKind,
    ValueView,
)
from kg_store.text.further_words import words_of_kinds
from kg_store.text.labels import clean


def with_concepts(schema: Schema, concepts: Sequence[str]) -> Schema:
    """Returns `schema` with one concept for each signature. Raises LoadError if the numbers differ."""
    if len(concepts) != len(schema.signatures):
        raise LoadError(f"{len(schema.signatures)} signatures got {len(concepts)} concepts")
    return replace(schema, concepts=tuple(Concept(clean(concept) or "thing") for concept in concepts))


def placeholder(signature: Signature) -> Concept:
    """Returns the concept before it is named: the most specific class."""
    if signature.classes:
        return Concept(signature.classes[0])
    return Concept("value" if signature.kind is NodeKind.VALUE else "thing")


def phrases_of(schema: Schema) -> Iterable[str]:
    """Yields every word of the schema; prompts hold them, so names that equal them are public words."""
    for relation in schema.relations:
        yield from (relation.label, relation.inverse_label, relation.description, *relation.words)
    yield from set(schema.concepts)
    yield from {word for signature in schema.signatures for word in signature.classes}
    for words in words_of_kinds(schema).values():
        yield from words


def schema_bytes(schema: Schema) -> bytes:
    """Returns compressed JSON; hops are `2 * relation + inverse`."""
    relations = [
        [each.iri, each.label, each.inverse_label, each.value_kind, each.value_view, *_mask_of(each)]
        for each in schema.relations
    ]
    signatures = [
        [each.kind, each.classes, [hop.relation * 2 + hop.inverse for hop in each.hops], each.size]
        for each in schema.signatures
    ]
    words = {str(each.id): each.words for each in schema.relations if each.words}
    hints = {str(each.id): each.hints for each in schema.relations if each.hints}
    masked = {str(each.id): each.masked for each in schema.signatures if each.masked}
    content = {
        "relations": relations, "signatures": signatures, "concepts": schema.concepts,
        "words": words, "hints": hints, "kind_words": dict(schema.kind_words),
        "masked_classes": masked,
    }  # fmt: skip
    return zlib.compress(json.dumps(content, separators=(",", ":")).encode(), level=1)


def read_schema(data: bytes) -> Schema:
    """Reads what `schema_bytes` wrote, including older data without further words or masked classes."""
    content = json.loads(zlib.decompress(data))
    masked = content.get("masked_classes", {})
    words, hints = content.get("words", {}), content.get("hints", {})
    hops = [Hop(RelationId(code >> 1), bool(code & 1)) for code in range(2 * len(content["relations"]))]
    return Schema(
        tuple(
            _relation(position, row, words.get(str(position), ()), hints.get(str(position), ()))
            for position, row in enumerate(content["relations"])
        ),
        tuple(
            _signature(position, row, hops, masked.get(str(position), ()))
            for position, row in enumerate(content["signatures"])
        ),
        tuple(Concept(concept) for concept in content["concepts"]),
        {kind: tuple(further) for kind, further in content.get("kind_words", {}).items()},
    )


def _mask_of(relation: Relation) -> list[int | str]:
    return [] if relation.mask is None else [relation.mask, relation.description]


def _relation(position: int, row: list[Any], words: Iterable[str], hints: Iterable[str]) -> Relation:
    iri, label, inverse_label, kind, view, *mask = row
    value_kind = ValueKind(kind) if kind else None
    found = Relation(RelationId(position), iri, label, inverse_label, value_kind, ValueView(view), *mask)
    return replace(found, words=tuple(words), hints=tuple(hints))


def _signature(position: int, row: list[Any], hops: list[Hop], masked: Iterable[int]) -> Signature:
    kind, classes, codes, size = row
    met = tuple(hops[code] for code in codes)
    return Signature(SignatureId(position), NodeKind(kind), tuple(classes), met, size, tuple(map(Mid, masked)))
