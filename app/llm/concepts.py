"""ConceptNamer: one concept per relation signature, named once at load, from classes or relation words alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from app.llm.concept_nouns import GENERAL_NOUNS
from app.llm.embedder import Embedder
from app.llm.wording import readable
from kg_store.terms import Hop, NodeKind, Schema, Signature, ValueKind

_VALUE_WORDS = {
    ValueKind.NUMBER: "number",
    ValueKind.DATE: "date",
    ValueKind.TEXT: "text",
    ValueKind.TRUTH: "yes or no",
}
_BY_PEOPLE = "person"
_FEW = 3  # relations that a leaf has at most


class ConceptNamer:
    """Names concepts by likeness; deterministic."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def name(self, schema: Schema) -> list[str]:
        """One concept per signature, in the order of `schema.signatures`."""
        cache: dict[tuple[object, ...], str] = {}
        return [self._name_signature(schema, signature, cache) for signature in schema.signatures]

    def name_relations(self, relations: Sequence[str]) -> str:
        """A concept for something that these relations leave; `^` marks those that lead to it."""
        outgoing = [readable(label) for label in relations if not label.startswith("^")]
        incoming = [readable(label) for label in relations if label.startswith("^")]
        return self._from_words(outgoing, incoming)

    def _name_signature(self, schema: Schema, signature: Signature, cache: dict[tuple[object, ...], str]) -> str:
        if signature.kind is NodeKind.VALUE:
            return _value_word(schema, signature.hops)
        if signature.classes:
            return signature.classes[0]
        outgoing = [readable(schema.relations[hop.relation].label) for hop in signature.hops if not hop.inverse]
        incoming = [readable(schema.relations[hop.relation].label) for hop in signature.hops if hop.inverse]
        key = (tuple(outgoing), tuple(incoming))
        if key not in cache:
            cache[key] = self._from_words(outgoing, incoming)
        return cache[key]

    def _from_words(self, outgoing: list[str], incoming: list[str]) -> str:
        if not outgoing and incoming:
            return _leaf_word(incoming)
        words = outgoing or incoming
        if not words:
            return "thing"
        # What has many relations is described by their sum; no single one says what it is.
        described = self._embedder.sentences(words).mean(axis=0)
        return GENERAL_NOUNS[int(np.argmax(self._embedder.sentences(GENERAL_NOUNS) @ described))]


def _leaf_word(incoming: list[str]) -> str:
    """Something that only is pointed at is called by what points: `release year` -> year, `written by` -> person."""
    words = [_head_noun(label) for label in incoming[:_FEW]]
    return words[0]


def _head_noun(label: str) -> str:
    words = label.split()
    if words[-1] == "by":
        return _BY_PEOPLE
    if " of " in label:
        # "place of birth" is a place.
        words = label.split(" of ")[0].split()
    noun = words[-1]
    return noun[:-1] if noun.endswith("s") and not noun.endswith(("ss", "us", "is")) and len(noun) > 3 else noun


def _value_word(schema: Schema, hops: Sequence[Hop]) -> str:
    kinds = {schema.relations[hop.relation].value_kind for hop in hops}
    for kind, word in _VALUE_WORDS.items():
        if kind in kinds:
            return word
    return "text"
