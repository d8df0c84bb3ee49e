"""Relations of a load: which predicates show, in which words, and what kind of values they lead to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kg_store.policy import INVERSE_PREDICATE, Policy
from kg_store.raw_graph import TermIds, TermKind, literal_of, text_of
from kg_store.roles import Roles
from kg_store.terms import Relation, RelationId, ValueKind, ValueView
from kg_store.wording import clean, distinct_labels, inverse_of, is_short_label, readable_relation

KINDS = (None, ValueKind.NUMBER, ValueKind.DATE, ValueKind.TEXT, ValueKind.TRUTH)
"""Value kinds by code; 0: not a value."""


@dataclass(frozen=True, slots=True)
class Relations:
    """`shown` are the relations of the schema; `id_of` gives each term's relation id, -1 when hidden or none."""

    shown: tuple[Relation, ...]
    id_of: TermIds


def value_kinds(roles: Roles, kinds: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """For each term the position of its value kind in KINDS; 0 for everything but literals among the facts."""
    codes = np.zeros(len(kinds), dtype=np.uint8)
    code_of = {kind: code for code, kind in enumerate(KINDS)}
    for term in np.flatnonzero(roles.nodes & (kinds == TermKind.LITERAL)).tolist():
        codes[term] = code_of[literal_of(roles.raw.terms[term]).kind]
    return codes


def find_relations(roles: Roles, policy: Policy, labels: Mapping[str, str], codes: npt.NDArray[np.uint8]) -> Relations:
    """Every predicate of a fact that the policy does not hide, sorted by predicate."""
    raw = roles.raw
    used = np.unique(raw.predicates[roles.facts]).tolist()
    shown = sorted((text_of(raw.terms[term]), term) for term in used if _is_shown(policy, text_of(raw.terms[term])))
    id_of = np.full(len(raw.terms), -1, dtype=np.int32)
    for position, (_, term) in enumerate(shown):
        id_of[term] = position
    predicates = [predicate for predicate, _ in shown]
    words = [_label(predicate, raw.terms[term][0] == "<", policy, labels) for predicate, term in shown]
    words = distinct_labels(words, predicates)
    inverses = _declared_inverses(roles, dict(zip(predicates, words, strict=True)))
    kinds = _kinds_of_relations(roles, id_of, len(shown), codes)
    return Relations(
        tuple(
            _relation(position, predicate, words[position], inverses, policy, kinds[position])
            for position, predicate in enumerate(predicates)
        ),
        id_of,
    )


def _relation(
    position: int,
    predicate: str,
    label: str,
    inverses: Mapping[str, str],
    policy: Policy,
    kind: ValueKind | None,
) -> Relation:
    settings = policy.of(predicate)
    inverse = settings.inverse_label or inverses.get(predicate) or clean(inverse_of(label))
    return Relation(RelationId(position), predicate, label, inverse, kind, settings.values)


def _is_shown(policy: Policy, predicate: str) -> bool:
    settings = policy.of(predicate)
    return not settings.hide and settings.values is not ValueView.NEVER


def _label(predicate: str, is_iri: bool, policy: Policy, labels: Mapping[str, str]) -> str:
    own = policy.of(predicate).label
    if own is not None:
        return own
    given = clean(labels.get(predicate, ""))
    return given if is_short_label(given) else readable_relation(predicate, is_iri)


def _declared_inverses(roles: Roles, words: Mapping[str, str]) -> dict[str, str]:
    raw, found = roles.raw, {}
    declaring = [t for t in np.unique(raw.predicates).tolist() if text_of(raw.terms[t]) == INVERSE_PREDICATE]
    for triple in np.flatnonzero(np.isin(raw.predicates, declaring)).tolist():
        pair = [text_of(raw.terms[term[triple]]) for term in (raw.subjects, raw.objects)]
        for one, other in (pair, pair[::-1]):
            if one in words and other in words:
                found[one] = words[other]
    return found


def _kinds_of_relations(
    roles: Roles, id_of: TermIds, count: int, codes: npt.NDArray[np.uint8]
) -> list[ValueKind | None]:
    """The most frequent kind of a relation's values; None as soon as one object is not a value."""
    ids = id_of[roles.raw.predicates[roles.facts]]
    kinds = codes[roles.raw.objects[roles.facts]]
    cells = ids[ids >= 0] * len(KINDS) + kinds[ids >= 0]
    table = np.bincount(cells, minlength=count * len(KINDS)).reshape(count, len(KINDS))
    return [None if row[0] else KINDS[int(row.argmax())] for row in table]
