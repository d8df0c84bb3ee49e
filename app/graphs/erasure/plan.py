"""The plan of an erasure: what it would remove, in counts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from app.graphs.erasure.residue_scan import ResidueQuery, ResidueReport
from kg_store.catalog import PrivateGraph
from kg_store.graph.removal import RemovalSet
from kg_store.graph.traversal import concept_of, kind_of
from kg_store.storage.versions import Erasure
from kg_store.terms import Mids, NodeKind, ValueKind, as_mids


@dataclass(frozen=True, slots=True)
class ErasurePlan:
    """Everything that an erasure would remove, in counts.

    `around`: things that stay and share facts with it, by concept. `mentions`: names and values of others that contain
    one of its names; `shared`: its names that others have too.
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


def names_of_removed(opened: PrivateGraph, mids: Mids) -> tuple[list[str], list[str]]:
    """Returns the names of these things, and the texts among their values; numbers and dates do not
    identify anybody.
    """
    records = opened.vault.records(mids).values()
    names = [name for record in records for name in record.names]
    texts = [record.lexical for record in records if record.lexical and record.value_kind is ValueKind.TEXT]
    return list(dict.fromkeys(names)), list(dict.fromkeys(texts))


def affected_neighbours(opened: PrivateGraph, going: RemovalSet) -> dict[str, int]:
    blind = opened.blind
    tails = [blind.neighbours(going.chosen, hop).tails for hop in blind.relations_of(going.chosen)]
    stay = {int(mid) for some in tails for mid in some} - {*going.mids.tolist()}
    things = [as_mids([mid]) for mid in stay]
    return dict(Counter(concept_of(blind, mid) for mid in things if kind_of(blind, mid) is NodeKind.ENTITY))


def summarise_erasure(erasure: Erasure, met: int, requests: int, uploads: int) -> list[str]:
    return [
        f"{len(erasure.chosen)} things are forgotten, {len(erasure.mids)} with what was theirs alone; "
        f"{met} conversations and the texts of {requests} requests went with them",
        *([f"{uploads} files of an upload that had not ended were deleted"] if uploads else []),
    ]


def describe_scan(traces: ResidueReport, sought: ResidueQuery, shared: int) -> list[str]:
    told = [
        f"looked for {len(sought.texts)} names and texts: in 0 of {traces.opened} sealed rows, opened, and in 0 of "
        f"{traces.files} files ({traces.bytes} bytes) of the data folder"
    ]
    if sought.passed_over:
        told.append(f"{sought.passed_over} of its names are everyday words, which stand everywhere: not looked for")
    if shared:
        told.append(f"{shared} of its names are others' too, and stay for them: not looked for")
    if traces.others:
        told.append(f"{traces.others} names or values of others hold one of its names, and stay as they are")
    if traces.elsewhere:
        told.append(f"{traces.elsewhere} rows of the tenant's other graphs hold one of its names")
    return told
