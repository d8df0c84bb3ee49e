"""Loading, listing and deleting graphs: what the HTTP routes and the command line have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from app.chat.conversations import ConversationStore
from app.graphs.jobs import JobResult, Progress, Work
from app.graphs.preview import Previewer
from app.graphs.privacy_report import report_of, summarise
from client_sdk.protocol import GraphPolicy, GraphReport, GraphSummary, PrivacySummary
from kg_store.anonymity.measures import DEFAULT_K, Anonymity, measure_anonymity
from kg_store.catalog import Catalog, GraphInfo, NameConcepts
from kg_store.graph.adjacency import Adjacency
from kg_store.names.index import NameIndex
from kg_store.sources.files import require_unpacked_within
from kg_store.sources.policy import Policy
from kg_store.sources.reader import FORMATS
from kg_store.terms import Schema

ENDINGS = FORMATS
PROPOSED = "No policy was given, so the proposed one was used: read it, and load again with your own where it errs."
READ_IT = "It names what is masked, so it is not kept with this outcome: read it as the policy of the graph."

Ask = Callable[[PrivacySummary], None]
"""Is told of a version before it goes live; what it raises keeps it from that."""


class GraphAdmin:
    """The graphs of every tenant, for those who may change them."""

    def __init__(
        self,
        catalog: Catalog,
        conversations: ConversationStore,
        name_concepts: NameConcepts,
        most_unpacked_bytes: int,
        k: int = DEFAULT_K,
    ) -> None:
        """`k`: fewer entities than this are few, where reports tell of a graph's privacy."""
        self._catalog, self._conversations, self._name_concepts = catalog, conversations, name_concepts
        self._most_unpacked, self._k = most_unpacked_bytes, k
        self.previewer = Previewer(name_concepts, most_unpacked_bytes)

    def summaries(self, tenant: str) -> list[GraphSummary]:
        return [summary_of(info) for info in self._catalog.graphs(tenant)]

    def names(self, tenant: str) -> list[str]:
        return [info.name for info in self._catalog.graphs(tenant)]

    def is_empty(self) -> bool:
        """True when no tenant has a graph."""
        return self._catalog.is_empty()

    def loading(
        self,
        tenant: str,
        name: str,
        sources: Sequence[Path],
        policy: str | None,
        ask: Ask = lambda _summary: None,
    ) -> Work:
        """The work of one load, to be run at once or as a job. PolicyError at once when `policy` is not valid."""
        given = None if policy is None else Policy.from_toml(policy)

        def load(progress: Progress) -> JobResult:
            require_unpacked_within(sources, self._most_unpacked)
            told: list[PrivacySummary] = []

            def review(adjacency: Adjacency, schema: Schema, names: NameIndex) -> None:
                told.append(summarise(adjacency, schema, names.report(), self._k))
                ask(told[0])

            info = self._catalog.load(
                tenant,
                name,
                list(sources),
                given,
                self._name_concepts,
                lambda step, done: progress(step, 100.0 * done),
                review,
            )
            if given is not None:
                return JobResult(summary_of(info), None, info.notes, told[0])
            # What a finished job tells is not sealed: predicates that may be cells must not stand in it.
            if info.masked:
                return JobResult(summary_of(info), None, (*info.notes, PROPOSED, READ_IT), told[0])
            proposed = self._catalog.open(tenant, name).policy.to_toml()
            return JobResult(summary_of(info), proposed, (*info.notes, PROPOSED), told[0])

        return load

    def report(self, tenant: str, name: str, k: int | None = None) -> GraphReport:
        """The privacy report of the current version. Raises UnknownGraph, and StoreError: there are too many steps."""
        measured: list[Anonymity] = []

        def review(adjacency: Adjacency, schema: Schema, _names: NameIndex) -> None:
            measured.append(measure_anonymity(adjacency, schema, k or self._k))

        info, graph = self._catalog.review(tenant, name, review)
        return report_of(info, measured[0], graph.names, graph.policy, graph.public, self._catalog.name_words(tenant))

    def policy(self, tenant: str, name: str) -> GraphPolicy:
        """The policy of the current version. Raises UnknownGraph."""
        policy = self._catalog.open(tenant, name).policy
        return GraphPolicy(graph=name, policy=policy.to_toml(), roles=sorted(policy.roles))

    def delete(self, tenant: str, name: str) -> None:
        """Deletes a graph with its conversations. Raises UnknownGraph."""
        self._catalog.delete(tenant, name)
        self._conversations.forget_graph(tenant, name)


def summary_of(info: GraphInfo) -> GraphSummary:
    """What callers are told of a version."""
    return GraphSummary(
        name=info.name,
        version=info.version,
        triples=info.triples,
        entities=info.entities,
        values=info.values,
        relations=info.relations,
        loaded_at=info.loaded_at,
        public_words=len(info.public_words),
    )
