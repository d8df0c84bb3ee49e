"""Finds the things that a request for erasure means, and counts everything that an erasure would remove with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final

from app.graphs.erasure.sealed_rows import ResidueQuery, ResidueReport
from app.graphs.jobs import AmbiguousNameError, UnknownNameError
from kg_store.catalog import Catalog, PrivateGraph
from kg_store.graph.pruning import RemovalSet
from kg_store.graph.traversal import concept_of, kind_of
from kg_store.storage.master_key import MasterKey
from kg_store.storage.vault import VaultRecord, readable_name
from kg_store.storage.versions import Erasure
from kg_store.terms import Hop, Mids, NodeKind, ValueKind, as_mids

_FACTS_OF_A_CHOICE: Final = 4


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several things with the same name, described to the owner by its relations and some facts."""

    id: str
    concept: str
    relations: tuple[str, ...]
    facts: tuple[str, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class ErasureRequest:
    """The thing to erase, by a name or by its id in the source. `choice` selects one of several with the same name.

    `kinds`: neighbours of these concepts are erased too; `mentions`: texts of other things that contain one of its
    names are erased too.
    """

    name: str = field(repr=False)
    choice: str | None = None
    kinds: tuple[str, ...] = ()
    mentions: bool = False


class TargetResolver:
    """Finds the things of one catalog that a request means.

    Where several things have the same name, each gets a handle: an id by which the owner can choose it and which
    reveals no MID. A key derived from `master` computes the handles.
    """

    def __init__(self, catalog: Catalog, master: MasterKey) -> None:
        self._catalog, self._master = catalog, master

    def choices(self, opened: PrivateGraph, name: str) -> list[Choice]:
        """Returns the things that `name` may mean, in a stable order; empty if there is none."""
        return [self._choice(opened, mid) for mid in self._named(opened, name)]

    def chosen(self, opened: PrivateGraph, wish: ErasureRequest) -> list[int]:
        """Returns the MIDs that the request names: the thing, its neighbours of `kinds`, and texts that mention it.

        Raises UnknownNameError, AmbiguousNameError.
        """
        named = self._named(opened, wish.name)
        if wish.choice is not None:
            named = [mid for mid in named if self._handle(mid) == wish.choice]
        if not named:
            raise UnknownNameError
        if len(named) > 1:
            raise AmbiguousNameError(len(named))
        chosen = [*named, *_of_kinds(opened, named, wish.kinds)]
        if wish.mentions:
            names = [name for record in opened.vault.records(named).values() for name in record.names]
            holding = sorted(opened.names.holding(names))
            values = opened.vault.records(holding)
            chosen += [mid for mid in holding if mid in values and values[mid].value_kind is ValueKind.TEXT]
        return chosen

    def _named(self, opened: PrivateGraph, name: str) -> list[int]:
        found = {*opened.names.named(name)}
        by_id = self._catalog.mids_of_id(opened.tenant, opened.name, name.strip())
        found |= {int(mid) for mid in by_id[opened.blind.signatures_of(by_id) >= 0]}
        records = opened.vault.records(sorted(found))
        return sorted(mid for mid in found if records[mid].kind is NodeKind.ENTITY and not records[mid].hidden)

    def _choice(self, opened: PrivateGraph, mid: int) -> Choice:
        mids, schema = as_mids([mid]), opened.blind.schema
        hops = opened.blind.relations_of(mids)
        facts = [_fact(opened, mid, hop) for hop in hops[:_FACTS_OF_A_CHOICE]]
        labels = tuple(schema.label(hop) for hop in hops)
        return Choice(self._handle(mid), concept_of(opened.blind, mids), labels, tuple(facts))

    def _handle(self, mid: int) -> str:
        """Returns an id for a thing that may be shown outside of the service, where no MID may."""
        key = self._master.derived("choice of things")
        return blake2b(mid.to_bytes(8, "big"), key=key, digest_size=4).hexdigest()


def _of_kinds(opened: PrivateGraph, mids: Sequence[int], kinds: Sequence[str]) -> list[int]:
    """Returns the neighbours of `mids` that have one of these concepts.

    Raises UnknownNameError if a concept has none.
    """
    blind, found = opened.blind, list[int]()
    around = [tail for hop in blind.relations_of(as_mids(mids)) for tail in blind.neighbours(as_mids(mids), hop).tails]
    concepts = {int(mid): concept_of(blind, as_mids([int(mid)])) for mid in as_mids(around)}
    for kind in kinds:
        of_kind = [mid for mid, concept in concepts.items() if concept == kind]
        if not of_kind:
            raise UnknownNameError
        found += of_kind
    return found


def _fact(opened: PrivateGraph, mid: int, hop: Hop) -> str:
    tails = opened.blind.neighbours(as_mids([mid]), hop).tails
    record: VaultRecord | None = opened.vault.records(tails[:1]).get(int(tails[0]))
    more = f" and {len(tails) - 1} more" if len(tails) > 1 else ""
    return f"{opened.blind.schema.label(hop)}: {readable_name(record) if record else ''}{more}"


@dataclass(frozen=True, slots=True)
class ErasurePlan:
    """Everything that an erasure would remove, in counts.

    `around`: things that stay and share facts with it, by concept. `alone`: things connected only to what is removed,
    which go too. `mentions`: names and values of other things that contain one of its names. `shared`: its names that
    other things have too. `kept`: versions that are kept beside the live one.
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
    kept: int = 0

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
        if self.kept:
            told.append(f"{self.kept} older versions are written anew without it, or deleted where that is not enough")
        return told


def names_of_removed(opened: PrivateGraph, mids: Mids) -> tuple[list[str], list[str]]:
    """Returns the names of these things, and the text values among them; numbers and dates identify nobody."""
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
