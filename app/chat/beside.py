"""The public graphs beside the one that is asked: which a question may use, and their facts, kept for each version.

Promise: nothing here changes how a private graph is read or guarded. Its names, its lexicon and its guard are the same
with and without a public graph beside it (docs/decisions/0091).
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np

from app.accounts.api_keys import ROLE_MARK, Caller
from app.strategies.base import BesideGraph
from kg_store.catalog import NOT_PUBLIC, Catalog, PrivateGraph
from kg_store.errors import NotPublicError, UnknownGraphError
from kg_store.graph.public_facts import PublicFacts, Triple
from kg_store.storage.vault import VaultRecord, readable_name
from kg_store.terms import Hop, SignatureId

__all__ = ["BesideGraph", "UnknownBesideError", "public_facts_of", "require_beside"]

MAX_KEPT: Final = 4
"""The most public graphs whose facts are kept in memory. Chosen by hand."""


class UnknownBesideError(UnknownGraphError):
    """A question names a graph to stand beside the asked one that is not there for its key."""


def require_beside(catalog: Catalog, caller: Caller, named: Iterable[str]) -> tuple[str, ...]:
    """Returns the public graphs that a question names, each as `NAME`, or `NAME#ROLE` if the caller sees it in a role.

    Raises UnknownBesideError, NotPublicError.
    """
    named = tuple(dict.fromkeys(named))
    for name in named:
        if not caller.may_ask(name):
            raise UnknownBesideError
        try:
            catalog.require_public(caller.tenant, name)
        except UnknownGraphError:
            raise UnknownBesideError from None
    roles = ((name, caller.role_in(name)) for name in named)
    return tuple(name if role is None else f"{name}{ROLE_MARK}{role}" for name, role in roles)


def public_facts_of(catalog: Catalog, tenant: str, graphs: Iterable[str]) -> tuple[BesideGraph, ...]:
    """Returns the facts of each public graph, named as by `require_beside`; reading one takes seconds the first time.

    The facts of at most MAX_KEPT graphs are kept, each of one version. Raises UnknownGraphError, and NotPublicError if
    one is no longer public.
    """
    return tuple(_KEPT.of(catalog, tenant, graph) for graph in graphs)


class _KeptFacts:
    """The facts of the graphs used last, one version of each. Safe to use from several threads."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, str], tuple[str, BesideGraph]] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, catalog: Catalog, tenant: str, graph: str) -> BesideGraph:
        name, _, role = graph.partition(ROLE_MARK)
        opened = catalog.open_as(tenant, name, role or None)
        if not opened.is_public:
            raise NotPublicError(NOT_PUBLIC)
        with self._lock:  # A second question waits, instead of reading the same facts too.
            version, found = self._kept.get((tenant, graph), ("", None))
            if found is None or version != opened.version:
                origin = opened.policy.public
                found = BesideGraph(name, origin.licence, origin.source, PublicFacts.of(_triples_of(opened)))
            self._kept[tenant, graph] = opened.version, found
            self._kept.move_to_end((tenant, graph))
            while len(self._kept) > MAX_KEPT:
                self._kept.popitem(last=False)
        return found


_KEPT: Final = _KeptFacts()


def _triples_of(opened: PrivateGraph) -> Iterator[Triple]:
    """Yields each fact between two things or values with a name, unless the policy masks its relation."""
    schema = opened.blind.schema
    mids = opened.blind.members([SignatureId(at) for at in range(len(schema.signatures))])
    words = {mid: readable_name(record) for mid, record in opened.vault.records(mids).items() if _is_named(record)}
    for relation in schema.relations:
        if relation.mask is not None:
            continue
        edges = opened.blind.neighbours(mids, Hop(relation.id, False))
        for head, tail in np.stack((edges.heads, edges.tails), axis=1).tolist():
            if head in words and tail in words:
                yield words[head], relation.label, words[tail]


def _is_named(record: VaultRecord) -> bool:
    return not record.hidden and bool(record.names or record.lexical)
