"""Distinguishes things that share a name, for the asker only: by one relation in which all of them differ."""

from __future__ import annotations

from collections.abc import Sequence

from app.privacy.pseudonyms import PseudonymTable
from client_sdk.protocol import Fact
from kg_store.graph.blind_graph import BlindGraph
from kg_store.graph.traversal import concept_of, kind_of
from kg_store.terms import Hop, Mid, NodeKind, ValueKind, as_mids

# A date distinguishes people best; plain text comes last, because it may be long.
_ORDER = (ValueKind.DATE, None, ValueKind.NUMBER, ValueKind.TRUTH, ValueKind.TEXT)


def hints_for(choices: Sequence[str], graph: BlindGraph, table: PseudonymTable) -> list[Fact]:
    """Returns one fact for each of `choices`, all by the same relation and each with another tail; empty if there is
    none.

    Only relations that the policy shows are used.
    """
    mids = [mid for choice in choices if (mid := table.entity(choice)) is not None]
    if len(mids) != len(choices):
        return []
    shared = set.intersection(*({*graph.relations_of(as_mids([mid]))} for mid in mids))
    relations = graph.schema.relations
    forwards = sorted((hop for hop in shared if not hop.inverse), key=lambda hop: hop.relation)
    for hop in sorted(forwards, key=lambda hop: _ORDER.index(relations[hop.relation].value_kind)):
        tails = [_only_tail(graph, mid, hop) for mid in mids]
        if None not in tails and len(set(tails)) == len(tails):
            pairs = zip(choices, mids, (tail for tail in tails if tail is not None), strict=True)
            return [_fact(graph, table, choice, mid, hop, tail) for choice, mid, tail in pairs]
    return []


def _only_tail(graph: BlindGraph, mid: Mid, hop: Hop) -> Mid | None:
    tails = graph.neighbours(as_mids([mid]), hop).tails
    if len(tails) != 1 or kind_of(graph, tails) is NodeKind.MEDIATOR:
        return None
    return Mid(int(tails[0]))


def _fact(graph: BlindGraph, table: PseudonymTable, choice: str, mid: Mid, hop: Hop, tail: Mid) -> Fact:
    is_value = kind_of(graph, as_mids([tail])) is NodeKind.VALUE
    return Fact(
        head=choice,
        head_concept=concept_of(graph, as_mids([mid])),
        path=[graph.schema.label(hop)],
        tail=table.of_value(tail) if is_value else table.of_entity(tail),
        tail_concept=concept_of(graph, as_mids([tail])),
    )
