"""ConceptNamer: one concept per relation signature, named once at load, from classes or relation words alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from app.llm.embedded.language.concept_nouns import NOUNS
from app.llm.embedded.language.question_words import GRAMMAR
from app.llm.embedded.language.relation_wording import description_in, readable
from app.llm.embeddings.embedder import Embedder
from kg_store.terms import Hop, NodeKind, Schema, Signature, ValueKind
from kg_store.text.plurals import singular

_VALUE_WORDS = {
    ValueKind.NUMBER: "number",
    ValueKind.DATE: "date",
    ValueKind.TEXT: "text",
    ValueKind.TRUTH: "yes or no",
}
# A thing that only is pointed at takes the pointer's own word, unless a general noun fits it about as well.
MIN_FIT_OF_LEAF = 0.75
# A thing without a class is of the class that this share of its like have: what one `knows` is mostly a person.
SHARE_OF_CLASS = 2 / 3

Fits = npt.NDArray[np.float32]


class ConceptNamer:
    """Names concepts by likeness; deterministic."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def name(self, schema: Schema) -> list[str]:
        """One concept per signature, in the order of `schema.signatures`."""
        classes = _classes_reached(schema)
        given = [_given_word(schema, signature, classes) for signature in schema.signatures]
        unnamed = [signature for signature, word in zip(schema.signatures, given, strict=True) if word is None]
        relations = {hop.relation for signature in unnamed for hop in signature.hops}
        worded = [words for each in sorted(relations) if (words := readable(schema.described((Hop(each),))))]
        if worded:
            # All in one call: signature by signature, a few at a time, takes twice as long.
            self._embedder.sentences(worded)
        return [
            self._of_relations(schema, signature) if word is None else word
            for signature, word in zip(schema.signatures, given, strict=True)
        ]

    def name_relations(self, relations: Sequence[str]) -> str:
        """A concept for something that has these relations around it; `^` marks those that lead to it."""
        worded = [(label, words) for label in relations if (words := readable(label))]
        has = [words for label, words in worded if not label.startswith("^")]
        plays = [words for label, words in worded if label.startswith("^")]
        # A description is a sentence about a masked relation: its last word is no noun for what that leads to.
        pointers = (words for label, words in worded if label.startswith("^") and description_in(label) is None)
        return self._of_words(has, plays, next(pointers, ""))

    def _of_relations(self, schema: Schema, signature: Signature) -> str:
        return self.name_relations([schema.described((hop,)) for hop in signature.hops])

    def _of_words(self, has: list[str], plays: list[str], pointer: str) -> str:
        """`pointer` is the relation that a leaf takes its word from."""
        if not has and not plays:
            return "thing"
        # Few relations say little each, many together say it well: so the mean over all of them.
        fits = np.concatenate([self._fits(has, self._has), self._fits(plays, self._plays)]).mean(axis=0)
        best = int(np.argmax(fits))
        if not has and fits[best] < MIN_FIT_OF_LEAF:
            return _head_noun(pointer)
        return NOUNS[best].word

    def _fits(self, labels: list[str], examples: list[Fits]) -> Fits:
        """Scores each label by the nearest example of each noun; shape (labels, nouns)."""
        if not labels:
            return np.empty((0, len(NOUNS)), dtype=np.float32)
        vectors = self._embedder.sentences(labels)
        columns = [(vectors @ each.T).max(axis=1) if len(each) else np.zeros(len(labels)) for each in examples]
        return np.stack(columns, axis=1).astype(np.float32)

    @cached_property
    def _has(self) -> list[Fits]:
        return self._vectors_of([noun.has for noun in NOUNS])

    @cached_property
    def _plays(self) -> list[Fits]:
        return self._vectors_of([(noun.word, *noun.plays) for noun in NOUNS])

    def _vectors_of(self, groups: Sequence[Sequence[str]]) -> list[Fits]:
        """The vectors of each group, all embedded in one call: fifty small ones take many times as long."""
        vectors = self._embedder.sentences([text for group in groups for text in group])
        return np.split(vectors, np.cumsum([len(group) for group in groups])[:-1])


def _given_word(schema: Schema, signature: Signature, classes: Mapping[Hop, Counter[str]]) -> str | None:
    """The word that needs no similarity: the kind of a value, a class of its own, or the class of things like it."""
    if signature.kind is NodeKind.VALUE:
        return _value_word(schema, signature.hops)
    return signature.classes[0] if signature.classes else _borrowed_class(signature, classes)


def _classes_reached(schema: Schema) -> dict[Hop, Counter[str]]:
    """The classes of what each relation leads to, counted by signatures."""
    reached: dict[Hop, Counter[str]] = {}
    for signature in schema.signatures:
        for hop in signature.hops if signature.classes else ():
            if hop.inverse:
                reached.setdefault(hop, Counter())[signature.classes[0]] += 1
    return reached


def _borrowed_class(signature: Signature, classes: Mapping[Hop, Counter[str]]) -> str | None:
    """The class of most other things that the same relations lead to, if they have any."""
    counts = sum((classes[hop] for hop in signature.hops if hop in classes), Counter[str]())
    if not counts:
        return None
    word, count = min(counts.items(), key=lambda item: (-item[1], item[0]))
    return word if count >= SHARE_OF_CLASS * counts.total() else None


def _head_noun(label: str) -> str:
    """The noun that a relation points at, by its own words: `release year` -> year, `place of birth` -> place.

    `works in` names nothing: what it points at is a thing.
    """
    words = label.split(" of ")[0].split() or label.split()
    return singular(words[-1]) if words and words[-1] not in GRAMMAR else "thing"


def _value_word(schema: Schema, hops: Sequence[Hop]) -> str:
    kinds = {schema.relations[hop.relation].value_kind for hop in hops}
    for kind, word in _VALUE_WORDS.items():
        if kind in kinds:
            return word
    return "text"
