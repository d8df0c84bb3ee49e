"""Names each kind of thing once, when a graph is loaded, from its classes or from the words of its relations.

Things with the same relations have the same signature; each signature gets one concept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from app.llm.embeddings.embedder import Embedder
from app.reader.concepts.agreement import ACTING, AGENT, MANY, Agreed, NounAgreement, agreed, noun_of
from app.reader.concepts.relation_nouns import Noun, kind_of
from app.reader.language.relation_wording import VALUES
from kg_store.terms import Hop, NodeKind, Schema, Signature, ValueKind
from kg_store.text.english import NOUNS
from kg_store.text.labels import readable_step

_TEXT = "text"
_VALUE_WORDS = {
    ValueKind.NUMBER: "number",
    ValueKind.DATE: "date",
    ValueKind.TEXT: _TEXT,
    ValueKind.TRUTH: "yes or no",
}
# Least likeness (cosine) of a thing's relations to the typical ones of a noun, if no label says the noun itself:
# the second applies if the thing has one relation. Chosen by hand; not fitted.
MIN_FIT = 0.6
MIN_FIT_OF_ONE = 0.8
WORK, MIN_OF_WORK = "work", 2
"""From MIN_OF_WORK relations on, the concept "work" gives way to a more precise noun (film, book) found by likeness.

Chosen by hand; not fitted.
"""
# A thing without a class takes the class that this share of things with the same relations have. Chosen by hand.
SHARE_OF_CLASS = 2 / 3

Fits = npt.NDArray[np.float32]


class ConceptNamer:
    """Names concepts by classes, else by the nouns in relation labels, else by likeness of the labels.
    Deterministic.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._fits = NounFits(embedder)

    def name(self, schema: Schema) -> list[str]:
        """Returns one concept per signature, in the order of `schema.signatures`."""
        classes = _classes_reached(schema)
        given = [_given_word(schema, signature, classes) for signature in schema.signatures]
        unnamed = [signature for signature, word in zip(schema.signatures, given, strict=True) if word is None]
        labels = {hop: schema.described((hop,)) for hop in sorted({hop for each in unnamed for hop in each.hops})}
        self._fits.prepare(labels.values())
        agreement = NounAgreement(schema, unnamed)
        named = [
            self._of_hops(signature, labels, agreement) if word is None else word
            for signature, word in zip(schema.signatures, given, strict=True)
        ]
        return named if _has_classes(schema) else _with_texts(schema, named)

    def _of_hops(self, signature: Signature, labels: Mapping[Hop, str], agreement: NounAgreement) -> str:
        said = agreement.of(signature.hops) or agreement.of_like(signature.hops)
        return self._of_labels([labels[hop] for hop in signature.hops], said)

    def name_relations(self, relations: Sequence[str]) -> str:
        """Returns a concept for a thing with these relations; labels with `^` are relations that lead to the thing."""
        return self._of_labels(relations, agreed([noun for label in relations if (noun := noun_of(label))]))

    def _of_labels(self, labels: Sequence[str], said: Agreed | None) -> str:
        """Returns the noun that the labels say; without one, the noun whose typical relations are most
        like `labels`.
        """
        if said is not None and said.kind != AGENT and len(labels) < (MIN_OF_WORK if said.word == WORK else MANY):
            return said.word
        fits = self._fits.mean_of(labels)
        if fits is None:
            return "thing"
        best = int(np.argmax(fits))
        word, bound = NOUNS[best].word, MIN_FIT if len(labels) > 1 else MIN_FIT_OF_ONE
        if said is not None:
            is_likely = len(labels) > 1 and fits[best] >= MIN_FIT
            is_of_kind = word in ACTING if said.kind == AGENT else kind_of(word) == said.kind
            return word if is_likely and is_of_kind else said.word
        return word if fits[best] >= bound else "thing"


