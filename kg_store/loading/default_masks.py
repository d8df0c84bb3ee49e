"""Default masks: the relations and classes of a load whose words stay hidden until the owner decides to show them."""

from __future__ import annotations

import calendar
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate, chain
from typing import Final, Literal

import numpy as np

from kg_store.graph.schema import own_words
from kg_store.loading.relations import is_shown, relation_label
from kg_store.loading.sorted_triples import Flags, NodeClasses, SortedTriples
from kg_store.loading.wordings import UNITS_WITH_DIGITS, NamesInWords, NamesOfGraph, Wordings, WordsToShow, is_common
from kg_store.sources.policy import Policy, RelationPolicy, Shown
from kg_store.sources.raw_graph import TermIds
from kg_store.sources.table_policy import RELATION_NAMESPACE
from kg_store.sources.triple_files import words_of
from kg_store.storage.master_key import mids_of
from kg_store.storage.version_reports import MaskedTerm, MaskReason
from kg_store.terms import Mid
from kg_store.text.labels import distinct_labels, local_name, readable_relation


@cache
def is_public_term(iri: str) -> bool:
    """Returns True if rdflib knows `iri` as a term of a public vocabulary (FOAF, schema.org, SKOS, PROV, ...).

    A made-up term in the namespace of a vocabulary does not count.
    """
    # Imported here, because it takes a while and only loads need it.
    from rdflib import namespace as known

    iri = iri.replace("http://schema.org/", "https://schema.org/")
    return any(iri in getattr(known, vocabulary) for vocabulary in _VOCABULARIES)


_VOCABULARIES = "RDF RDFS OWL SKOS FOAF DC DCTERMS SDO ORG PROV TIME SOSA SSN DOAP VOID DCAT".split()


MAX_RARE_USES = 2
MIN_USUAL_USES = 20
"""Relations of few facts count as rare if half of all facts are of relations with at least this many."""
MAX_DECLINING_SHARE = 0.1
MIN_GROWING = 30
"""Relations grow with the rows if they are more than this number and more than MAX_DECLINING_SHARE of the facts."""
MIN_OWN_USES = 10
"""A relation with this many facts is not masked for growing with the rows."""
MIN_PIVOT, MAX_MARKS = 4, 3
"""At least so many columns of at most so many different cells, the same ones ("yes" and "no"), are a pivot: the names
of such columns are the values of one property ("syphilis", "stroke"). Chosen by hand.
"""
MAX_BARE = 0.5
"""A column of whose cells fewer than this share are only named refers to rows. Chosen by hand."""
_OF_TABLES = "urn:arog:"


@dataclass(frozen=True, slots=True)
class UndecidedWords:
    """The relations and classes on which the policy does not decide."""

    relations: list[WordsToShow] = field(repr=False)
    kinds: list[WordsToShow] = field(repr=False)


def find_undecided(
    triples: SortedTriples, policy: Policy, labels: Mapping[str, str], classes: NodeClasses
) -> UndecidedWords:
    """Returns the relations and classes on which the load decides; none if all files are public."""
    if triples.raw.is_public:
        return UndecidedWords([], [])
    declared = set(np.unique(triples.raw.subjects[triples.schema[triples.raw.subjects]]).tolist())
    relations = [*_relations(triples, policy, labels, declared)]
    return UndecidedWords(relations, [*_classes(triples, policy, labels, classes, declared)])


def default_masks(
    triples: SortedTriples, policy: Policy, classes: NodeClasses, undecided: UndecidedWords, names: NamesOfGraph
) -> tuple[MaskedTerm, ...]:
    """Returns every relation and class that is masked.

    Masked are classes that the policy masks, and relations and classes whose words may be a table cell, unless the
    policy decides on them. Promise for all others: their words are common English, listed by the owner, or from a
    public vocabulary; they occur as often as words of a schema do; and they equal no name or text value of this graph.
    The one exception is the name of a class that is shown anyway ("record label" is a class and a relation of
    Wikidata). Limit: a cell of common words is taken for schema if it is a relation of many facts and stands nowhere
    else in the graph.
    """
    relations, kinds = undecided.relations, undecided.kinds
    held = names.among([*relations, *kinds])
    pivot = _pivot(triples)
    terms = {position: (triples.raw.text(position), word) for position, word in classes.word_of.items()}
    by_owner = [named for named in terms.values() if _is_listed(policy.mask_classes, *named)]
    chosen = [MaskedTerm("class", *named, MaskReason.OWNER) for named in by_owner]
    kinds = [each for each in kinds if (each.term, each.word) not in by_owner]
    masked = (*_masked("class", kinds, held, pivot), *chosen)
    hidden = {each.term for each in masked} if policy.types == "concept" else {term for term, _ in terms.values()}
    # Classes whose words every role sees as concepts.
    shown = {at for at, named in terms.items() if named[0] not in hidden and _is_told_to_all(policy, *named)}
    return (*_masked("relation", relations, held, pivot, shown, _Roles.of(triples)), *masked)


