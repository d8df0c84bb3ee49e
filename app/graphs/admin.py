"""GraphAdmin: loads, lists and deletes graphs, for the HTTP routes and for the command line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from app.accounts.names_read import NamesRead
from app.chat.conversations import ConversationStore
from app.graphs.load_job import Approve, LoadJob, LoadRequest
from app.graphs.previews.previewer import Previewer
from app.graphs.privacy_report import report_of
from app.graphs.summaries import summary_of
from app.memory.case_store import CaseStore
from client_sdk.protocol import GraphPolicy, GraphReport, GraphSummary
from kg_store.catalog import Catalog, NameConcepts
from kg_store.graph.anonymity import DEFAULT_K, measure_anonymity
from kg_store.sources.policy import Policy
from kg_store.sources.reader import FORMATS

ENDINGS = FORMATS


class GraphAdmin:
    """The graphs of every tenant, for those who may change them."""

    def __init__(
        self,
        catalog: Catalog,
        conversations: ConversationStore,
        cases: CaseStore,
        names_read: NamesRead,
        name_concepts: NameConcepts,
        most_unpacked_bytes: int,
        k: int = DEFAULT_K,
    ) -> None:
        """`k`: reports warn of sets with fewer entities than this."""
        self._catalog, self._conversations, self._name_concepts = catalog, conversations, name_concepts
        self._cases, self._names_read = cases, names_read
        self._most_unpacked, self._k = most_unpacked_bytes, k
        self.previewer = Previewer(name_concepts, most_unpacked_bytes)

    def summaries(self, tenant: str) -> list[GraphSummary]:
        return [summary_of(info) for info in self._catalog.graphs(tenant)]

    def names(self, tenant: str) -> list[str]:
        return [info.name for info in self._catalog.graphs(tenant)]

    def is_empty(self) -> bool:
        """True when no tenant has a graph."""
        return self._catalog.is_empty()

    def load(
        self,
        tenant: str,
        name: str,
        sources: Sequence[Path],
        policy: str | None,
        approve: Approve = lambda _summary: None,
        is_recorded: bool = False,
    ) -> LoadJob:
        """Returns a load, to be run at once or as a job (`is_recorded`: its outcome is stored).

        Raises PolicyError at once if `policy` is not valid.
        """
        given = None if policy is None else Policy.from_toml(policy)
        request = LoadRequest(tenant, name, sources, given, is_recorded)
        return LoadJob(self._catalog, request, self._name_concepts, self._most_unpacked, self._k, approve)

    def report(self, tenant: str, name: str, k: int | None = None) -> GraphReport:
        """Returns the privacy report of the current version. Raises UnknownGraphError, and StoreError if it takes too
        many steps.
        """
        graph = self._catalog.open(tenant, name)
        measured = measure_anonymity(self._catalog.adjacency_of(graph), graph.blind.schema, k or self._k)
        words = self._catalog.name_words(tenant)
        return report_of(self._catalog.info_of(graph), measured, graph.names, graph.policy, graph.public, words)

    def policy(self, tenant: str, name: str) -> GraphPolicy:
        """Returns the policy of the current version. Raises UnknownGraphError."""
        policy = self._catalog.open(tenant, name).policy
        return GraphPolicy(graph=name, policy=policy.to_toml(), roles=sorted(policy.roles))

    def delete(self, tenant: str, name: str) -> None:
        """Deletes a graph with its conversations, its cases and who read its names. Raises UnknownGraphError."""
        self._catalog.delete(tenant, name)
        self._cases.forget_graph(tenant, name)
        self._names_read.forget(tenant, name)
        self._conversations.forget_graph(tenant, name)
