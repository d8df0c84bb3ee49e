"""Classes of nodes in words, the most specific first, with the superclasses that the sources declare."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from kg_store.loading.sorted_triples import SortedTriples
from kg_store.sources.policy import OWL, RDFS, Policy
from kg_store.sources.raw_graph import RawGraph, TermIds, TermKind
from kg_store.text.labels import class_word

# Said of everything, so they tell nothing.
_DULL = frozenset({OWL + "Thing", OWL + "NamedIndividual", RDFS + "Resource"})


@dataclass(frozen=True, slots=True)
class NodeClasses:
    """`set_of` gives for each term the position of its classes in `words` and in `iris`; 0 has none.

    `word_of` has the word of every class that tells something, by the position of its term.
    """

    set_of: TermIds
    words: tuple[tuple[str, ...], ...]
    iris: tuple[frozenset[str], ...] = field(repr=False)
    word_of: Mapping[int, str] = field(default_factory=dict, repr=False)

    def words_of(self, term: int) -> tuple[str, ...]:
        return self.words[int(self.set_of[term])]

    def words_by_term(self, raw: RawGraph) -> dict[str, str]:
        """The word of every class that tells something, by its IRI or cell."""
        return {raw.text(position): word for position, word in self.word_of.items()}

    def without(self, hidden: Container[str]) -> NodeClasses:
        """The same without these words: who has no other class is of none."""
        words = (tuple(word for word in each if word not in hidden) for each in self.words)
        return replace(self, words=tuple(words))

    def iris_of(self, term: int) -> frozenset[str]:
        return self.iris[int(self.set_of[term])]


def find_classes(triples: SortedTriples, policy: Policy, labels: Mapping[str, str]) -> NodeClasses:
    """Classes of every node, by the type and subclass triples of the load."""
    raw, dull = triples.raw, _DULL | frozenset(policy.schema_classes)
    direct: dict[int, set[int]] = defaultdict(set)
    for triple in np.flatnonzero(triples.types).tolist():
        if raw.text(raw.objects[triple]) not in dull:
            direct[int(raw.subjects[triple])].add(int(raw.objects[triple]))
    supers = _superclasses(triples)
    sets: dict[tuple[int, ...], int] = {(): 0}
    set_of = np.zeros(len(raw.terms), dtype=np.int32)
    for node, classes in direct.items():
        set_of[node] = sets.setdefault(tuple(sorted(classes)), len(sets))
    orders = [_ordered(classes, supers) for classes in sets]
    word_of = {
        term: class_word(raw.text(term), labels, raw.is_iri(term))
        for term in {term for order in orders for term in order}
        if raw.text(term) not in dull
    }
    words = tuple(tuple(dict.fromkeys(word_of[term] for term in order if term in word_of)) for order in orders)
    iris = tuple(frozenset(raw.text(term) for term in order) for order in orders)
    return NodeClasses(set_of, words, iris, word_of)


def _superclasses(triples: SortedTriples) -> dict[int, list[int]]:
    raw, found = triples.raw, defaultdict(list)
    kinds = raw.kinds()
    for triple in np.flatnonzero(triples.subclasses).tolist():
        if kinds[raw.objects[triple]] in (TermKind.IRI, TermKind.TEXT):
            found[int(raw.subjects[triple])].append(int(raw.objects[triple]))
    return found


def _ordered(classes: tuple[int, ...], supers: Mapping[int, list[int]]) -> list[int]:
    """`classes` with all superclasses, each behind its subclasses; a cycle is cut where it closes."""
    finished: list[int] = []
    met: set[int] = set()
    pending = [(term, False) for term in classes]
    while pending:
        term, is_done = pending.pop()
        if is_done:
            finished.append(term)
        elif term not in met:
            met.add(term)
            pending.append((term, True))
            pending.extend((above, False) for above in supers.get(term, ()))
    return finished[::-1]
