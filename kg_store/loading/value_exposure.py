"""Decides which values are kept out of the graph, linkable from a question, and protected by the guard."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kg_store.loading.relations import KINDS, Relations
from kg_store.loading.sorted_triples import Flags, SortedTriples
from kg_store.sources.policy import Policy
from kg_store.sources.raw_graph import TermKind
from kg_store.terms import ValueKind, ValueView
from kg_store.text.literals import is_year

MAX_LINKABLE_CHARS = 60
_TRUTH = KINDS.index(ValueKind.TRUTH)
_TEXT = KINDS.index(ValueKind.TEXT)


@dataclass(frozen=True, slots=True)
class ValueExposure:
    """Flags by term. `hidden`: a value that no shown relation reaches; all else of it is still guarded."""

    hidden: Flags
    linkable: Flags
    protected: Flags


def find_showing(
    triples: SortedTriples,
    policy: Policy,
    relations: Relations,
    kinds: npt.NDArray[np.uint8],
    codes: npt.NDArray[np.uint8],
) -> ValueExposure:
    """A value is open only where every relation that leads to it says so; linkable where one of them does."""
    raw, size = triples.raw, len(kinds)
    literal = kinds == TermKind.LITERAL
    by_default = _default_linkable(triples, codes)
    reached, linkable, guarded = (np.zeros(size, dtype=bool) for _ in range(3))
    for predicate in np.unique(raw.predicates[triples.facts]).tolist():
        objects = raw.objects[triples.facts & (raw.predicates == predicate)]
        settings = policy.of(raw.text(predicate))
        shown = relations.id_of[predicate] >= 0
        reached[objects] |= shown
        if shown:
            linkable[objects] |= by_default[objects] if settings.linkable is None else settings.linkable
        guarded[objects] |= ~_is_open(triples, objects, settings.values) if shown else True
    # A truth value tells nobody apart, and "true" stands in every JSON.
    truth = codes == _TRUTH
    return ValueExposure(triples.nodes & literal & ~reached, linkable & ~truth & literal, guarded & ~truth)


def _is_open(triples: SortedTriples, objects: npt.NDArray[np.int32], view: ValueView) -> Flags:
    """True where the policy lets the model read the value's own text: in clear, or as the year that it is."""
    if view is not ValueView.YEAR:
        return np.full(len(objects), view is ValueView.CLEAR)
    years = (is_year(triples.raw.literal(term).lexical) for term in objects.tolist())
    return np.fromiter(years, dtype=bool, count=len(objects))


def _default_linkable(triples: SortedTriples, codes: npt.NDArray[np.uint8]) -> Flags:
    linkable: Flags = (codes > 0) & (codes != _TEXT)
    for term in np.flatnonzero(codes == _TEXT).tolist():
        linkable[term] = len(triples.raw.literal(term).lexical) <= MAX_LINKABLE_CHARS
    return linkable
