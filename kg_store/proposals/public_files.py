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

NOTHING_PRIVATE: Final = "all files are public: a public graph stands beside a private one"
MIN_BRIDGED: Final = 3
MIN_SHARE_BRIDGED: Final = 0.3
"""A kind is bridged if so many of its things, and this share of them, are called like one public thing. By hand."""


def is_left_open(policy: Policy | None) -> bool:
    """Returns True if a policy says which files are public, and nothing else: then the rest is proposed."""
    return policy is not None and policy.public.files != () and policy == only_public(policy.public.files)


def only_public(files: Iterable[str]) -> Policy:
    """Returns the policy that says which files are public, and nothing else."""
    return Policy(public=PublicPolicy(files=tuple(files)))


def read_left_open(
    sources: Sequence[Path], policy: Policy, triples: tuple[TriplesPolicy, ...] = ()
) -> tuple[RawGraph, Policy]:
    """Returns the triples of the files, and the proposed policy in which those that `policy` lists are public.

    Raises LoadError.
    """
    listed = policy.public.files
    if lacking := set(listed).difference(map(bare_name, sources)):
        raise LoadError(NO_PUBLIC_FILE.format(count=len(lacking)))
    private = [path for path in sources if bare_name(path) not in listed]
    if not private:
        raise LoadError(NOTHING_PRIVATE)
    return read_with_public(private, [path for path in sources if bare_name(path) in listed], triples)


def read_with_public(
    private: Sequence[Path], public: Sequence[Path], triples: tuple[TriplesPolicy, ...] = ()
) -> tuple[RawGraph, Policy]:
    """Returns the triples of all files and a proposed policy, in which the files `public` are of a public graph.

    Kinds of private things of which many are called like one public thing are bridged by their labels. Raises
    LoadError.
    """
    raw, policy = read_and_propose(private, triples=triples)
    beside, told = read_and_propose(public, triples=triples)
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


def _bridges(private: RawGraph, public: RawGraph, policy: Policy) -> list[str]:
    found = []
    for kind, things in kinds_of_things(private, policy).items():
        same = shared_names(private, public, policy, things)
        if len(same) >= max(MIN_BRIDGED, MIN_SHARE_BRIDGED * len(things)):
            found.append(kind)
    return found
