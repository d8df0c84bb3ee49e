"""Forgetter: takes an entity out of a graph and out of everything that is kept of it, and looks whether it is gone."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Final

from sqlalchemy import Engine

from app.conversations import ConversationStore
from app.graph_admin import summary_of
from app.jobs import Loaded, Progress, Work
from app.privacy.ledger_search import requests_about
from app.privacy.ledger_upkeep import LedgerUpkeep
from app.problems import AmbiguousName, ForgetUnfinished, UnknownName
from app.traces_left import Sought, Traces, look_for
from kg_store.catalog import Catalog, NameConcepts, PrivateGraph
from kg_store.forgotten_rows import Erasure, Forgetting, ForgottenRows
from kg_store.going import Going
from kg_store.keys import MasterKey
from kg_store.normalising import normalise
from kg_store.schema_concepts import phrases_of
from kg_store.terms import Hop, LoadError, Mids, NodeKind, ValueKind, as_mids
from kg_store.vault import VaultRecord, readable_name
from kg_store.walking import concept_of, kind_of

PATIENCE_S: Final = 180.0
"""How long to wait for questions that still read the version before: as long as one may take, and more."""

_LOOK_AGAIN_S: Final = 0.5
_TRIES: Final = 5
_FACTS_OF_A_CHOICE: Final = 4
_UNTOUCHED_S: Final = 600.0


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several things of a name: `relations` tell what is known of it, `facts` in real words, for the owner."""

    id: str
    concept: str
    relations: tuple[str, ...]
    facts: tuple[str, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be forgotten: by a name, or an id in the source. `choice` tells things of one name apart.

    `kinds`: neighbours of these concepts go too; `mentions`: texts of others go in which one of its names stands.
    """

    name: str = field(repr=False)
    choice: str | None = None
    kinds: tuple[str, ...] = ()
    mentions: bool = False


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


class Forgetter:
    """Promise: when `forgetting` ends without an error, nothing that the master key opens in the database and data
    folder names what was forgotten, no process serves it, and no load of its source brings it back.

    Condition: every replica shares the data folder. Limit: backups, the source itself, what callers have been
    answered, and blocks of the disk that the database or file system has freed without overwriting them.
    """

    def __init__(
        self,
        catalog: Catalog,
        conversations: ConversationStore,
        upkeep: LedgerUpkeep,
        engine: Engine,
        master: MasterKey,
        folder: Path,
        incoming: Path,
        name_concepts: NameConcepts,
    ) -> None:
        self._catalog, self._conversations, self._upkeep = catalog, conversations, upkeep
        self._engine, self._master, self._folder, self._incoming = engine, master, folder, incoming
        self._name_concepts = name_concepts
        self._rows = ForgottenRows(engine, master)

    def choices(self, tenant: str, graph: str, name: str) -> list[Choice]:
        """The things that `name` may mean, in a lasting order; none where there is none. Raises UnknownGraph."""
        opened = self._catalog.open(tenant, graph)
        return [self._choice(opened, mid) for mid in self._named(opened, name)]

    def plan(self, tenant: str, graph: str, wish: Wish) -> Plan:
        """What would go. Raises UnknownGraph, UnknownName, AmbiguousName, LoadError."""
        opened = self._catalog.open(tenant, graph)
        going = self._catalog.going_with(opened, self._chosen(opened, wish))
        names, texts = _spoken(opened, going.mids)
        met = self._conversations.that_hold(
            tenant, graph, _set(going.mids), (*names, *texts), opened.blind.schema
        )  # fmt: skip
        sought = Sought.of((*names, *texts), opened.public)
        requests = requests_about(
            self._engine, self._master, tenant, set(met), lambda plain: sought.is_in(_text(plain))
        )
        own = _set(going.mids)
        return Plan(
            things=len(going.chosen),
            names=len(names),
            facts=going.facts,
            values=going.values,
            mediators=going.mediators,
            alone=going.alone,
            conversations=len(met),
            requests=len(requests),
            mentions=len(opened.names.holding(sought.texts) - own),
            shared=sum(bool(set(opened.names.named(name)) - own) for name in names),
            around=_around(opened, going),
        )

    def forgetting(self, tenant: str, graph: str, wish: Wish | None, wait_s: float = PATIENCE_S) -> Work:
        """The work of one erasure, to be run in a thread; what was begun earlier comes first. Without a wish, that
        alone. Raises UnknownGraph, UnknownName, AmbiguousName at once."""
        begun = self._rows.begun(tenant, graph)
        opened = self._catalog.open(tenant, graph)
        if wish is None and not begun:
            raise UnknownName
        chosen: Sequence[int] = ()
        if wish is not None and not self.goes_on(tenant, graph, wish.name):
            chosen = self._chosen(opened, wish)
        del opened

        def forget(progress: Progress) -> Loaded:
            if len(chosen):
                begun.append(self._rows.begin(tenant, graph, [int(mid) for mid in chosen]))
            notes = [note for erasure in begun for note in self._carry_out(erasure, wait_s, progress)]
            info = next(each for each in self._catalog.graphs(tenant) if each.name == graph)
            return Loaded(summary_of(info), None, tuple(notes))

        return forget

    def goes_on(self, tenant: str, graph: str, name: str) -> bool:
        """Whether an erasure of that name was begun: by now its name may be known nowhere else."""
        names = {normalise(each).text for erasure in self._rows.begun(tenant, graph) for each in erasure.names}
        return normalise(name).text in names

    def past(self, tenant: str, graph: str) -> list[Forgetting]:
        """What was forgotten in a graph, oldest first: times and counts."""
        return self._rows.past(tenant, graph)

    def lift(self, tenant: str, graph: str, erasure_id: str) -> int:
        """Lets what an erasure has taken out in again, with the next load; how many things."""
        return self._rows.lift(tenant, graph, erasure_id)

    def _carry_out(self, erasure: Erasure, wait_s: float, progress: Progress) -> list[str]:
        """Each step may be done twice: a killed one is done again."""
        tenant, graph = erasure.tenant, erasure.graph
        erasure = self._taken_out(erasure, progress)
        self._catalog.cut_out(tenant, graph, erasure.mids)
        progress("waiting for questions under way", 50.0)
        is_held = self._wait(tenant, graph, wait_s)
        opened = self._catalog.open(tenant, graph)
        sought = self._sought(opened, erasure)
        progress("conversations and ledger", 60.0)
        met, requests = self._unsaid(opened, erasure, sought)
        uploads = self._delete_leftovers()
        self._compact()
        progress("looking for traces", 70.0)
        traces = self._look(opened, erasure, sought, progress)
        if is_held:
            raise ForgetUnfinished(
                "a running service still reads the version before; what it was asked of it is gone from the disk"
            )
        if not traces.is_clean:
            raise ForgetUnfinished(
                f"traces are left: {traces.holding} of {traces.opened} sealed rows, {traces.raw} of {traces.files} "
                f"files; {traces.shut} rows do not open"
            )
        self._rows.end(erasure)
        shared = sum(bool(opened.names.named(name)) for name in erasure.names)
        return [*_told(erasure, met, requests, uploads), *_scanned(traces, sought, shared)]

    def _taken_out(self, erasure: Erasure, progress: Progress) -> Erasure:
        """The graph without it, whatever version is the current one by now."""
        for attempt in range(_TRIES):
            opened = self._catalog.open(erasure.tenant, erasure.graph)
            going = self._catalog.going_with(opened, erasure.chosen)
            if not len(going.chosen):
                return erasure
            names, texts = _spoken(opened, going.mids)
            erasure = replace(
                erasure,
                mids=tuple(sorted({*erasure.mids, *going.mids.tolist()})),
                names=tuple(dict.fromkeys((*erasure.names, *names))),
                texts=tuple(dict.fromkeys((*erasure.texts, *texts))),
            )
            # Before the graph forgets them: whoever goes on after a kill must know what to look for.
            self._rows.keep(erasure)
            try:
                self._catalog.without(
                    opened, going, self._name_concepts, lambda step, done: progress(step, 50.0 * done)
                )
            except LoadError:
                if attempt == _TRIES - 1 or self._catalog.open(erasure.tenant, erasure.graph) is opened:
                    raise
        raise ForgetUnfinished("the graph is loaded again and again meanwhile")

    def _unsaid(self, opened: PrivateGraph, erasure: Erasure, sought: Sought) -> tuple[int, int]:
        """Conversations that met it, and what was sent and replied in them, or holds a name; how many of each."""
        met = self._conversations.that_hold(
            erasure.tenant, erasure.graph, erasure.mids, (*erasure.names, *erasure.texts), opened.blind.schema
        )
        requests = requests_about(
            self._engine, self._master, erasure.tenant, set(met), lambda plain: sought.is_in(_text(plain))
        )
        if requests:
            self._upkeep.erase(erasure.tenant, requests)
        # Last: what they met tells which requests are theirs.
        return self._conversations.forget(erasure.tenant, met), len(requests)

    def _look(self, opened: PrivateGraph, erasure: Erasure, sought: Sought, progress: Progress) -> Traces:
        traces = look_for(
            self._engine, self._master, self._folder, erasure.tenant, erasure.graph, erasure.mids, sought,
            lambda opened_rows: progress(f"looking for traces: {opened_rows} rows", 70.0) if opened_rows % 1000 == 0
            else None,
        )  # fmt: skip
        gone = set(erasure.mids)
        traces.holding += any(gone.intersection(hit.mids) for text in sought.texts for hit in opened.names.find(text))
        traces.holding += any(sought.is_in(phrase) for phrase in phrases_of(opened.blind.schema))
        traces.holding += bool((opened.blind.signatures_of(as_mids(list(gone))) >= 0).any())
        return traces

    def _sought(self, opened: PrivateGraph, erasure: Erasure) -> Sought:
        """Its names and texts but for those that somebody else has."""
        own = [name for name in erasure.names if not opened.names.named(name)]
        return Sought.of((*own, *erasure.texts), opened.public)

    def _wait(self, tenant: str, graph: str, wait_s: float) -> bool:
        """Whether somebody still reads an older version when the time is over."""
        until = time.monotonic() + wait_s
        self._catalog.let_go()
        while is_held := self._catalog.is_held(tenant, graph):
            if time.monotonic() >= until:
                break
            time.sleep(_LOOK_AGAIN_S)
        return is_held

    def _delete_leftovers(self) -> int:
        """Uploads that nobody has touched for a while: their load was killed, and they lie there in clear."""
        old = time.time() - _UNTOUCHED_S
        left = [path for path in self._incoming.rglob("*") if path.is_file() and path.stat().st_mtime < old]
        for path in left:
            path.unlink(missing_ok=True)
        return len(left)

    def _compact(self) -> None:
        """SQLite's log of changes still has the pages as they were; PostgreSQL's is its administrator's."""
        if self._engine.dialect.name == "sqlite":
            with self._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")

    def _chosen(self, opened: PrivateGraph, wish: Wish) -> list[int]:
        named = self._named(opened, wish.name)
        if wish.choice is not None:
            named = [mid for mid in named if self._handle(mid) == wish.choice]
        if not named:
            raise UnknownName
        if len(named) > 1:
            raise AmbiguousName(len(named))
        chosen = [*named, *_of_kinds(opened, named, wish.kinds)]
        if wish.mentions:
            names = [name for record in opened.vault.records(named).values() for name in record.names]
            chosen += _texts_with(opened, names)
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
        """What tells a thing apart outside, where no MID may be."""
        key = self._master.derived("choice of things")
        return blake2b(mid.to_bytes(8, "big"), key=key, digest_size=4).hexdigest()


def _spoken(opened: PrivateGraph, mids: Mids) -> tuple[list[str], list[str]]:
    """The names of these things, and the texts among their values; numbers and dates tell nobody apart."""
    records = opened.vault.records(mids).values()
    names = [name for record in records for name in record.names]
    texts = [record.lexical for record in records if record.lexical and record.value_kind is ValueKind.TEXT]
    return list(dict.fromkeys(names)), list(dict.fromkeys(texts))


def _of_kinds(opened: PrivateGraph, mids: Sequence[int], kinds: Sequence[str]) -> list[int]:
    """Neighbours of these concepts. Raises UnknownName where there is none of one of them."""
    blind, found = opened.blind, list[int]()
    around = [tail for hop in blind.relations_of(as_mids(mids)) for tail in blind.neighbours(as_mids(mids), hop).tails]
    concepts = {int(mid): concept_of(blind, as_mids([int(mid)])) for mid in as_mids(around)}
    for kind in kinds:
        of_kind = [mid for mid, concept in concepts.items() if concept == kind]
        if not of_kind:
            raise UnknownName
        found += of_kind
    return found


def _texts_with(opened: PrivateGraph, names: Sequence[str]) -> list[int]:
    """Values of text in which one of `names` stands."""
    mids = sorted(opened.names.holding(names))
    records = opened.vault.records(mids)
    return [mid for mid in mids if mid in records and records[mid].value_kind is ValueKind.TEXT]


def _around(opened: PrivateGraph, going: Going) -> dict[str, int]:
    blind = opened.blind
    tails = [blind.neighbours(going.chosen, hop).tails for hop in blind.relations_of(going.chosen)]
    stay = {int(mid) for some in tails for mid in some} - _set(going.mids)
    things = [as_mids([mid]) for mid in stay]
    return dict(Counter(concept_of(blind, mid) for mid in things if kind_of(blind, mid) is NodeKind.ENTITY))


def _fact(opened: PrivateGraph, mid: int, hop: Hop) -> str:
    tails = opened.blind.neighbours(as_mids([mid]), hop).tails
    record: VaultRecord | None = opened.vault.records(tails[:1]).get(int(tails[0]))
    more = f" and {len(tails) - 1} more" if len(tails) > 1 else ""
    return f"{opened.blind.schema.label(hop)}: {readable_name(record) if record else ''}{more}"


def _set(mids: Mids) -> set[int]:
    return set(mids.tolist())


def _text(plain: bytes) -> str:
    return plain.decode("utf-8", "replace")


def _told(erasure: Erasure, met: int, requests: int, uploads: int) -> list[str]:
    return [
        f"{len(erasure.chosen)} things are forgotten, {len(erasure.mids)} with what was theirs alone; "
        f"{met} conversations and the texts of {requests} requests went with them",
        *([f"{uploads} files of an upload that had not ended were deleted"] if uploads else []),
    ]


def _scanned(traces: Traces, sought: Sought, shared: int) -> list[str]:
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
