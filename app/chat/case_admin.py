"""Lets a graph's owner list, approve and delete its cases: the paths learnt from ratings of answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from app.accounts.api_keys import Caller
from app.chat.names_budget import NamesBudget, RestoredNames
from app.chat.sealing import seal_cases
from app.memory.cases import Case, CaseContent, CaseStore, LabelPath
from client_sdk.protocol import CaseChoice, CaseList, CaseListed, CaseReport, CaseSample, CasesChanged, Names
from kg_store.catalog import Catalog, PrivateGraph
from kg_store.errors import UnknownGraphError
from kg_store.graph.traversal import reached
from kg_store.storage.vault import readable_name
from kg_store.terms import NO_MIDS, Hop, Mids, Path, RelationId, as_mids

MAX_SAMPLES: Final = 3
MAX_STARTS: Final = 200
"""The most things that are tried for a sample answer. Chosen by hand."""
MAX_NAMES: Final = 3
"""The most names of one sample answer."""


@dataclass(frozen=True, slots=True)
class SampleAnswer:
    """A sample answer: a thing, what the case answers for it, and what the paths before did. All are real names."""

    thing: Names = field(repr=False)
    now: Names = field(repr=False)
    before: Names = field(repr=False)


class CaseAdmin:
    """Lists, approves and deletes the cases of a graph (paths learnt from ratings of answers).

    Promise: a list shows the words of questions without their names, paths in relation words, ids, times and counts,
    but no name and no vector; the names of sample answers are sealed to the owner's key.
    """

    def __init__(self, catalog: Catalog, cases: CaseStore, names: NamesBudget | None = None) -> None:
        self._catalog, self._cases, self._names = catalog, cases, names

    def listed(self, tenant: str, graph: str, public_key: str | None = None, caller: Caller | None = None) -> CaseList:
        """Returns all cases of a graph, oldest first; with a public key, each with sample answers.

        `caller`: who has the names of these restored, for the access record; None on the owner's own machine. Raises
        UnknownGraphError, MasterKeyError, BadPublicKeyError, LedgerUnavailableError.
        """
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
        told = CaseList(report=report, cases=[_as_listed(case, raters_of(case, found)) for case in found])
        return told if public_key is None else self._with_samples(tenant, graph, found, told, public_key, caller)

    def samples(self, tenant: str, graph: str) -> Mapping[str, Sequence[SampleAnswer]]:
        """Returns up to MAX_SAMPLES sample answers of each case by its id, with real names for the owner's screen.

        Raises UnknownGraphError, MasterKeyError.
        """
        opened = self._catalog.open(tenant, graph)
        return {case.id: [*_samples(opened, case.content)] for case in self._cases.of_graph(tenant, graph)}

    def _with_samples(
        self,
        tenant: str,
        graph: str,
        found: Sequence[Case],
        told: CaseList,
        public_key: str,
        caller: Caller | None,
    ) -> CaseList:
        opened, table = self._catalog.open(tenant, graph), dict[str, Names]()

        def word(names: Names) -> str:
            if not names.total:
                return ""
            table[f"N{len(table) + 1}"] = names
            return f"N{len(table)}"

        listed = [
            each.model_copy(
                update={
                    "samples": [
                        CaseSample(thing=word(sample.thing), now=word(sample.now), before=word(sample.before))
                        for sample in _samples(opened, case.content)
                    ]
                }
            )
            for each, case in zip(told.cases, found, strict=True)
        ]
        if self._names is not None and caller is not None:
            self._names.take(opened, caller, RestoredNames(table))
        return seal_cases(public_key, told.model_copy(update={"cases": listed}), table)

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


def _samples(graph: PrivateGraph, content: CaseContent) -> Iterator[SampleAnswer]:
    """Yields sample answers for things with the case's path, those that the case answers differently than before."""
    blind, schema = graph.blind, graph.blind.schema
    ids = map(RelationId, range(len(schema.relations)))
    hops = {schema.label(hop): hop for each in ids for hop in (Hop(each), Hop(each, inverse=True))}
    now, before = ([path for each in some if (path := _path(each, hops))] for some in (content.paths, content.before))
    first = {path[0][0] for path in now}
    starts = blind.members([each.id for each in schema.signatures if first.intersection(each.hops)])
    left = MAX_SAMPLES
    for start in starts[:MAX_STARTS].tolist():
        ends, others = (_ends(graph, start, paths) for paths in (now, before))
        if left and len(ends) and ends.tolist() != others.tolist():
            left -= 1
            yield SampleAnswer(*(_named(graph, mids) for mids in (as_mids([start]), ends, others)))


def _path(labels: LabelPath, hops: Mapping[str, Hop]) -> Path:
    """Returns the path with these labels; empty if this version of the graph lacks one of its relations."""
    steps = [[hops.get(label) for label in step.split("|")] for step in labels]
    if any(hop is None for step in steps for hop in step):
        return ()
    return tuple(tuple(hop for hop in step if hop is not None) for step in steps)


def _ends(graph: PrivateGraph, start: int, paths: Sequence[Path]) -> Mids:
    found = [reached(graph.blind, as_mids([start]), path) for path in paths]
    return as_mids(np.concatenate(found)) if found else NO_MIDS


def _named(graph: PrivateGraph, mids: Mids) -> Names:
    records = graph.vault.records(mids[:MAX_NAMES])
    return Names(names=[readable_name(each) for each in records.values()], total=len(mids))


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
