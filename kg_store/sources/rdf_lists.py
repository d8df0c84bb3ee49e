"""RDF lists as several values: `:x :speaks (:a :b)` as `:x :speaks :a, :b`. The order is not kept."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Final

import numpy as np

from kg_store.sources.raw_graph import RawGraph

_RDF: Final = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#"
FIRST, REST, NIL = f"{_RDF}first>", f"{_RDF}rest>", f"{_RDF}nil>"


def without_lists(raw: RawGraph) -> RawGraph:
    """Returns `raw` with each list replaced by its members, wherever a triple leads to its head.

    A list that is broken (a loop, two firsts, no end), and one to which nothing leads, stays as it is.
    """
    places = {term: at for at, term in enumerate(raw.terms) if term in (FIRST, REST, NIL)}
    if FIRST not in places or REST not in places:
        return raw
    first, rest = (_by_subject(raw, places[predicate]) for predicate in (FIRST, REST))
    own = np.isin(raw.predicates, [places[FIRST], places[REST]])
    leading = ~own & np.isin(raw.objects, list(first))
    members: dict[int, list[int]] = {}
    nodes: set[int] = set()
    for head in set(raw.objects[leading].tolist()):
        walked = _walk(head, rest, places.get(NIL, -1))
        if walked and all(node in first for node in walked):
            members[head] = [first[node] for node in walked]
            nodes.update(walked)
    if not members:
        return raw
    flat = leading & np.isin(raw.objects, list(members))
    # A node of a list says no more than that it is one.
    kept = ~flat & ~np.isin(raw.subjects, list(nodes))
    rows = [
        (subject, predicate, member)
        for subject, predicate, head in zip(
            raw.subjects[flat].tolist(), raw.predicates[flat].tolist(), raw.objects[flat].tolist(), strict=True
        )
        for member in members[head]
    ]
    more = np.array(rows, dtype=np.int32)
    columns = (raw.subjects, raw.predicates, raw.objects)
    subjects, predicates, objects = (
        np.concatenate((column[kept], more[:, at])) for at, column in enumerate(columns)
    )  # fmt: skip
    return replace(raw, subjects=subjects, predicates=predicates, objects=objects)


def _by_subject(raw: RawGraph, predicate: int) -> dict[int, int]:
    """The one object that each subject has by `predicate`; none of a subject with several."""
    rows = np.flatnonzero(raw.predicates == predicate)
    pairs = set(zip(raw.subjects[rows].tolist(), raw.objects[rows].tolist(), strict=True))
    counts = Counter(subject for subject, _ in pairs)
    return {subject: tail for subject, tail in pairs if counts[subject] == 1}


def _walk(head: int, rest: dict[int, int], nil: int) -> list[int]:
    """The nodes of a list in order; none where it has no end."""
    found: dict[int, None] = {}
    while head != nil:
        if head in found or head not in rest:
            return []
        found[head] = None
        head = rest[head]
    return list(found)
