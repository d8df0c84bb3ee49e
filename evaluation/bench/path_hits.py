"""PathHits: which share of what each path reaches is a gold answer, looked up in the house by a question's answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.llm.tasks import StepInput, Thing
from evaluation.checks.metrics import comparable
from evaluation.datasets.topic_positions import surfaces_of
from kg_store.catalog import PrivateGraph
from kg_store.graph.traversal import reached
from kg_store.terms import Hop, Mids, Schema, Step, as_mids

# Of a larger set a random member is hardly ever the answer, and its names would take long to read.
MAX_ENDS = 1_000
_NOTHING = as_mids([])


class PathHits:
    """Walks the paths that a reasoner was shown from what their topic stands for, and compares the names at the ends.

    For evaluation and training, where the owner's own answers are known; names stay here, shares alone come out.
    """

    def __init__(self, graph: PrivateGraph) -> None:
        self._graph = graph
        self._hops = _hops_by_label(graph.blind.schema)
        self._names: dict[int, frozenset[str]] = {}

    def of(self, mids: Mids, paths: Sequence[tuple[str, ...]], answers: Sequence[str]) -> tuple[float, ...]:
        """The expected hit of a random member of each path's set, 0 to 1."""
        gold = {comparable(answer) for answer in answers}
        walked: dict[tuple[str, ...], Mids] = {(): mids}
        return tuple(self._share(self._ends(path, walked), gold) for path in paths)

    def meant_by(self, root: Thing, typed: str, given: StepInput) -> Mids:
        """The things that the pseudonym `root` stands for in the question as typed; none where no words tell."""
        surface = surfaces_of(typed, given.question, [thing.name for thing in given.things]).get(root.name, "")
        linker = self._graph.linker
        mentions = linker.find_mentions(typed) or linker.find_unmarked(typed, self._graph.public)
        found = [mention.mids for mention in mentions if typed[mention.start : mention.end] == surface]
        if not found and len(mentions) == 1:
            found = [mentions[0].mids]
        return as_mids([mid for mids in found for mid in mids])

    def _ends(self, path: tuple[str, ...], walked: dict[tuple[str, ...], Mids]) -> Mids:
        if path not in walked:
            before, step = self._ends(path[:-1], walked), self._step(path[-1])
            # A set too large to count is too large to go on from.
            goes_on = step is not None and 0 < len(before) <= MAX_ENDS
            walked[path] = reached(self._graph.blind, before, (step,)) if step and goes_on else _NOTHING
        return walked[path]

    def _step(self, label: str) -> Step | None:
        hops = [self._hops.get(part) for part in label.split("|")]
        known = tuple(hop for hop in hops if hop is not None)
        return known if len(known) == len(hops) else None

    def _share(self, ends: Mids, gold: set[str]) -> float:
        if not 0 < len(ends) <= MAX_ENDS:
            return 0.0
        mids = ends.tolist()
        self._read([mid for mid in mids if mid not in self._names])
        return sum(not gold.isdisjoint(self._names[mid]) for mid in mids) / len(mids)

    def _read(self, mids: Sequence[int]) -> None:
        records = self._graph.vault.records(mids) if mids else {}
        for mid in mids:
            told = (*records[mid].names, records[mid].lexical) if mid in records else ()
            self._names[mid] = frozenset(comparable(name) for name in told if name is not None)


def _hops_by_label(schema: Schema) -> Mapping[str, Hop]:
    hops = [Hop(relation.id, inverse) for relation in schema.relations for inverse in (False, True)]
    return {schema.label(hop): hop for hop in reversed(hops)}
