"""Plan: what a wish to forget would take out, in counts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from kg_store.catalog import PrivateGraph
from kg_store.going import Going
from kg_store.terms import Mids, NodeKind, ValueKind, as_mids
from kg_store.walking import concept_of, kind_of


@dataclass(frozen=True, slots=True)
class Plan:
    """What a wish would take out, in counts. `around`: the things that it has facts with and that stay, by concept.

    `mentions`: names and values of others in which one of its names stands; `shared`: its names that others have too.
    """

    things: int
    names: int
    facts: int
    values: int
    mediators: int
    alone: int
    conversations: int
    requests: int
    mentions: int
    shared: int
    around: dict[str, int]

    def sentences(self) -> list[str]:
        around = ", ".join(f"{count} of kind {kind}" for kind, count in sorted(self.around.items()))
        told = [
            f"{self.things} things go, with {self.names} names and {self.facts} facts",
            f"with them {self.values} values that nobody else has, {self.mediators} mediators that joined them to "
            f"others, {self.alone} things that hung on them alone",
            f"{self.conversations} conversations in which they were met, and the texts of {self.requests} requests",
        ]
        if around:
            told.append(f"what they had facts with stays: {around}")
        if self.mentions:
            told.append(f"{self.mentions} names or values of others hold one of the names, and stay as they are")
        if self.shared:
            told.append(f"{self.shared} of the names are others' too, and stay for them")
        return told


def spoken(opened: PrivateGraph, mids: Mids) -> tuple[list[str], list[str]]:
    """The names of these things, and the texts among their values; numbers and dates tell nobody apart."""
    records = opened.vault.records(mids).values()
    names = [name for record in records for name in record.names]
    texts = [record.lexical for record in records if record.lexical and record.value_kind is ValueKind.TEXT]
    return list(dict.fromkeys(names)), list(dict.fromkeys(texts))


def around(opened: PrivateGraph, going: Going) -> dict[str, int]:
    blind = opened.blind
    tails = [blind.neighbours(going.chosen, hop).tails for hop in blind.relations_of(going.chosen)]
    stay = {int(mid) for some in tails for mid in some} - {*going.mids.tolist()}
    things = [as_mids([mid]) for mid in stay]
    return dict(Counter(concept_of(blind, mid) for mid in things if kind_of(blind, mid) is NodeKind.ENTITY))
