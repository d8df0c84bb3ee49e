"""Relations of a load: which predicates are shown, their words, and the kinds and the exposure of their values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from kg_store.graph.schema import mask_word, own_words
from kg_store.loading.sorted_triples import Flags, SortedTriples
from kg_store.sources.policy import Policy
from kg_store.sources.raw_graph import TermIds, TermKind
from kg_store.sources.vocabulary import INVERSE_PREDICATE
from kg_store.storage.master_key import mids_of
from kg_store.terms import Mid, Relation, RelationId, ValueKind, ValueView
from kg_store.text.labels import (
    MAX_WORDS_OF_GIVEN,
    clean,
    distinct_labels,
    inverse_of,
    is_short_label,
    readable_relation,
)
from kg_store.text.literals import is_year

KINDS = (None, ValueKind.NUMBER, ValueKind.DATE, ValueKind.TEXT, ValueKind.TRUTH)
"""Value kinds by code; 0 is for terms that are not values."""


FurtherWords = Callable[[str], tuple[str, ...]]
"""Returns further ways to ask for a relation, by its predicate."""


@dataclass(frozen=True, slots=True)
class Relations:
    """The relations of a load.

    `shown` are those of the schema; `id_of` is each term's relation id, -1 if it is hidden or not a relation. `unsaid`
    holds the real words of each masked or hidden relation, the best first, by its MID.
    """

    shown: tuple[Relation, ...]
    id_of: TermIds
    unsaid: Mapping[Mid, tuple[str, ...]] = field(repr=False)


def value_kinds(triples: SortedTriples, kinds: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Returns, for each term, the position of its value kind in KINDS; 0 unless it is a literal in a fact."""
    codes = np.zeros(len(kinds), dtype=np.uint8)
    code_of = {kind: code for code, kind in enumerate(KINDS)}
    for term in np.flatnonzero(triples.nodes & (kinds == TermKind.LITERAL)).tolist():
        codes[term] = code_of[triples.raw.literal(term).kind]
    return codes


def find_relations(
    triples: SortedTriples,
    policy: Policy,
    labels: Mapping[str, str],
    codes: npt.NDArray[np.uint8],
    mid_key: bytes,
    further: FurtherWords,
) -> Relations:
    """Returns the relations of a load, sorted by predicate: the predicates of facts, without hidden ones."""
    raw = triples.raw
    used = np.unique(raw.predicates[triples.facts]).tolist()
    shown = sorted((raw.text(term), term) for term in used if is_shown(policy, raw.text(term)))
    id_of = np.full(len(raw.terms), -1, dtype=np.int32)
    for position, (_, term) in enumerate(shown):
        id_of[term] = position
    predicates = [predicate for predicate, _ in shown]
    unsaid = _unsaid(triples, policy, labels, used, mid_key, further)
    named = [(predicate, term) for predicate, term in shown if not policy.of(predicate).mask]
    # Without masked relations: a label made distinct from one of theirs would give it away.
    words = [relation_label(predicate, raw.is_iri(term), policy, labels) for predicate, term in named]
    words = distinct_labels(words, [predicate for predicate, _ in named])
    label_of = dict(zip((predicate for predicate, _ in named), words, strict=True))
    inverses = _declared_inverses(triples, label_of)
    kinds = _kinds_of_relations(triples, policy, id_of, predicates, codes)
    taken, found = set(words), []
    for position, (predicate, kind) in enumerate(zip(predicates, kinds, strict=True)):
        settings, place = policy.of(predicate), RelationId(position)
        if settings.mask:
            # Derived from the graph's own key, so that a new version keeps the word.
            word, mid = mask_word(mid_key, predicate, taken), _mid_of_relation(mid_key, predicate)
            taken.add(word)
            said = settings.description or ""
            found.append(Relation(place, predicate, word, word, kind, settings.values, mid, said))
        else:
            label = label_of[predicate]
            inverse = settings.inverse_label or inverses.get(predicate) or clean(inverse_of(label))
            found.append(Relation(place, predicate, label, inverse, kind, settings.values))
    return Relations(tuple(found), id_of, unsaid)


def _unsaid(
    triples: SortedTriples,
    policy: Policy,
    labels: Mapping[str, str],
    used: list[int],
    mid_key: bytes,
    further: FurtherWords,
) -> dict[Mid, tuple[str, ...]]:
    found = {}
    for term in used:
        predicate, is_iri = triples.raw.text(term), triples.raw.is_iri(term)
        settings = policy.of(predicate)
        if settings.mask or not is_shown(policy, predicate):
            given = clean(labels.get(predicate, ""))
            label = relation_label(predicate, is_iri, policy, labels)
            said = (label, settings.inverse_label or "", given, *further(predicate))
            found[_mid_of_relation(mid_key, predicate)] = own_words(predicate, is_iri, filter(None, said))
    return found


def _mid_of_relation(mid_key: bytes, predicate: str) -> Mid:
    """Returns the MID of a predicate as a relation; a prefix makes it differ from the predicate's MID as a node."""
    return Mid(int(mids_of(mid_key, [f"relation\n{predicate}"])[0]))


