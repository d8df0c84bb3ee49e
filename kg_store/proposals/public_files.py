"""Proposes the policy of a private graph with the files of a public graph beside it, and the bridges between them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from kg_store.errors import LoadError
from kg_store.proposals.propose import propose, read_and_propose
from kg_store.proposals.shared_concepts import concept_of
from kg_store.sources.policy import BY_LABEL, Policy, PublicPolicy, TriplesPolicy
from kg_store.sources.public_part import called, join_public, kinds_of_things, shared_names
from kg_store.sources.raw_graph import RawGraph, TermKind
from kg_store.sources.reader import NO_PUBLIC_FILE, read_sources
from kg_store.sources.table_files import bare_name
from kg_store.sources.table_policy import TablePolicy
from kg_store.terms import ValueKind
from kg_store.text.normalise import normalise

_TEXTS: Final = (TermKind.LITERAL, TermKind.TEXT)
MIN_BRIDGED: Final = 3
MIN_SHARE_BRIDGED: Final = 0.3
"""A kind is bridged if so many of its things, and this share of them, are called like one public thing. By hand."""


def is_left_open(policy: Policy | None) -> bool:
    """Returns True if a policy says only which files are public and which are triples: then the rest is proposed."""
    if policy is None or not policy.public.files or policy.public.bridges:
        return False
    return policy == Policy(public=policy.public, triples=policy.triples)


def only_public(files: Iterable[str]) -> Policy:
    """Returns the policy that says which files are public, and nothing else."""
    return Policy(public=PublicPolicy(files=tuple(files)))


def read_left_open(
    sources: Sequence[Path], policy: Policy, triples: tuple[TriplesPolicy, ...] = ()
) -> tuple[RawGraph, Policy]:
    """Returns the triples of the files, and the proposed policy in which those that `policy` lists are public.

    `triples` are entries beside those of the policy. Raises LoadError.
    """
    listed, triples = policy.public.files, (*policy.triples, *triples)
    if lacking := set(listed).difference(map(bare_name, sources)):
        raise LoadError(NO_PUBLIC_FILE.format(count=len(lacking)))
    private = [path for path in sources if bare_name(path) not in listed]
    if private:
        public = [path for path in sources if bare_name(path) in listed]
        raw, proposed = read_with_public(private, public, triples)
        return raw, proposed.model_copy(update={"public": _with_origin(proposed.public, policy.public)})
    raw, proposed = read_and_propose(sources, triples=triples)
    raw.is_public = True
    return raw, proposed.model_copy(update={"public": policy.public})


def _with_origin(proposed: PublicPolicy, given: PublicPolicy) -> PublicPolicy:
    return proposed.model_copy(update={"source": given.source, "licence": given.licence})


def read_with_public(
    private: Sequence[Path], public: Sequence[Path], triples: tuple[TriplesPolicy, ...] = ()
) -> tuple[RawGraph, Policy]:
    """Returns the triples of all files and a proposed policy, in which the files `public` are of a public graph.

    Kinds of private things of which many are called like one public thing are bridged by their labels; the texts of a
    column of which as many are called so become things. Raises LoadError.
    """
    own = _of_files(triples, private)
    raw, policy = read_and_propose(private, triples=own)
    beside, told = read_and_propose(public, triples=_of_files(triples, public))
    if tables := _with_things(raw, policy, called(beside, told)):
        read = [path for path in private if bare_name(path) not in policy.skip]
        notes, raw = raw.notes, read_sources(read, lambda _done: None, tables, own)
        raw.notes, policy = notes, propose(raw, tables, own).model_copy(update={"skip": policy.skip})
    both = policy.model_copy(
        update={
            "names": tuple(dict.fromkeys((*policy.names, *told.names))),
            "relations": {**told.relations, **policy.relations},
            "classes": {**told.classes, **policy.classes},
            "tables": (*policy.tables, *told.tables),
            "triples": tuple(dict.fromkeys((*policy.triples, *told.triples))),
            "skip": (*policy.skip, *told.skip),
            "public": PublicPolicy(
                files=tuple(map(bare_name, public)), bridges=dict.fromkeys(_bridges(raw, beside, policy), BY_LABEL)
            ),
        }
    )
    return join_public(raw, beside, both), both


def _of_files(triples: Iterable[TriplesPolicy], files: Iterable[Path]) -> tuple[TriplesPolicy, ...]:
    names = {*map(bare_name, files)}
    return tuple(each for each in triples if each.file is None or each.file in names)


def _with_things(raw: RawGraph, policy: Policy, public: Container[str]) -> tuple[TablePolicy, ...]:
    """Returns the tables with a concept for each column whose texts are called like public things, none if there is
    no such column. `public`: what public things are called.
    """
    chosen = {
        (table.file, name): concept_of(settings.label(name))
        for table in policy.tables
        for name, settings in table.columns.items()
        if settings.kind is ValueKind.TEXT and not (settings.concept or settings.table or settings.is_name)
        if _are_many(*_shared_texts(raw, table.relation_iri(name), public))
    }
    return tuple(
        table.model_copy(update={"columns": {
            name: settings.model_copy(update={"concept": chosen.get((table.file, name), settings.concept)})
            for name, settings in table.columns.items()
        }})
        for table in policy.tables if chosen
    )  # fmt: skip


def _shared_texts(raw: RawGraph, relation: str, public: Container[str]) -> tuple[int, int]:
    """Returns how many different texts of a relation are what public things are called, and how many there are."""
    known = [each for each in np.unique(raw.predicates).tolist() if raw.text(each) == relation]
    rows = np.unique(raw.objects[np.isin(raw.predicates, known)]).tolist()
    texts = {normalise(raw.literal(each).lexical).text for each in rows if raw.kinds()[each] in _TEXTS}
    return sum(text in public for text in texts), len(texts)


def _are_many(same: int, of: int) -> bool:
    return same >= max(MIN_BRIDGED, MIN_SHARE_BRIDGED * of)


def _bridges(private: RawGraph, public: RawGraph, policy: Policy) -> list[str]:
    found = []
    for kind, things in kinds_of_things(private, policy).items():
        same = shared_names(private, public, policy, things)
        if _are_many(len(same), len(things)):
            found.append(kind)
    return found
