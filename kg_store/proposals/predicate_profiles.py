"""Profile: what the objects of one predicate look like, for proposing a policy."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from kg_store.loading.sorted_triples import turn_inverses
from kg_store.sources.raw_graph import RawGraph, TermKind, literal_of
from kg_store.terms import ValueKind
from kg_store.text.labels import local_name, readable
from kg_store.text.literals import fits, is_year

_ALIKE_SHARE = 0.98
_YEARS_SHARE = 0.9
MAX_LOOKED_AT = 1_000
_NAME = re.compile(r"(?=.{2,80}\Z)(?=.*[^\W\d_A-Z])[A-Z][^\d\n]*")
"""Matches a short text with a capital in front and small letters behind, as names have and codes have not."""
_MANY_YEARS = 10
_DATE_WORDS = frozenset(
    {"year", "years", "date", "born", "died", "birthday", "birth", "death", "founded", "released", "from", "to"}
    | {"start", "end", "since", "until", "launched", "introduced", "established", "opened", "closed", "season"}
    | {"completed", "published", "begin", "began", "ended"}
)
_COUNT_WORDS = frozenset(
    {"number", "count", "population", "votes", "amount", "capacity", "pages", "size", "price", "area", "height"}
    | {"length", "weight", "total", "salary", "distance", "elevation"}
)
# Digits that nobody counts with: they stay text, so that leading zeros and exact spelling survive.
_ID_WORDS = frozenset(
    {"id", "ids", "code", "phone", "telephone", "fax", "zip", "postal", "postcode", "ssn", "isbn", "issn"}
    | {"iban", "number", "no", "nr", "pin"}
)


@dataclass(frozen=True, slots=True)
class PredicateProfile:
    """Shares are between 0 and 1, of a predicate's triples or of its distinct objects.

    `leaf_share`: distinct objects that are no triple's subject. `value_kind`: what plain text reads as, if at all.
    `named_share`: distinct texts, of some, that look like names: short words that begin with a capital. `uses`: its
    triples.
    """

    predicate: str
    is_iri: bool
    is_text: bool
    literal_share: float
    distinct_share: float
    leaf_share: float
    value_kind: ValueKind | None
    named_share: float = 0.0
    uses: int = 0

    @property
    def subject_share(self) -> float:
        return 1.0 - self.leaf_share


def profile_predicates(raw: RawGraph, inverse_prefix: str | None) -> dict[str, PredicateProfile]:
    """A profile of every predicate, in their order of first use."""
    turned = turn_inverses(raw, inverse_prefix)
    kinds = turned.kinds()
    acting = np.zeros(len(turned.terms), dtype=bool)
    acting[turned.subjects] = True
    order = np.argsort(turned.predicates, kind="stable")
    used, starts = np.unique(turned.predicates[order], return_index=True)
    profiles = {}
    for predicate, rows in zip(used.tolist(), np.split(order, starts[1:]), strict=True):
        objects = turned.objects[rows]
        distinct = np.unique(objects)
        literals = kinds[distinct] == TermKind.LITERAL
        plain = kinds[distinct] == TermKind.TEXT
        texts = [turned.terms[term] for term in distinct[literals | plain].tolist()]
        profiles[turned.text(predicate)] = PredicateProfile(
            turned.text(predicate),
            turned.is_iri(predicate),
            len(texts) == len(distinct),
            float(np.mean(kinds[objects] == TermKind.LITERAL)),
            len(distinct) / len(objects),
            1.0 - float(np.mean(acting[distinct])),
            _kind_of(texts, turned.text(predicate)) if texts else None,
            _named_share(texts),
            len(objects),
        )
    return profiles


def _named_share(texts: Sequence[str]) -> float:
    some = [literal_of(term).lexical for term in texts[:MAX_LOOKED_AT]]
    return sum(_NAME.fullmatch(text) is not None for text in some) / max(1, len(some))


def _kind_of(terms: list[str], predicate: str) -> ValueKind | None:
    """The kind that nearly all of these texts read as, where their own datatype does not say it."""
    literals = [literal_of(term) for term in terms]
    if any(literal.datatype or literal.language for literal in literals):
        return None
    texts = [literal.lexical.strip() for literal in literals]
    words = frozenset(re.split(r"[^a-z0-9]+", readable(local_name(predicate)).lower()))
    if _share(is_year(text) for text in texts) >= _YEARS_SHARE and _speaks_of_time(words, len(texts)):
        return ValueKind.DATE
    if words & _ID_WORDS or any(re.fullmatch(r"0\d+", text) for text in texts):
        return None
    if _share(fits(text, ValueKind.NUMBER) for text in texts) >= _ALIKE_SHARE:
        return ValueKind.NUMBER
    dated = _share(fits(text, ValueKind.DATE) for text in texts) >= _ALIKE_SHARE
    return ValueKind.DATE if dated else None


def _speaks_of_time(words: frozenset[str], distinct: int) -> bool:
    """Years are told from other numbers by the predicate's words, or by being many and nothing but years."""
    return bool(words & _DATE_WORDS) or (distinct >= _MANY_YEARS and not words & _COUNT_WORDS)


def _share(flags: Iterable[bool]) -> float:
    found = list(flags)
    return sum(found) / len(found)
