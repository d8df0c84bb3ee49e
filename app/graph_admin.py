"""Loading, listing and deleting graphs: what the HTTP routes and the command line have in common."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from app.conversations import ConversationStore
from app.jobs import Loaded, Progress, Work
from client_sdk.protocol import GraphSummary
from kg_store.catalog import Catalog, GraphInfo, NameConcepts
from kg_store.opening import require_unpacked_within
from kg_store.policy import Policy
from kg_store.reading import FORMATS

ENDINGS = FORMATS
PROPOSED = "No policy was given, so the proposed one was used: read it, and load again with your own where it errs."


class GraphAdmin:
    """The graphs of every tenant, for those who may change them."""

    def __init__(
        self,
        catalog: Catalog,
        conversations: ConversationStore,
        name_concepts: NameConcepts,
        most_unpacked_bytes: int,
    ) -> None:
        self._catalog, self._conversations, self._name_concepts = catalog, conversations, name_concepts
        self._most_unpacked = most_unpacked_bytes

    def summaries(self, tenant: str) -> list[GraphSummary]:
        return [summary_of(info) for info in self._catalog.graphs(tenant)]

    def names(self, tenant: str) -> list[str]:
        return [info.name for info in self._catalog.graphs(tenant)]

    def is_empty(self) -> bool:
        """True when no tenant has a graph."""
        return self._catalog.is_empty()

    def loading(self, tenant: str, name: str, sources: Sequence[Path], policy: str | None) -> Work:
        """The work of one load, to be run at once or as a job. PolicyError at once when `policy` is not valid."""
        given = None if policy is None else Policy.from_toml(policy)

        def load(progress: Progress) -> Loaded:
            require_unpacked_within(sources, self._most_unpacked)
            info = self._catalog.load(
                tenant,
                name,
                list(sources),
                given,
                self._name_concepts,
                lambda step, done: progress(step, 100.0 * done),
            )
            if given is not None:
                return Loaded(summary_of(info), None, info.notes)
            proposed = self._catalog.open(tenant, name).policy.to_toml()
            return Loaded(summary_of(info), proposed, (*info.notes, PROPOSED))

        return load

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
