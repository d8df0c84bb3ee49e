"""CaseAdmin: what an owner can do with the cases of a graph: list, approve, forget."""

from __future__ import annotations

from app.memory.case_store import CaseStore
from app.memory.cases import Case
from client_sdk.protocol import CaseChoice, CaseList, CaseListed, CaseReport, CasesChanged
from kg_store.catalog import Catalog
from kg_store.errors import UnknownGraphError


class CaseAdmin:
    """Lists, approves and forgets cases.

    Promise: it shows paths in relation words, ids, times and counts, but neither the text nor the vector of a
    question.
    """

    def __init__(self, catalog: Catalog, cases: CaseStore) -> None:
        self._catalog, self._cases = catalog, cases

    def listed(self, tenant: str, graph: str) -> CaseList:
        """Returns all cases of a graph, oldest first. Raises UnknownGraphError, MasterKeyError."""
        self._require(tenant, graph)
        found, effects = self._cases.of_graph(tenant, graph), self._cases.effects(tenant, graph)
        report = CaseReport(
            graph=graph,
            cases=len(found),
            approved=sum(case.approved_at is not None for case in found),
            leaned=effects.leaned,
            rated_right=effects.right,
            rated_wrong=effects.wrong,
        )
        return CaseList(report=report, cases=[_as_listed(case) for case in found])

    def approve(self, tenant: str, graph: str, wanted: CaseChoice) -> CasesChanged:
        """Makes cases count for every key. Raises UnknownGraphError, UnknownCaseError."""
        return CasesChanged(cases=self._cases.approve(tenant, graph, self._chosen(tenant, graph, wanted)))

    def forget(self, tenant: str, graph: str, wanted: CaseChoice) -> CasesChanged:
        """Deletes cases. Raises UnknownGraphError, UnknownCaseError."""
        return CasesChanged(cases=self._cases.forget(tenant, graph, self._chosen(tenant, graph, wanted)))

    def _chosen(self, tenant: str, graph: str, wanted: CaseChoice) -> list[str]:
        self._require(tenant, graph)
        if wanted.ids is not None:
            return wanted.ids
        return [case.id for case in self._cases.of_graph(tenant, graph) if case.key_id == wanted.key_id]

    def _require(self, tenant: str, graph: str) -> None:
        if all(info.name != graph for info in self._catalog.graphs(tenant)):
            raise UnknownGraphError


def _as_listed(case: Case) -> CaseListed:
    return CaseListed(
        id=case.id,
        key_id=case.key_id,
        made_at=case.made_at,
        approved_at=case.approved_at,
        used=case.used,
        paths=[" -> ".join(path) for path in case.content.paths],
    )
