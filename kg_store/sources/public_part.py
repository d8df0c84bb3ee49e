"""Joins the files of a public graph to a private one: what is the same thing in both becomes one node.

An owner declares in the policy which files are public, and for each kind of private things by which name or code they
are found in the public files (docs/decisions/0090).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from kg_store.errors import LoadError
from kg_store.lexicon.lexicon import in_lexicon
from kg_store.sources.policy import BY_LABEL, Policy, PublicPolicy
from kg_store.sources.raw_graph import RawGraph, TermIds, TermKind
from kg_store.text.inflection import singular
from kg_store.text.labels import class_word, readable_relation
from kg_store.text.normalise import normalise

NOTHING_TO_JOIN = (
    "bridge {number} of the policy is for no kind of the private files; `arog graph inspect` shows their kinds"
)


@dataclass(frozen=True, slots=True)
class Bridged:
    """The things of one kind that stand in both graphs, as term of the public one to term of the private one.

    `missing`: private things of the kind that the public files lack; `several`: those whose name or code several
    things bear, which are not joined. `alone`: those of `same` beside which one private thing stands: who reads what
    the public files say of them can tell that thing apart.
    """

    kind: str
    same: Mapping[str, str] = field(repr=False)
    missing: int
    several: int
    alone: int = 0

    @property
    def note(self) -> str:
        # Notes of jobs are stored unsealed, and a kind may be called like somebody.
        kind = f"`{self.kind}`" if all(map(in_lexicon, self.kind.split())) else "A bridged kind"
        left = f"{self.missing} are in the private files alone"
        several = f", {self.several} are called like several of them and stay apart" if self.several else ""
        alone = f"; {self.alone} of them belong to one private thing alone" if self.alone else ""
        return f"{kind}: {len(self.same)} things stand in the public files too, {left}{several}{alone}"


def policy_of_part(policy: Policy, *, is_public: bool) -> Policy:
    """Returns the policy of the public files alone, or of the private ones."""
    files = set(policy.public.files)

    def is_theirs(file: str | None) -> bool:
        return file is None or (file.partition("/")[0] in files) is is_public

    return policy.model_copy(
        update={
            "tables": tuple(each for each in policy.tables if is_theirs(each.file)),
            "triples": tuple(each for each in policy.triples if is_theirs(each.file)),
            "public": PublicPolicy(),
        }
    )


def join_public(private: RawGraph, public: RawGraph, policy: Policy) -> RawGraph:
    """Returns the triples of both graphs, in which the things that the policy bridges are one.

    The relations and classes that only the public files have are in `public_words`: a name in them masks them, and
    nothing else does. Raises LoadError if a bridge is for no kind of the private files.
    """
    bridges = enumerate(policy.public.bridges.items(), start=1)
    found = [_bridged(private, public, policy, kind, by, number) for number, (kind, by) in bridges]
    same = {theirs: ours for each in found for theirs, ours in each.same.items()}
    index = {term: at for at, term in enumerate(private.terms)}
    terms, numbers = list(private.terms), []
    for term in public.terms:
        # A nameless node is another one in each graph, though both may number it alike.
        wanted = same.get(term, f"{term}-public" if term[0] == "_" else term)
        if wanted not in index:
            index[wanted] = len(terms)
            terms.append(wanted)
        numbers.append(index[wanted])
    positions: TermIds = np.array(numbers, dtype=np.int32)
    joined = [
        np.concatenate((ours, positions[theirs]))
        for ours, theirs in (
            (private.subjects, public.subjects),
            (private.predicates, public.predicates),
            (private.objects, public.objects),
        )
    ]
    notes = (*private.notes, *public.notes, *(each.note for each in found))
    words = _schema_words(public, policy) - _schema_words(private, policy)
    return replace(
        private,
        terms=terms,
        subjects=joined[0],
        predicates=joined[1],
        objects=joined[2],
        notes=notes,
        public_words=frozenset(words),
        private_triples=len(private.subjects),
    )


def _bridged(private: RawGraph, public: RawGraph, policy: Policy, kind: str, by: str, number: int) -> Bridged:
    kinds = kinds_of_things(private, policy)
    things = kinds.get(kind) or kinds.get(singular(kind.lower()))
    if not things:
        raise LoadError(NOTHING_TO_JOIN.format(number=number))
    found = _same(private, public, policy, kind, by, things)
    return replace(found, alone=_alone(private, policy, set(found.same.values())))


def _alone(private: RawGraph, policy: Policy, terms: set[str]) -> int:
    """Returns how many of the `terms` one private thing leads to or is led to from, and no other."""
    at = [number for number, term in enumerate(private.terms) if term in terms]
    kinds, types = private.kinds(), _with_predicates(private, policy.type_predicates)
    things = (kinds[private.objects] != TermKind.LITERAL) & (kinds[private.objects] != TermKind.TEXT) & ~types
    forward, backward = things & np.isin(private.subjects, at), things & np.isin(private.objects, at)
    pairs = np.concatenate(
        [
            np.stack([private.subjects[forward], private.objects[forward]], axis=1),
            np.stack([private.objects[backward], private.subjects[backward]], axis=1),
        ]
    )
    owners, counts = np.unique(np.unique(pairs, axis=0)[:, 0], return_counts=True)
    return int((counts[np.isin(owners, at)] == 1).sum())


def shared_names(private: RawGraph, public: RawGraph, policy: Policy, things: set[int]) -> Mapping[str, str]:
    """Returns those of the private `things` that are called like one public thing, by the public one's term."""
    return _same(private, public, policy, "", BY_LABEL, things).same


