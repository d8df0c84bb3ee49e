"""Lists the public things and values of a joined graph that a prompt may show by name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Final, cast

from app.strategies.base import PublicName
from kg_store.names.index import MAX_VALUE_WORDS
from kg_store.names.name_words import NameWords
from kg_store.open_graphs import PrivateGraph
from kg_store.storage.vault import VaultRecord, readable_name
from kg_store.terms import Mid, NodeKind, Signature, ValueKind, as_mids

MAX_NAMES: Final = 2_000
"""The most names that are kept of a graph: whole kinds, those with the fewest members first, since a question names
few members of a large kind without being linked to them. Chosen by hand."""


def public_names(
    graph: PrivateGraph, names: NameWords, is_public_term: Callable[[str], bool]
) -> tuple[PublicName, ...]:
    """Returns the names of things and texts of which only public files tell, by kind.

    `is_public_term`: the guard's word for the graph, so that no name in which a private one stands is among them. They
    are found once for each version, and again when `names`, those of the tenant's graphs, are others. A kind that
    private things have too is left out whole: who knows the public files could tell by what is missing which of its
    things stand in the private ones.
    """
    derived = graph.blind.schema.derived
    known = cast(tuple[NameWords, tuple[PublicName, ...]] | None, derived.get(public_names))
    if known is None or known[0] is not names:
        known = names, tuple(_names(graph, is_public_term))
        derived[public_names] = known
    return known[1]


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
    mids, private = as_mids(sorted(graph.public_nodes)), _private_kinds(graph.whole or graph)
    for mid, at in zip(mids.tolist(), graph.blind.signatures_of(mids).tolist(), strict=True):
        kind = "" if at < 0 else _kind_of(graph, schema.signatures[at])
        if kind and private.isdisjoint((kind, *schema.signatures[at].classes)):
            found[kind].append(mid)
    return found


def _private_kinds(graph: PrivateGraph) -> frozenset[str]:
    """Returns the concepts and classes that things have of which private files tell."""
    schema, found = graph.blind.schema, set[str]()
    for each in (each for each in schema.signatures if each.kind is NodeKind.ENTITY):
        if not graph.public_nodes.issuperset(graph.blind.members([each.id]).tolist()):
            found |= {str(schema.concepts[each.id]), *each.classes}
    return frozenset(found)


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
