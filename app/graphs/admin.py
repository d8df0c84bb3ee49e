"""GraphAdmin: loads, lists, reports on and deletes graphs, for the HTTP routes and for the command line."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from app.accounts.names_read import NamesRead
from app.chat.conversations import ConversationStore
from app.egress.ledger.retention import LedgerUpkeep
from app.graphs.jobs import JobResult, Progress, summary_of
from app.graphs.previews.previewer import Previewer
from app.graphs.privacy_report import report_of, summarise
from app.graphs.rollback import RollbackPlan, describe_changes, version_of
from app.memory.cases import CaseStore
from app.memory.stated_facts import StatedFactStore
from app.privacy.words.lexicon import is_common
from client_sdk.protocol import GraphPolicy, GraphReport, GraphSummary, GraphVersions, PrivacySummary
from kg_store.catalog import Catalog, NameConcepts
from kg_store.errors import LoadError
from kg_store.formats.files import PackedBounds, require_unpacked_within
from kg_store.graph.anonymity import DEFAULT_K, measure_anonymity
from kg_store.sources.policy import Policy
from kg_store.sources.reader import FORMATS
from kg_store.storage.version_reports import GraphInfo
from kg_store.version_history import VersionChanges, VersionOutline

PROPOSED = "No policy was given, so the proposed one was used: read it, and load again with your own where it errs."
REPLACED = (
    "This replaces the version of {date}: {now_entities} entities instead of {entities}, {now_triples} facts "
    "instead of {triples}."
)
MIN_SHARE_KEPT = 0.5
SMALLER = "More than half of the entities are gone. If that is a mistake, load the files of before again."
KEPT = "The version of before is kept: `arog graph rollback {name}` makes it live again."
READ_IT = "It names what is masked, so it is not kept with this outcome: read it as the policy of the graph."

_SHEET = re.compile(r"(\.(?:xlsx|json|jsonl|ndjson))/([^,:()]+?)(?= have | hold | are | were |[,:()]|$)")

Approve = Callable[[PrivacySummary], None]
"""A function that gets the privacy summary of a version before it goes live; if it raises, the version does not."""


@dataclass(frozen=True, slots=True)
class LoadRequest:
    """The files of a load, and the graph that they become. If `policy` is None, the proposed policy is used."""

    tenant: str
    name: str
    sources: Sequence[Path]
    policy: Policy | None = field(repr=False)
    is_recorded: bool = False
    """True if the outcome is stored unsealed, so that it must not contain file names that may be names of persons."""
    shows_relations: bool = False
    """True if the notes may name any relation that is not masked: they are for the owner's terminal alone."""

    def recorded_names(self) -> dict[str, str]:
        """Returns the neutral name in records (`file-2.csv`) for each file whose own name may be somebody's."""
        found = {}
        for number, path in enumerate(self.sources, start=1):
            packed = ".gz" if path.name.endswith(".gz") else ""
            plain = PurePath(path.name.removesuffix(packed))
            if self.is_recorded and not is_common(plain.stem):
                found[path.name] = f"file-{number}{plain.suffix}{packed}"
        return found


class LoadJob:
    """Runs a load.

    Promise: until `approve` returns, the graph is unchanged; an exception that `progress` raises stops the load.
    """

    def __init__(
        self,
        catalog: Catalog,
        request: LoadRequest,
        name_concepts: NameConcepts,
        packed: PackedBounds,
        k: int,
        approve: Approve,
    ) -> None:
        self._catalog, self._request, self._name_concepts = catalog, request, name_concepts
        self._packed, self._k, self._approve = packed, k, approve

    def run(self, progress: Progress) -> JobResult:
        """Runs the load. Raises LoadError, PolicyError, and what `progress` and `approve` raise."""
        try:
            return self._run(progress)
        except LoadError as error:
            raise LoadError(self._recorded(error.reason), self._recorded(error.file), error.line) from None

    def _recorded(self, text: str) -> str:
        return _renamed(text, self._request.recorded_names()) if self._request.is_recorded else text

    def _run(self, progress: Progress) -> JobResult:
        request = self._request
        require_unpacked_within(request.sources, self._packed)
        with self._catalog.begin_load(lambda step, done: progress(step, 100.0 * done)) as load:
            load.read(list(request.sources), request.policy)
            load.raw.notes = tuple(map(self._recorded, load.raw.notes))
            load.build(request.tenant, request.name)
            load.name(self._name_concepts)
            load.seal()
            privacy = (
                PrivacySummary(k=self._k, profiles=[], warnings=[])  # A public graph has nothing to hide.
                if load.is_public
                else summarise(load.adjacency, load.schema, load.names, self._k)
            )
            self._approve(privacy)
            graphs = self._catalog.graphs(request.tenant)
            before = next((graph for graph in graphs if graph.name == request.name), None)
            outline = self._catalog.history.live_outline(request.tenant, request.name)
            after = VersionOutline.of(load.adjacency, load.schema)
            info = load.swap()
        notes, policy = [*info.notes, *_replacing(before, info)], None
        if outline is not None:
            changes = VersionChanges.between(outline, after)
            notes += describe_changes(changes, request.shows_relations)
        if before is not None and self._catalog.history.keeps(request.tenant, request.name, before.version):
            notes.append(KEPT.format(name=request.name))
        if request.policy is None:
            notes.append(PROPOSED)
            # The result of a job is stored unsealed, so predicates that may be cells must not appear in it.
            if info.masked:
                notes.append(READ_IT)
            else:
                policy = load.policy.to_toml()
        return JobResult(summary_of(info), policy, tuple(notes), privacy)