def with_masks(policy: Policy, masked: Iterable[MaskedTerm]) -> Policy:
    """Returns `policy` with the relations among `masked` set to be masked."""
    settings: dict[str, RelationPolicy] = {
        each.term: policy.of(each.term).model_copy(update={"mask": True}) for each in masked if each.kind == "relation"
    }
    return policy.model_copy(update={"relations": {**policy.relations, **settings}})


def hidden_classes(masked: Iterable[MaskedTerm]) -> frozenset[str]:
    """Returns the words of masked classes."""
    return frozenset(each.word for each in masked if each.kind == "class")


def unsaid_classes(masked: Iterable[MaskedTerm], mid_key: bytes, wordings: Wordings) -> dict[Mid, tuple[str, ...]]:
    """Returns the real words of each masked class, the best first, by the class's MID."""
    classes = {each.word: each for each in masked if each.kind == "class"}
    return {
        mid: own_words(each.term, ":" in each.term, [each.word, *wordings.of_class(each.term, each.word)])
        for each, mid in zip(classes.values(), mids_of_classes(masked, mid_key).values(), strict=True)
    }


def mids_of_classes(masked: Iterable[MaskedTerm], mid_key: bytes) -> dict[str, Mid]:
    """Returns the MID of each masked class, by its word."""
    classes = {each.word: each for each in masked if each.kind == "class"}
    mids = mids_of(mid_key, [f"class\n{each.term}" for each in classes.values()]).tolist()
    return dict(zip(classes, map(Mid, mids), strict=True))


def notes_of(masked: Sequence[MaskedTerm]) -> tuple[str, ...]:
    """Returns notes for the owner: the number of masked relations and classes for each reason."""
    counts = Counter((each.kind, each.reason) for each in masked)
    plurals = {"relation": "relations", "class": "classes"}
    return tuple(
        f"{count} {plurals[kind] if count > 1 else kind} masked by default: each {reason.value}"
        for (kind, reason), count in sorted(counts.items())
    )


def _relations(
    triples: SortedTriples, policy: Policy, labels: Mapping[str, str], declared: set[int]
) -> Iterator[WordsToShow]:
    raw = triples.raw
    used, counts = np.unique(raw.predicates[triples.facts], return_counts=True)
    in_roles = tuple(chain.from_iterable(
        (*(role.show_relations or ()), *role.withhold_relations) for role in policy.roles.values()
    ))  # fmt: skip
    words = [relation_label(raw.text(each), raw.is_iri(each), policy, labels) for each in used.tolist()]
    # Relations with the same label get words of their namespaces as well, which may be cells too.
    shown_words = distinct_labels(words, [raw.text(each) for each in used.tolist()])
    rows = zip(used.tolist(), counts.tolist(), words, shown_words, strict=True)
    for position, uses, word, shown_word in rows:
        term, is_iri = raw.text(position), raw.is_iri(position)
        decided = policy.of(term).decides or not is_shown(policy, term)
        decided = decided or _is_listed(policy.show_relations, term, word) or _is_listed(in_roles, term, word)
        if not decided and not (word == readable_relation(term, is_iri) and is_public_term(term)):
            is_declared = _is_declared(position, term, labels, declared)
            is_public = term in raw.public_words
            yield WordsToShow(position, term, word, words_of(shown_word), uses, is_declared, is_public=is_public)


def _classes(
    triples: SortedTriples, policy: Policy, labels: Mapping[str, str], classes: NodeClasses, declared: set[int]
) -> Iterator[WordsToShow]:
    if policy.types != "concept":
        return
    in_roles = tuple(chain.from_iterable(
        (*(role.show_concepts or ()), *role.withhold_concepts) for role in policy.roles.values()
    ))  # fmt: skip
    sizes = np.bincount(classes.set_of[triples.nodes], minlength=len(classes.words)).tolist()
    uses: Counter[str] = Counter()
    for size, terms in zip(sizes, classes.iris, strict=True):
        uses.update(dict.fromkeys(terms, size))
    for position, word in classes.word_of.items():
        term = triples.raw.text(position)
        decided = _is_listed(policy.show_classes, term, word) or _is_listed(in_roles, term, word)
        own = local_name(term).replace("_", " ").lower()
        if not decided and not (word.replace(" ", "") == own.replace(" ", "") and is_public_term(term)):
            is_declared = _is_declared(position, term, labels, declared)
            is_public = term in triples.raw.public_words
            yield WordsToShow(position, term, word, words_of(word), uses[term], is_declared, True, is_public)


def _is_told_to_all(policy: Policy, term: str, word: str) -> bool:
    return all(
        (role.show_concepts is None or _is_listed(role.show_concepts, term, word))
        and not _is_listed(role.withhold_concepts, term, word)
        for role in policy.roles.values()
    )


def _is_listed(listed: Shown, term: str, word: str) -> bool:
    return listed == "all" or term in listed or word in listed


