"""LoadJob: one load of a graph; what would go live is shown first, and approved."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from app.graphs.jobs import JobResult, Progress
from app.graphs.privacy_report import summarise
from app.graphs.summaries import summary_of
from client_sdk.protocol import PrivacySummary
from kg_store.catalog import Catalog, GraphInfo, NameConcepts
from kg_store.errors import LoadError
from kg_store.formats.files import require_unpacked_within
from kg_store.lexicon import in_lexicon
from kg_store.sources.policy import Policy
from kg_store.sources.triple_files import words_of

PROPOSED = "No policy was given, so the proposed one was used: read it, and load again with your own where it errs."
REPLACED = (
    "This replaces the version of {date}: {now_entities} entities instead of {entities}, {now_triples} facts "
    "instead of {triples}."
)
MIN_SHARE_KEPT = 0.5
SMALLER = "More than half of the entities are gone. If that is a mistake, load the files of before again."
READ_IT = "It names what is masked, so it is not kept with this outcome: read it as the policy of the graph."

_SHEET = re.compile(r"(\.(?:xlsx|json|jsonl|ndjson))/([^,:()]+?)(?= have | hold | are | were |[,:()]|$)")

Approve = Callable[[PrivacySummary], None]
"""Is told of a version before it goes live; what it raises keeps it from that."""


@dataclass(frozen=True, slots=True)
class LoadRequest:
    """The files of a load, and the graph that they become. Without a policy the proposed one is used."""

    tenant: str
    name: str
    sources: Sequence[Path]
    policy: Policy | None = field(repr=False)
    is_recorded: bool = False
    """True where the outcome is kept unsealed: a file's name that may be somebody's must not stand in it then."""

    def recorded_names(self) -> dict[str, str]:
        """For each file whose name may be somebody's, the neutral name used in records: `file-2.csv`."""
        found = {}
        for number, path in enumerate(self.sources, start=1):
            stem, ending = _parted(path.name)
            if self.is_recorded and not _is_common(stem):
                found[path.name] = f"file-{number}{ending}"
        return found


class LoadJob:
    """Runs a load. Promise: until `approve` returns, the graph is unchanged; an exception in `progress` stops the load
    there.
    """

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
        """Runs the load. Raises LoadError, PolicyError, and what `progress` and `approve` raise."""
        try:
            return self._run(progress)
        except LoadError as error:
            raise LoadError(self._recorded(error.reason), self._recorded(error.file), error.line) from None

    def _recorded(self, text: str) -> str:
        return _renamed(text, self._request.recorded_names()) if self._request.is_recorded else text

    def _run(self, progress: Progress) -> JobResult:
        request = self._request
        require_unpacked_within(request.sources, self._max_unpacked_bytes)
        with self._catalog.begin_load(lambda step, done: progress(step, 100.0 * done)) as load:
            load.read(list(request.sources), request.policy)
            load.raw.notes = tuple(map(self._recorded, load.raw.notes))
            load.build(request.tenant, request.name)
            load.name(self._name_concepts)
            load.seal()
            privacy = summarise(load.adjacency, load.schema, load.names.report(), self._k)
            self._approve(privacy)
            before = self._live()
            info = load.swap()
        return self._result(info, load.policy, privacy, _replacing(before, info))

    def _live(self) -> GraphInfo | None:
        """The version that this load replaces."""
        graphs = self._catalog.graphs(self._request.tenant)
        return next((graph for graph in graphs if graph.name == self._request.name), None)

    def _result(
        self, info: GraphInfo, used: Policy, privacy: PrivacySummary, replaces: tuple[str, ...] = ()
    ) -> JobResult:
        notes = (*info.notes, *replaces)
        if self._request.policy is not None:
            return JobResult(summary_of(info), None, notes, privacy)
        # The result of a job is not sealed: predicates that may be cells must not stand in it.
        if info.masked:
            return JobResult(summary_of(info), None, (*notes, PROPOSED, READ_IT), privacy)
        return JobResult(summary_of(info), used.to_toml(), (*notes, PROPOSED), privacy)


def _replacing(before: GraphInfo | None, now: GraphInfo) -> tuple[str, ...]:
    """Sentences on the version that was live until now, and a warning where the new one is much smaller."""
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
    """`text` with the neutral names of files; sheets are named by their position."""
    known = names | {name.removesuffix(".gz"): recorded for name, recorded in names.items()}
    if known:
        # In one pass, the longest first: what a file is called in a record is not read again.
        longest = sorted(known, key=len, reverse=True)
        text = re.sub("|".join(map(re.escape, longest)), lambda found: known[found[0]], text)
    return _SHEET.sub(lambda found: found[0] if _is_common(found[2]) else found[1], text)


def _parted(name: str) -> tuple[str, str]:
    """A file's name and its ending, including ".gz"; the first part may be somebody's name."""
    packed = ".gz" if name.endswith(".gz") else ""
    path = PurePath(name.removesuffix(packed))
    return path.stem, path.suffix + packed


def _is_common(name: str) -> bool:
    words = words_of(name)
    return bool(words) and all(map(in_lexicon, words)) and not re.search(r"\d", name)
