"""Profiles of predicates by their objects, and the predicates and classes that a file itself declares."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kg_store.loading.sorted_triples import Flags, turn_inverses
from kg_store.sources.raw_graph import TEXT_MARK, RawGraph, TermKind, literal_of, text_of
from kg_store.sources.vocabulary import RDF, SCHEMA_CLASSES, SCHEMA_PREDICATES, SUBCLASS_PREDICATES
from kg_store.terms import ValueKind
from kg_store.text.inflection import tells_an_event
from kg_store.text.labels import local_name, readable
from kg_store.text.literals import fits, is_year

_WHOLE = "#integer>"
_ALIKE_SHARE = 0.98
_YEARS_SHARE = 0.9
MAX_LOOKED_AT = 1_000
_NAME = re.compile(r"(?=.{2,80}\Z)(?=.*[^\W\d_A-Z])[A-Z][^\d\n]*")
"""Matches a short text with a capital first letter and some small letter, as names have and codes do not."""
_MANY_YEARS = 10
_DATE_WORDS = frozenset(
    "year years date born died birthday birth death founded released from to start end since until launched "
    "introduced established opened closed season completed published begin began ended".split()
)
_COUNT_WORDS = frozenset(
    "number count population votes amount capacity pages size price area height length weight total salary distance "
    "elevation".split()
)
# Predicates of digits that are not used as numbers: they stay text, which keeps leading zeros and the spelling.
_ID_WORDS = frozenset(
    "id ids code phone telephone fax zip postal postcode ssn isbn issn iban number no nr pin".split()
)


@dataclass(frozen=True, slots=True)
class PredicateProfile:
    """Statistics of one predicate, from which a policy is proposed. Shares are between 0 and 1.

    `literal_share`: triples whose object is a literal. `distinct_share`: distinct objects per triple. `leaf_share`:
    distinct objects that are not the subject of any triple. `value_kind`: the kind of value that plain texts can be
    read as, if any. `named_share`: of a sample of distinct texts, those that look like names (short, with a capital).
    `uses`: the number of triples.
    """

    predicate: str
    is_iri: bool
    is_text: bool
    literal_share: float
    distinct_share: float
    leaf_share: float
    value_kind: ValueKind | None
    named_share: float
    uses: int


def profile_predicates(raw: RawGraph, inverse_prefix: str | None) -> dict[str, PredicateProfile]:
    """Returns a profile of every predicate."""
    turned = turn_inverses(raw, inverse_prefix)
    kinds, acting = turned.kinds(), _marks(turned, turned.subjects)
    profiles = {}
    for predicate, rows in _rows_by_predicate(turned):
        objects = turned.objects[rows]
        distinct = np.unique(objects)
        is_text = (kinds[distinct] == TermKind.LITERAL) | (kinds[distinct] == TermKind.TEXT)
        texts = [turned.terms[term] for term in distinct[is_text].tolist()]
        some = [literal_of(term).lexical for term in texts[:MAX_LOOKED_AT]]
        profiles[turned.text(predicate)] = PredicateProfile(
            predicate=turned.text(predicate),
            is_iri=turned.is_iri(predicate),
            is_text=len(texts) == len(distinct),
            literal_share=float(np.mean(kinds[objects] == TermKind.LITERAL)),
            distinct_share=len(distinct) / len(objects),
            leaf_share=1.0 - float(np.mean(acting[distinct])),
            value_kind=_kind_of(texts, turned.text(predicate)) if texts else None,
            named_share=sum(_NAME.fullmatch(text) is not None for text in some) / max(1, len(some)),
            uses=len(objects),
        )
    return profiles


def _kind_of(terms: list[str], predicate: str) -> ValueKind | None:
    """Returns the kind of value that nearly all texts in `terms` can be read as; None if there is none.

    Texts with a datatype or a language give None, and so do ids, even if they look like numbers. Years are dates, also
    those that are typed as whole numbers.
    """
    words = frozenset(re.split(r"[^a-z0-9]+", readable(local_name(predicate)).lower()))
    if any(term[-1] != '"' and term[0] != TEXT_MARK for term in terms):
        says_year = (words & _DATE_WORDS or any(map(tells_an_event, words))) and not words & _COUNT_WORDS
        are_years = says_year and all(term.endswith(_WHOLE) and is_year(literal_of(term).lexical) for term in terms)
        return ValueKind.DATE if are_years else None
    texts = [text_of(term).strip() for term in terms]
    # Numbers are years if the predicate's words speak of time, or if there are many and nearly all could be years.
    speaks_of_time = words & _DATE_WORDS or (len(texts) >= _MANY_YEARS and not words & _COUNT_WORDS)
    if speaks_of_time and sum(map(is_year, texts)) >= _YEARS_SHARE * len(texts):
        return ValueKind.DATE
    if words & _ID_WORDS or any(re.fullmatch(r"0\d+", text) for text in texts):
        return None
    kinds = (ValueKind.NUMBER, ValueKind.DATE)
    return next((kind for kind in kinds if sum(fits(text, kind) for text in texts) >= _ALIKE_SHARE * len(texts)), None)


_TYPE = RDF + "type"
_PROPERTY_WORDS = frozenset({"Property", "ObjectProperty", "DatatypeProperty", "AnnotationProperty"})
_CLASS_WORDS = frozenset({"Class"})
_SUBCLASS_WORD = "subClassOf"
_ABOUT_WORDS = frozenset({"subPropertyOf", "domain", "range", "inverseOf", "equivalentClass", "equivalentProperty"})
_MIN_SHARE = 0.5

Rows = npt.NDArray[np.integer]


@dataclass(frozen=True, slots=True)
class CustomSchema:
    """The words of a file's own schema vocabulary, as IRIs.

    `subclass_predicates` are used like rdfs:subClassOf, `predicates` like rdfs:domain and its like, and `classes` like
    rdfs:Class.
    """

    subclass_predicates: tuple[str, ...]
    predicates: tuple[str, ...]
    classes: tuple[str, ...]


def find_custom_schema(raw: RawGraph) -> CustomSchema:
    """Returns the file's own schema vocabulary, found by its local names and by its use.

    A word such as `Property` or `Class` counts only if most of its subjects are predicates or classes that the file
    uses. A house may also be a `Property`, and a lesson a `Class`.
    """
    rows = {raw.text(term): at for term, at in _rows_by_predicate(raw)}
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
    found = []
    for term in dict.fromkeys(raw.objects[types].tolist()):
        iri = raw.text(term)
        used = properties if local_name(iri) in _PROPERTY_WORDS else classes
        declares = local_name(iri) in _PROPERTY_WORDS | _CLASS_WORDS and iri not in SCHEMA_CLASSES
        if declares and _mostly(used, raw.subjects[types][raw.objects[types] == term]):
            found.append(iri)
    return tuple(found)


def _rows_by_predicate(raw: RawGraph) -> Iterator[tuple[int, Rows]]:
    order = np.argsort(raw.predicates, kind="stable")
    used, starts = np.unique(raw.predicates[order], return_index=True)
    return zip(used.tolist(), np.split(order, starts[1:]), strict=True)


def _marks(raw: RawGraph, terms: Rows) -> Flags:
    flags = np.zeros(len(raw.terms), dtype=bool)
    flags[terms] = True
    return flags


def _mostly(flags: Flags, terms: Rows) -> bool:
    return bool(flags[terms].mean() >= _MIN_SHARE)