class NounFits:
    """Scores of relation labels against the nouns of `NOUNS`: a row of scores a label, worked out once.

    A label is scored by its nearest example: of what a thing of that noun has, or behind `^` of what leads to one.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._rows: dict[str, Fits | None] = {}

    def prepare(self, labels: Iterable[str]) -> None:
        """Works out the rows of `labels` in one call; masked relations without a description have none."""
        unknown = [label for label in dict.fromkeys(labels) if label not in self._rows]
        for is_played, examples in ((False, self._has), (True, self._plays)):
            mine = [label for label in unknown if label.startswith("^") == is_played]
            worded = {label: words for label in mine if (words := readable_step(label))}
            self._rows.update(dict.fromkeys(mine))
            if worded:
                likeness = self._embedder.sentences([*worded.values()]) @ examples.vectors.T
                rows = np.maximum.reduceat(likeness, examples.begins, axis=1)
                self._rows.update(zip(worded, rows, strict=True))

    def mean_of(self, labels: Sequence[str]) -> Fits | None:
        """The mean over `labels`, shape (nouns,): few say little each, many together say it well. None where no label
        has words."""
        self.prepare(labels)
        rows = [row for label in labels if (row := self._rows[label]) is not None]
        return np.mean(rows, axis=0) if rows else None

    @cached_property
    def _has(self) -> _Examples:
        return self._examples_of([noun.has for noun in NOUNS])

    @cached_property
    def _plays(self) -> _Examples:
        return self._examples_of([(noun.word, *noun.plays) for noun in NOUNS])

    def _examples_of(self, groups: Sequence[Sequence[str]]) -> _Examples:
        vectors = self._embedder.sentences([text for group in groups for text in group])
        return _Examples(vectors, np.cumsum([0, *(len(group) for group in groups[:-1])]))


@dataclass(frozen=True, slots=True)
class _Examples:
    """The vectors of all examples, shape (examples, dimensions), and where those of each noun begin."""

    vectors: Fits
    begins: npt.NDArray[np.intp]


def _given_word(schema: Schema, signature: Signature, classes: Mapping[Hop, Counter[str]]) -> str | None:
    """The concept that is found without likeness: a value's type, the thing's own class, or the class of things like
    it.

    Returns None if there is none of these.
    """
    if signature.kind is NodeKind.VALUE:
        return _value_word(schema, signature.hops)
    return signature.classes[0] if signature.classes else _borrowed_class(signature, classes)


def _has_classes(schema: Schema) -> bool:
    return any(signature.classes for signature in schema.signatures)


def _with_texts(schema: Schema, concepts: Sequence[str]) -> list[str]:
    """Returns `concepts`, where "text" is replaced by the noun of the relations that lead there:
    "email", "language".
    """
    return [
        said.word
        if concept == _TEXT and (said := agreed(_nouns_of(schema, signature))) and said.word not in VALUES
        else concept
        for signature, concept in zip(schema.signatures, concepts, strict=True)
    ]


def _nouns_of(schema: Schema, signature: Signature) -> list[Noun]:
    return [noun for hop in signature.hops if (noun := noun_of(schema.described((hop,)))) is not None]


def _classes_reached(schema: Schema) -> dict[Hop, Counter[str]]:
    """For each hop that leads to things with a class: how many signatures have which class."""
    reached: dict[Hop, Counter[str]] = {}
    for signature in schema.signatures:
        for hop in signature.hops if signature.classes else ():
            if hop.inverse:
                reached.setdefault(hop, Counter())[signature.classes[0]] += 1
    return reached


def _borrowed_class(signature: Signature, classes: Mapping[Hop, Counter[str]]) -> str | None:
    """The class of at least SHARE_OF_CLASS of the things that the same relations lead to;

    None if no class reaches it.
    """
    counts = sum((classes[hop] for hop in signature.hops if hop in classes), Counter[str]())
    if not counts:
        return None
    word, count = min(counts.items(), key=lambda item: (-item[1], item[0]))
    return word if count >= SHARE_OF_CLASS * counts.total() else None


def _value_word(schema: Schema, hops: Sequence[Hop]) -> str:
    kinds = {schema.relations[hop.relation].value_kind for hop in hops}
    for kind, word in _VALUE_WORDS.items():
        if kind in kinds:
            return word
    return "text"
