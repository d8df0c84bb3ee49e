"""Lets a graph's owner list, approve and delete its cases: the paths learnt from ratings of answers."""

from __future__ import annotations

from collections.abc import Sequence

from app.memory.cases import Case, CaseStore
from client_sdk.protocol import CaseChoice, CaseList, CaseListed, CaseReport, CasesChanged
from kg_store.catalog import Catalog
from kg_store.errors import UnknownGraphError


class CaseAdmin:
    """Lists, approves and deletes the cases of a graph (paths learnt from ratings of answers).

    Promise: a list shows the words of questions without their names, paths in relation words, ids, times and counts,
    but no name and no vector.
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
            held=sum(case.content.is_held and case.approved_at is None for case in found),
            leaned=effects.leaned,
            rated_right=effects.right,
            rated_wrong=effects.wrong,
        )
        return CaseList(report=report, cases=[_as_listed(case, raters_of(case, found)) for case in found])

    def approve(self, tenant: str, graph: str, wanted: CaseChoice) -> CasesChanged:
        """Approves cases: they then count for every key, not only for who rated. Raises UnknownGraphError,
        UnknownCaseError."""
        return CasesChanged(cases=self._cases.approve(tenant, graph, self._chosen(tenant, graph, wanted)))

    def forget(self, tenant: str, graph: str, wanted: CaseChoice) -> CasesChanged:
        """Deletes the chosen cases and returns how many. Raises UnknownGraphError, UnknownCaseError."""
        return CasesChanged(cases=self._cases.forget(tenant, graph, self._chosen(tenant, graph, wanted)))

    def _chosen(self, tenant: str, graph: str, wanted: CaseChoice) -> list[str]:
        self._require(tenant, graph)
        if wanted.ids is not None:
            return wanted.ids
        return [case.id for case in self._cases.of_graph(tenant, graph) if case.key_id == wanted.key_id]

    def _require(self, tenant: str, graph: str) -> None:
        if all(info.name != graph for info in self._catalog.graphs(tenant)):
            raise UnknownGraphError


def raters_of(case: Case, found: Sequence[Case]) -> int:
    """Returns the number of persons whose ratings left a case with the same question words and paths as `case`.

    `found`: all cases of the graph, `case` included.
    """
    told = case.content.asked, case.content.paths
    alike = (each for each in found if (each.content.asked, each.content.paths) == told)
    return len({(each.key_id, each.content.person) for each in alike})


def _as_listed(case: Case, raters: int) -> CaseListed:
    return CaseListed(
        id=case.id,
        key_id=case.key_id,
        made_at=case.made_at,
        approved_at=case.approved_at,
        used=case.used,
        asked=case.content.asked,
        before=[" -> ".join(path) for path in case.content.before],
        paths=[" -> ".join(path) for path in case.content.paths],
        held=case.content.is_held and case.approved_at is None,
        raters=raters,
    )
