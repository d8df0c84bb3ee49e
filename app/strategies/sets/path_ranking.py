"""PathRanker: what a kind of thing leaves by, ranked by how well each path covers a question."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from app.llm.embedded.language.answer_form import read_form
from app.llm.embedded.scoring.alignment import Scores
from app.llm.embedded.scoring.path_scoring import PathScorer, ReadPaths, WordedPath
from app.strategies.base import StrategyInput
from app.strategies.retrieval import CandidatePath, NodeSet
from kg_store.graph.concept_paths import ConceptScope, is_worked_out, paths_of
from kg_store.graph.traversal import tail_concept
from kg_store.terms import Path, Schema

EXTENDED: Final = 8
"""Where not all paths of three steps are known, so many of the best of two are gone on from."""

MAX_CACHED: Final = 256
"""Lists of paths that are kept as they were read."""


@dataclass(frozen=True, slots=True)
class PathPrefix:
    """The way by which a place was reached: from where the question sets out, along `path`."""

    root: str
    path: Path = ()


@dataclass(frozen=True, slots=True)
class RankedPaths:
    """Ways on, best first, each with the score of its whole path from where the question sets out; and how many more
    there are."""

    ways: list[CandidatePath]
    scores: list[float]
    cut: int = 0


class PathRanker:
    """Thread-safe; what it keeps is of schemas, and of no question."""

    def __init__(self, scorer: PathScorer) -> None:
        self._scorer, self._lock = scorer, threading.Lock()
        self._held: OrderedDict[tuple[Schema, ConceptScope, int], ReadPaths] = OrderedDict()

    def from_place(
        self, inquiry: StrategyInput, place: NodeSet, trail: PathPrefix, longest: int, most: int
    ) -> RankedPaths:
        """The `most` nearest ways of at most `longest` steps that the kin of `place` leave by, and all single ones."""
        known = paths_of(inquiry.graph, place.kin, longest)
        if not known.paths:
            return RankedPaths([], [])
        read = self._read(inquiry.graph.schema, place.kin, longest, known.paths)
        paths, scores = known.paths, self._scores(inquiry, trail, read)
        if known.whole < longest:
            paths, scores = self._gone_on(inquiry, place, trail, paths, scores)
        order = np.argsort(-scores, kind="stable").tolist()
        best = order[:most] + [i for i in order[most:] if len(paths[i]) == 1]
        return RankedPaths(
            [CandidatePath(place, paths[i]) for i in best], scores[best].tolist(), len(paths) - len(best)
        )

    def is_ready(self, inquiry: StrategyInput, place: NodeSet, longest: int) -> bool:
        """True where `from_place` takes milliseconds, as it does once the kin's ways have been worked out and read."""
        return (inquiry.graph.schema, place.kin, longest) in self._held and is_worked_out(
            inquiry.graph, place.kin, longest
        )

    def of_walked(self, inquiry: StrategyInput, root: NodeSet, paths: Sequence[Path]) -> Scores:
        """Scores of how well walked paths from `root` cover the question; shape (paths,)."""
        if not paths:
            return np.zeros(0)
        read = self._scorer.read(_worded(inquiry.graph.schema, root.kin, paths))
        return self._scores(inquiry, PathPrefix(root.pseudonym), read)

    def _scores(self, inquiry: StrategyInput, trail: PathPrefix, read: ReadPaths) -> Scores:
        asked = read_form(inquiry.dialogue.question, topics=1).rest
        return self._scorer.scores_of(asked, trail.root, "", read, by_words=True)

    def _gone_on(
        self, inquiry: StrategyInput, place: NodeSet, trail: PathPrefix, paths: tuple[Path, ...], scores: Scores
    ) -> tuple[tuple[Path, ...], Scores]:
        """With one step more behind the best of the longest paths; all are scored anew, among each other."""
        longest = max(map(len, paths))
        best = [paths[i] for i in np.argsort(-scores, kind="stable").tolist() if len(paths[i]) == longest][:EXTENDED]
        steps = [paths_of(inquiry.graph, place.kin.along(path), 1).paths for path in best]
        further = [(*path, *step) for path, on in zip(best, steps, strict=True) for step in on]
        every = (*paths, *further)
        read = self._scorer.read(_worded(inquiry.graph.schema, place.kin, every))
        return every, self._scores(inquiry, trail, read)

    def _read(self, schema: Schema, kin: ConceptScope, longest: int, paths: Sequence[Path]) -> ReadPaths:
        key = schema, kin, longest
        with self._lock:
            if found := self._held.get(key):
                self._held.move_to_end(key)
                return found
        found = self._scorer.read(_worded(schema, kin, paths))
        with self._lock:
            self._held[key] = found
            while len(self._held) > MAX_CACHED:
                self._held.popitem(last=False)
        return found


def _worded(schema: Schema, kin: ConceptScope, paths: Sequence[Path]) -> list[WordedPath]:
    """Each path in words, from where its kin set out."""
    wholes = [(*kin.path, *path) for path in paths]
    steps = {step: (schema.described(step), tail_concept(schema, step)) for whole in wholes for step in whole}
    worded = [[steps[step] for step in whole] for whole in wholes]
    return [WordedPath(tuple(label for label, _ in way), tuple(concept for _, concept in way)) for way in worded]