def is_shown(policy: Policy, predicate: str) -> bool:
    """Returns True if the policy leaves the relation in the graph, masked or not."""
    settings = policy.of(predicate)
    return not settings.hide and settings.values is not ValueView.NEVER


def relation_label(predicate: str, is_iri: bool, policy: Policy, labels: Mapping[str, str]) -> str:
    """Returns a relation's label: the policy's, else a short label in the sources, else its local name."""
    own = policy.of(predicate).label
    if own is not None:
        return own
    given = clean(labels.get(predicate, ""))
    return given if is_short_label(given, MAX_WORDS_OF_GIVEN) else readable_relation(predicate, is_iri)


def _declared_inverses(triples: SortedTriples, words: Mapping[str, str]) -> dict[str, str]:
    raw, found = triples.raw, {}
    declaring = [t for t in np.unique(raw.predicates).tolist() if raw.text(t) == INVERSE_PREDICATE]
    for triple in np.flatnonzero(np.isin(raw.predicates, declaring)).tolist():
        pair = [raw.text(term[triple]) for term in (raw.subjects, raw.objects)]
        for one, other in (pair, pair[::-1]):
            if one in words and other in words:
                found[one] = words[other]
    return found


def _declared_kinds(policy: Policy) -> dict[str, ValueKind]:
    """Returns the relations of columns that the policy says to hold numbers or dates, in all tables that have them.

    Most of the cells may still be texts, such as `2019-20`; answers then say how many are.
    """
    found: dict[str, set[ValueKind]] = {}
    for table in policy.tables:
        for column, settings in table.columns.items():
            found.setdefault(table.relation_iri(column), set()).add(settings.kind)
    return {iri: kinds.pop() for iri, kinds in found.items() if kinds in ({ValueKind.NUMBER}, {ValueKind.DATE})}


def _kinds_of_relations(
    triples: SortedTriples,
    policy: Policy,
    id_of: TermIds,
    predicates: Sequence[str],
    codes: npt.NDArray[np.uint8],
) -> list[ValueKind | None]:
    """Returns, for each relation, its declared kind, or the most frequent one of its values; None if not all of its
    objects are values.
    """
    ids = id_of[triples.raw.predicates[triples.facts]]
    kinds = codes[triples.raw.objects[triples.facts]]
    cells = ids[ids >= 0] * len(KINDS) + kinds[ids >= 0]
    table = np.bincount(cells, minlength=len(predicates) * len(KINDS)).reshape(len(predicates), len(KINDS))
    told = _declared_kinds(policy)
    rows = zip(predicates, table, strict=True)
    return [None if row[0] else told.get(predicate, KINDS[int(row.argmax())]) for predicate, row in rows]


MAX_LINKABLE_CHARS = 60
_TRUTH = KINDS.index(ValueKind.TRUTH)
_TEXT = KINDS.index(ValueKind.TEXT)


@dataclass(frozen=True, slots=True)
class ValueExposure:
    """Flags by term that say how values may be shown.

    `hidden`: no shown relation reaches the value, but it is still guarded; `linkable`: it is found in questions;
    `protected`: the guard blocks it.
    """

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
    """Returns flags for each value: hidden, linkable and protected (see ValueExposure).

    A value is hidden if no shown relation leads to it. It is protected unless all relations that lead to it show it in
    clear. It is linkable if at least one shown relation makes it so: by its `linkable` in the policy, or else for
    numbers, dates and short texts.
    """
    raw, size = triples.raw, len(kinds)
    literal = kinds == TermKind.LITERAL
    by_default = codes > 0
    for term in np.flatnonzero(codes == _TEXT).tolist():
        by_default[term] = len(raw.literal(term).lexical) <= MAX_LINKABLE_CHARS
    reached, linkable, guarded = (np.zeros(size, dtype=bool) for _ in range(3))
    for predicate in np.unique(raw.predicates[triples.facts]).tolist():
        objects = raw.objects[triples.facts & (raw.predicates == predicate)]
        settings = policy.of(raw.text(predicate))
        shown = relations.id_of[predicate] >= 0
        reached[objects] |= shown
        if shown:
            linkable[objects] |= by_default[objects] if settings.linkable is None else settings.linkable
        guarded[objects] |= ~_is_open(triples, objects, settings.values) if shown else True
    # Truth values identify nobody, and the word "true" is in every JSON request.
    truth = codes == _TRUTH
    return ValueExposure(triples.nodes & literal & ~reached, linkable & ~truth & literal, guarded & ~truth)


def _is_open(triples: SortedTriples, objects: npt.NDArray[np.int32], view: ValueView) -> Flags:
    """Returns a flag for each object: the model may read its text.

    That is so if `view` shows values in clear, or shows years and the text is one.
    """
    if view is not ValueView.YEAR:
        return np.full(len(objects), view is ValueView.CLEAR)
    years = (is_year(triples.raw.literal(term).lexical) for term in objects.tolist())
    return np.fromiter(years, dtype=bool, count=len(objects))