def _same(private: RawGraph, public: RawGraph, policy: Policy, kind: str, by: str, things: set[int]) -> Bridged:
    ours, theirs = called(private, policy, by, things), called(public, policy, by)
    same, several = dict[str, str](), set[int]()
    for text, bearers in ours.items():
        found = theirs.get(text, set())
        if len(bearers) == len(found) == 1:
            same[public.terms[min(found)]] = private.terms[min(bearers)]
        elif found:
            several |= bearers
    joined = {*same.values()}
    several = {each for each in several if private.terms[each] not in joined}
    return Bridged(kind, same, len(things) - len(joined) - len(several), len(several))


def kinds_of_things(raw: RawGraph, policy: Policy) -> dict[str, set[int]]:
    """Returns the things of each class by the class's word in the singular ("drug")."""
    types = _with_predicates(raw, policy.type_predicates)
    classes = np.unique(raw.objects[types]).tolist()
    told = np.flatnonzero(_with_predicates(raw, policy.names) & np.isin(raw.subjects, classes)).tolist()
    labels = {raw.text(raw.subjects[each]): raw.literal(raw.objects[each]).lexical for each in reversed(told)}
    found: defaultdict[str, set[int]] = defaultdict(set)
    for kind in classes:
        word = class_word(raw.text(kind), labels, raw.is_iri(kind)).lower()
        found[word] |= {*raw.subjects[types & (raw.objects == kind)].tolist()}
    return found


def called(
    raw: RawGraph, policy: Policy, by: str = BY_LABEL, among: Iterable[int] | None = None
) -> dict[str, set[int]]:
    """Returns the things that bear each name, or each code of the relation `by`, by its text without capitals."""
    rows = _with_predicates(raw, policy.names) if by == BY_LABEL else _called_relation(raw, by)
    if among is not None:
        rows &= np.isin(raw.subjects, [*among])
    kinds = raw.kinds()
    rows &= (kinds[raw.objects] == TermKind.LITERAL) | (kinds[raw.objects] == TermKind.TEXT)
    found: defaultdict[str, set[int]] = defaultdict(set)
    for subject, text in zip(raw.subjects[rows].tolist(), raw.objects[rows].tolist(), strict=True):
        found[normalise(raw.literal(text).lexical).text].add(subject)
    return found


def _with_predicates(raw: RawGraph, predicates: Iterable[str]) -> npt.NDArray[np.bool_]:
    wanted = set(predicates)
    known = [each for each in np.unique(raw.predicates).tolist() if raw.text(each) in wanted]
    return np.isin(raw.predicates, known)


def _called_relation(raw: RawGraph, label: str) -> npt.NDArray[np.bool_]:
    return _with_predicates(
        raw,
        (
            text
            for each in np.unique(raw.predicates).tolist()
            if label in ((text := raw.text(each)), readable_relation(text, raw.is_iri(each)))
        ),
    )


def _schema_words(raw: RawGraph, policy: Policy) -> set[str]:
    """Returns the relations and classes of the triples, as IRIs or cells."""
    types = _with_predicates(raw, policy.type_predicates)
    used = {*np.unique(raw.predicates).tolist(), *np.unique(raw.objects[types]).tolist()}
    return {raw.text(each) for each in used}