def _is_declared(position: int, term: str, labels: Mapping[str, str], declared: set[int]) -> bool:
    """Returns True if the sources describe the term as schema, or it is a column of a table.

    Such a term may be rare and still be no table cell.
    """
    return position in declared or term in labels or term.startswith(_OF_TABLES)


def _masked(
    kind: Literal["relation", "class"],
    candidates: Sequence[WordsToShow],
    names: NamesInWords,
    pivot: Container[int],
    shown: Container[int] = (),
    roles: _Roles | None = None,
) -> Iterator[MaskedTerm]:
    uses = [each.uses for each in candidates]
    usual = _usual(uses)
    grows = len(uses) > max(MIN_GROWING, MAX_DECLINING_SHARE * sum(uses))
    for each in candidates:
        bare = roles.bare if roles and each.position in roles.references else None
        reason = MaskReason.NAME if names.hold(each, shown, bare) else None
        if reason is None and not each.is_public:
            reason = _reason(each, usual, grows) or (MaskReason.PIVOT if each.position in pivot else None)
        if reason is not None:
            yield MaskedTerm(kind, each.term, each.word, reason)


@dataclass(frozen=True, slots=True)
class _Roles:
    """Columns that refer to rows of a table, whose names say roles, and the things that are only named.

    A column `driver` that refers to volunteers is no secret, where "Driver" is also a value of another column.
    `references`: the columns; `bare`: flags by term, True for things and values that have no facts of their own.
    """

    references: frozenset[int]
    bare: Flags

    @classmethod
    def of(cls, triples: SortedTriples) -> _Roles:
        raw, facts = triples.raw, triples.facts
        bare = np.ones(len(raw.terms), dtype=np.bool_)
        bare[raw.subjects[facts]] = False
        # Of each column, whether all that it leads to has facts.
        columns = [
            column
            for column in np.unique(raw.predicates[facts & ~bare[raw.objects]]).tolist()
            if raw.text(column).startswith(RELATION_NAMESPACE)
        ]
        of_column = {column: bare[raw.objects[facts & (raw.predicates == column)]] for column in columns}
        return cls(frozenset(column for column, found in of_column.items() if found.mean() < MAX_BARE), bare)


def _pivot(triples: SortedTriples) -> set[int]:
    """Returns the columns that are values of one property: MIN_PIVOT or more of the same things and cells."""
    raw = triples.raw
    cells: dict[int, frozenset[int]] = {}
    things: dict[int, TermIds] = {}
    for position in np.unique(raw.predicates[triples.facts]).tolist():
        if raw.text(position).startswith(RELATION_NAMESPACE):
            rows = triples.facts & (raw.predicates == position)
            found = frozenset(raw.objects[rows].tolist())
            if len(found) <= MAX_MARKS:
                cells[position], things[position] = found, np.unique(raw.subjects[rows])
    return {position for position in cells if _beside(position, cells, things) >= MIN_PIVOT}


def _beside(column: int, cells: Mapping[int, frozenset[int]], things: Mapping[int, TermIds]) -> int:
    """Returns the greatest number of columns, with `column`, that share things with it and have the same cells."""
    near = [other for other in cells if len(np.intersect1d(things[column], things[other], assume_unique=True))]
    marks = {cells[other] for other in near if cells[column] <= cells[other]}
    return max(sum(cells[other] <= each for other in near) for each in marks)


def _usual(uses: Sequence[int]) -> int:
    """Returns the usual number of facts of a relation: that of the relation to which the median fact belongs.

    `uses` are the numbers of facts of all relations. Many rare relations hardly lower the result.
    """
    ordered = sorted(uses)
    middle = next((at for at, total in enumerate(accumulate(ordered)) if total * 2 >= sum(ordered)), 0)
    return ordered[middle] if ordered else 0


_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_MONTHS: Final = frozenset(name.lower() for name in (*calendar.month_name, *calendar.month_abbr) if name)


def _without_year(words: Sequence[str]) -> Sequence[str]:
    """Returns the words without a year at their end: `hours 2024` -> hours; but `march 2024` is a date."""
    is_of_year = len(words) > 1 and _YEAR.fullmatch(words[-1]) and _MONTHS.isdisjoint(words)
    return words[:-1] if is_of_year else words


def _reason(each: WordsToShow, usual: int, grows: bool) -> MaskReason | None:
    said = _without_year([word for word in each.word.lower().split() if word not in UNITS_WITH_DIGITS])
    if re.search(r"\d", " ".join(said)):
        return MaskReason.DIGITS
    if not each.words or not all(map(is_common, _without_year(each.words))):
        return MaskReason.WORDS
    if each.uses <= MAX_RARE_USES and usual >= MIN_USUAL_USES and not each.is_declared:
        return MaskReason.RARE
    return MaskReason.MANY if grows and each.uses < MIN_OWN_USES and not each.is_declared else None
