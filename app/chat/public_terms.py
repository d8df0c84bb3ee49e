"""Lists the public things and values of a joined graph that a prompt may show by name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Final

from app.strategies.base import PublicName
from kg_store.names.index import MAX_VALUE_WORDS
from kg_store.open_graphs import PrivateGraph
from kg_store.storage.vault import VaultRecord, readable_name
from kg_store.terms import Mid, NodeKind, Signature, ValueKind, as_mids

MAX_NAMES: Final = 2_000
"""The most names that are kept of a graph: whole kinds, those with the fewest members first, since a question names
few members of a large kind without being linked to them. Chosen by hand."""


def public_names(graph: PrivateGraph, is_public_term: Callable[[str], bool]) -> tuple[PublicName, ...]:
    """Returns the names of things and texts of which only public files tell, by kind; once for each version.

    `is_public_term`: the guard's word for the graph, so that no name in which a private one stands is among them.
    """
    known = graph.blind.schema.derived.get(public_names)
    if not isinstance(known, tuple):
        known = graph.blind.schema.derived[public_names] = tuple(_names(graph, is_public_term))
    return known


def _names(graph: PrivateGraph, is_public_term: Callable[[str], bool]) -> Iterator[PublicName]:
    left = MAX_NAMES
    for kind, mids in sorted(_by_kind(graph).items(), key=lambda each: (len(each[1]), each[0])):
        left -= len(mids)
        if left < 0:
            return
        for mid, record in sorted(graph.vault.records(mids).items()):
            words = readable_name(record) if _may_be_named(record) else ""
            if words and is_public_term(words):
                yield PublicName(Mid(mid), kind, words, record.kind is NodeKind.VALUE)


def _by_kind(graph: PrivateGraph) -> dict[str, list[int]]:
    """Maps the kind of things, and the label of the relation that leads to texts, to public nodes."""
    schema, found = graph.blind.schema, defaultdict[str, list[int]](list)
    mids = as_mids(sorted(graph.public_nodes))
    for mid, at in zip(mids.tolist(), graph.blind.signatures_of(mids).tolist(), strict=True):
        kind = "" if at < 0 else _kind_of(graph, schema.signatures[at])
        if kind:
            found[kind].append(mid)
    return found


def _kind_of(graph: PrivateGraph, signature: Signature) -> str:
    schema = graph.blind.schema
    if signature.kind is NodeKind.ENTITY:
        return str(schema.concepts[signature.id])
    leading = sorted(hop.relation for hop in signature.hops if hop.inverse)
    return schema.relations[leading[0]].label if leading and signature.kind is NodeKind.VALUE else ""


def _may_be_named(record: VaultRecord) -> bool:
    if record.kind is not NodeKind.VALUE:
        return bool(record.names)
    text = record.lexical or ""
    return not record.hidden and record.value_kind is ValueKind.TEXT and len(text.split()) <= MAX_VALUE_WORDS
