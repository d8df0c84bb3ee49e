"""Proposes the policy of a private graph with the files of a public graph beside it, and the bridges between them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from kg_store.errors import LoadError
from kg_store.proposals.propose import read_and_propose
from kg_store.sources.policy import BY_LABEL, Policy, PublicPolicy, TriplesPolicy
from kg_store.sources.public_part import join_public, kinds_of_things, shared_names
from kg_store.sources.raw_graph import RawGraph
from kg_store.sources.reader import NO_PUBLIC_FILE
from kg_store.sources.table_files import bare_name

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

    Kinds of private things of which many are called like one public thing are bridged by their labels. Raises
    LoadError.
    """
    raw, policy = read_and_propose(private, triples=_of_files(triples, private))
    beside, told = read_and_propose(public, triples=_of_files(triples, public))
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


def _bridges(private: RawGraph, public: RawGraph, policy: Policy) -> list[str]:
    found = []
    for kind, things in kinds_of_things(private, policy).items():
        same = shared_names(private, public, policy, things)
        if len(same) >= max(MIN_BRIDGED, MIN_SHARE_BRIDGED * len(things)):
            found.append(kind)
    return found
