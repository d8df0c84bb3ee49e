"""Schema in a custom namespace: classes and predicates that a file declares in words of its own."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kg_store.loading.sorted_triples import Flags
from kg_store.sources.policy import RDF, SCHEMA_CLASSES, SCHEMA_PREDICATES, SUBCLASS_PREDICATES
from kg_store.sources.raw_graph import RawGraph
from kg_store.text.labels import local_name

_TYPE = RDF + "type"
_PROPERTY_WORDS = frozenset({"Property", "ObjectProperty", "DatatypeProperty", "AnnotationProperty"})
_CLASS_WORDS = frozenset({"Class"})
_SUBCLASS_WORD = "subClassOf"
_ABOUT_WORDS = frozenset({"subPropertyOf", "domain", "range", "inverseOf", "equivalentClass", "equivalentProperty"})
_MIN_SHARE = 0.5

Rows = npt.NDArray[np.integer]


@dataclass(frozen=True, slots=True)
class CustomSchema:
    """IRIs that play the part of rdfs:subClassOf, of rdfs:domain and the like, and of rdfs:Class."""

    subclass_predicates: tuple[str, ...]
    predicates: tuple[str, ...]
    classes: tuple[str, ...]


def find_custom_schema(raw: RawGraph) -> CustomSchema:
    """Told by use, not by name alone: a house may be a `Property`, and a lesson a `Class`.

    What a declaring word says of must be, for the most part, predicates or classes that the file uses.
    """
    rows = _rows_by_predicate(raw)
    types = rows.get(_TYPE, np.empty(0, dtype=np.int64))
    classes, properties = _marks(raw, raw.objects[types]), _marks(raw, raw.predicates)
    subclass, about = [], []
    for predicate, at in rows.items():
        word = local_name(predicate)
        if word == _SUBCLASS_WORD and predicate not in SUBCLASS_PREDICATES:
            linked = classes[raw.subjects[at]] | classes[raw.objects[at]]
            if linked.mean() >= _MIN_SHARE:
                subclass.append(predicate)
                classes = classes | _marks(raw, raw.subjects[at]) | _marks(raw, raw.objects[at])
        elif word in _ABOUT_WORDS and predicate not in SCHEMA_PREDICATES:
            about.append(predicate)
    about = [each for each in about if _mostly(classes | properties, raw.subjects[rows[each]])]
    return CustomSchema(tuple(subclass), tuple(about), _declaring(raw, types, classes, properties))


def _declaring(raw: RawGraph, types: Rows, classes: Flags, properties: Flags) -> tuple[str, ...]:
    members: dict[int, list[int]] = defaultdict(list)
    for triple in types.tolist():
        members[int(raw.objects[triple])].append(int(raw.subjects[triple]))
    found = []
    for term, instances in members.items():
        iri = raw.text(term)
        used = properties if local_name(iri) in _PROPERTY_WORDS else classes
        declares = local_name(iri) in _PROPERTY_WORDS | _CLASS_WORDS
        if declares and iri not in SCHEMA_CLASSES and _mostly(used, np.array(instances)):
            found.append(iri)
    return tuple(found)


def _rows_by_predicate(raw: RawGraph) -> dict[str, Rows]:
    order = np.argsort(raw.predicates, kind="stable")
    used, starts = np.unique(raw.predicates[order], return_index=True)
    rows = np.split(order, starts[1:])
    return {raw.text(term): at for term, at in zip(used.tolist(), rows, strict=True)}


def _marks(raw: RawGraph, terms: Rows) -> Flags:
    flags = np.zeros(len(raw.terms), dtype=bool)
    flags[terms] = True
    return flags


def _mostly(flags: Flags, terms: Rows) -> bool:
    return bool(flags[terms].mean() >= _MIN_SHARE)
