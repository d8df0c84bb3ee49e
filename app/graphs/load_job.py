"""LoadJob: one load of a graph as its owner starts it: what goes live is told first, and approved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from app.graphs.jobs import JobResult, Progress
from app.graphs.privacy_report import summarise
from app.graphs.summaries import summary_of
from client_sdk.protocol import PrivacySummary
from kg_store.catalog import Catalog, GraphInfo, NameConcepts
from kg_store.sources.files import require_unpacked_within
from kg_store.sources.policy import Policy

PROPOSED = "No policy was given, so the proposed one was used: read it, and load again with your own where it errs."
READ_IT = "It names what is masked, so it is not kept with this outcome: read it as the policy of the graph."

Approve = Callable[[PrivacySummary], None]
"""Is told of a version before it goes live; what it raises keeps it from that."""


@dataclass(frozen=True, slots=True)
class LoadRequest:
    """The files of a load, and the graph that they become. Without a policy the proposed one is used."""

    tenant: str
    name: str
    sources: Sequence[Path]
    policy: Policy | None = field(repr=False)


class LoadJob:
    """Promise: until `approve` returns the graph is as it was. What `progress` raises stops the load at that step."""

    def __init__(
        self,
        catalog: Catalog,
        request: LoadRequest,
        name_concepts: NameConcepts,
        max_unpacked_bytes: int,
        k: int,
        approve: Approve,
    ) -> None:
        self._catalog, self._request, self._name_concepts = catalog, request, name_concepts
        self._max_unpacked_bytes, self._k, self._approve = max_unpacked_bytes, k, approve

    def run(self, progress: Progress) -> JobResult:
        """Takes every step of the load. Raises LoadError, PolicyError, and what `progress` and `approve` raise."""
        request = self._request
        require_unpacked_within(request.sources, self._max_unpacked_bytes)
        with self._catalog.begin_load(lambda step, done: progress(step, 100.0 * done)) as load:
            load.read(list(request.sources), request.policy)
            load.build(request.tenant, request.name)
            load.name(self._name_concepts)
            load.seal()
            privacy = summarise(load.adjacency, load.schema, load.names.report(), self._k)
            self._approve(privacy)
            info = load.swap()
        return self._result(info, load.policy, privacy)

    def _result(self, info: GraphInfo, used: Policy, privacy: PrivacySummary) -> JobResult:
        if self._request.policy is not None:
            return JobResult(summary_of(info), None, info.notes, privacy)
        # The result of a job is not sealed: predicates that may be cells must not stand in it.
        if info.masked:
            return JobResult(summary_of(info), None, (*info.notes, PROPOSED, READ_IT), privacy)
        return JobResult(summary_of(info), used.to_toml(), (*info.notes, PROPOSED), privacy)