def _replacing(before: GraphInfo | None, now: GraphInfo) -> tuple[str, ...]:
    """Returns a sentence that compares the former version with the new one; empty if there was no former version.

    A second sentence warns if the new version has far fewer entities.
    """
    if before is None:
        return ()
    told = REPLACED.format(
        date=before.loaded_at.date(),
        entities=f"{before.entities:,}",
        now_entities=f"{now.entities:,}",
        triples=f"{before.triples:,}",
        now_triples=f"{now.triples:,}",
    )
    is_smaller = now.entities < MIN_SHARE_KEPT * before.entities
    return (told, SMALLER) if is_smaller else (told,)


def _renamed(text: str, names: dict[str, str]) -> str:
    """Returns `text` with file names replaced as in `names`, such as "file-2.csv", for a record that is not sealed.

    A sheet's name is left out, unless it is a common word, because it may be a person's name.
    """
    known = names | {name.removesuffix(".gz"): recorded for name, recorded in names.items()}
    if known:
        # In one pass, longest name first, so that a neutral name that was put in is not replaced again.
        longest = sorted(known, key=len, reverse=True)
        text = re.sub("|".join(map(re.escape, longest)), lambda found: known[found[0]], text)
    return _SHEET.sub(lambda found: found[0] if is_common(found[2]) else found[1], text)


ENDINGS = FORMATS


class GraphAdmin:
    """Loads, lists, reports on and deletes the graphs of every tenant."""

    def __init__(
        self,
        catalog: Catalog,
        conversations: ConversationStore,
        cases: CaseStore,
        facts: StatedFactStore,
        names_read: NamesRead,
        upkeep: LedgerUpkeep,
        name_concepts: NameConcepts,
        packed: PackedBounds,
        k: int = DEFAULT_K,
    ) -> None:
        """`k`: reports warn of sets of fewer than `k` entities."""
        self._catalog, self._conversations, self._name_concepts = catalog, conversations, name_concepts
        self._cases, self._facts, self._names_read, self._upkeep = cases, facts, names_read, upkeep
        self._packed, self._k = packed, k
        self.previewer = Previewer(name_concepts, packed)

    def summaries(self, tenant: str) -> list[GraphSummary]:
        reports = self._catalog.graphs(tenant)
        beside = self._catalog.ties.of_tenant(tenant, reports)
        return [summary_of(info, beside.get(info.name, ())) for info in reports]

    def put_beside(self, tenant: str, name: str, public: str) -> None:
        """Puts a public graph beside another graph. Raises UnknownGraphError, NotPublicError."""
        self._catalog.put_beside(tenant, name, public)

    def take_from_beside(self, tenant: str, name: str, public: str) -> None:
        """Ends what `put_beside` began; does nothing if it was not. Raises UnknownGraphError."""
        self._catalog.take_from_beside(tenant, name, public)

    def names(self, tenant: str) -> list[str]:
        return [info.name for info in self._catalog.graphs(tenant)]

    def is_empty(self) -> bool:
        """True if no tenant has a graph."""
        return self._catalog.is_empty()

    def load(
        self,
        tenant: str,
        name: str,
        sources: Sequence[Path],
        policy: str | None,
        approve: Approve = lambda _summary: None,
        is_recorded: bool = False,
        shows_relations: bool = False,
    ) -> LoadJob:
        """Returns a load, to be run at once or as a job (`is_recorded`: its outcome is stored unsealed).

        `shows_relations`: the notes are for the owner's terminal, and may name every relation that is not masked.
        Raises PolicyError at once if `policy` is not valid.
        """
        given = None if policy is None else Policy.from_toml(policy)
        request = LoadRequest(tenant, name, sources, given, is_recorded, shows_relations)
        return LoadJob(self._catalog, request, self._name_concepts, self._packed, self._k, approve)

    def report(self, tenant: str, name: str, k: int | None = None) -> GraphReport:
        """Returns the privacy report of the current version; `k` replaces the service's default.

        Raises UnknownGraphError, and StoreError if measuring takes too many steps.
        """
        graph = self._catalog.open(tenant, name)
        measured = measure_anonymity(self._catalog.adjacency_of(graph), graph.blind.schema, k or self._k)
        words = self._catalog.name_words(tenant)
        return report_of(self._catalog.info_of(graph), measured, graph.names, graph.policy, graph.public, words)

    def policy(self, tenant: str, name: str) -> GraphPolicy:
        """Returns the policy of the current version. Raises UnknownGraphError."""
        policy = self._catalog.open(tenant, name).policy
        return GraphPolicy(graph=name, policy=policy.to_toml(), roles=sorted(policy.roles))

    def versions(self, tenant: str, name: str) -> GraphVersions:
        """Returns the versions of a graph that are live or kept, the oldest first. Raises UnknownGraphError."""
        return GraphVersions(graph=name, versions=list(map(version_of, self._catalog.history.versions(tenant, name))))

    def rollback(self, tenant: str, name: str, version: str | None) -> RollbackPlan:
        """Returns the way back to a kept version: what changes with it, and the job.

        `version`: its number, or its id or the beginning of it; without one, that loaded before the live one. Raises
        UnknownGraphError, VersionError.
        """
        live, to = self._catalog.history.chosen(tenant, name, version)
        changes = self._catalog.history.changes(tenant, name, live.info.version, to.info.version)
        return RollbackPlan(self._catalog.history, live, to, changes)

    def delete(self, tenant: str, name: str) -> None:
        """Deletes a graph with its conversations and cases, what was told of it and the records of who read its names.

        In the access record stays which key had names restored, when and how many. Raises UnknownGraphError.
        """
        self._catalog.delete(tenant, name)
        self._cases.forget_graph(tenant, name)
        self._facts.forget_graph(tenant, name)
        self._names_read.forget(tenant, name)
        self._upkeep.erase_access(tenant, name, lambda _content: None)
        self._conversations.forget_graph(tenant, name)
