"""Finds the kinds of a graph: those of named things, and those of nodes without a name (rows, events)."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from kg_store.graph.adjacency import Flags
from kg_store.graph.blind_graph import BlindGraph
from kg_store.terms import NO_MIDS, Mids, NodeKind, Schema, Signature, SignatureId, as_mids, cached_by_version


@cached_by_version
def kinds_of(schema: Schema) -> tuple[str, ...]:
    """Returns the concepts of entities, and all classes of the graph; sorted and distinct."""
    named = (s for s in schema.signatures if s.kind is NodeKind.ENTITY)
    classes = {each for signature in schema.signatures for each in signature.classes}
    return tuple(sorted({str(schema.concepts[s.id]) for s in named} | classes))


@cached_by_version
def nameless_kinds(schema: Schema) -> dict[str, list[SignatureId]]:
    """Maps each kind of nameless nodes without a class to its signatures.

    Such a kind has the words of the relations that lead to it: rows that drivers lead to by `turn` are turns. Nodes
    to which nothing leads belong to the only kind that has all their relations, if there is one.
    """
    found: defaultdict[str, list[SignatureId]] = defaultdict(list)
    unnamed = [each for each in schema.signatures if each.kind is NodeKind.MEDIATOR and not each.classes]
    taken = frozenset(kinds_of(schema))
    for signature in unnamed:
        led = sorted({schema.relations[hop.relation].label for hop in signature.hops if hop.inverse})
        if led:
            name = " or ".join(led)
            found[f"{name} row" if name in taken else name].append(signature.id)
    for signature in unnamed:
        if not any(hop.inverse for hop in signature.hops):
            fitting = [kind for kind, ids in found.items() if _has_all(schema, ids, signature)]
            if len(fitting) == 1:
                found[fitting[0]].append(signature.id)
    return dict(found)


@cached_by_version
def kinds_of_rows(schema: Schema) -> dict[str, list[SignatureId]]:
    """Returns those of `nameless_kinds` that are not counted under a class of the graph already."""
    named = {str(schema.concepts[each.id]) for each in schema.signatures if each.kind is NodeKind.ENTITY}
    classes = {*kinds_of(schema)} - named
    kinds = nameless_kinds(schema).items()
    return {kind: ids for kind, ids in kinds if not all(str(schema.concepts[at]) in classes for at in ids)}


@cached_by_version
def row_kind_of(schema: Schema, signatures: frozenset[int]) -> str:
    """Returns the kind of rows that all of `signatures` belong to; empty if there is none."""
    return next((kind for kind, ids in kinds_of_rows(schema).items() if signatures and signatures <= {*ids}), "")


def _has_all(schema: Schema, ids: list[SignatureId], signature: Signature) -> bool:
    return set(signature.hops) <= {hop for each in ids for hop in schema.signatures[each].hops}


def only_referred_to(graph: BlindGraph, mids: Mids) -> Mids:
    """Returns those of `mids` of which nothing is said but that others lead to them, if others have a declared class.

    An excerpt of a vocabulary refers to many concepts that it does not hold.
    """
    found = graph.signatures_of(mids)
    mids, found = mids[found >= 0], found[found >= 0]
    is_declared = np.array([bool(each.classes or each.masked) for each in graph.schema.signatures])
    return as_mids(mids[reference_flags(graph.schema)[found]]) if is_declared[found].any() else NO_MIDS


@cached_by_version
def reference_flags(schema: Schema) -> Flags:
    """Returns a flag for each signature: True if its things have no class and no hop but those that lead to them."""
    flags = [
        each.kind is NodeKind.ENTITY and not (each.classes or each.masked) and all(hop.inverse for hop in each.hops)
        for each in schema.signatures
    ]
    return np.array(flags or [False], dtype=np.bool_)
