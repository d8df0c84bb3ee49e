"""How well a relation path covers a question: both are walked from the topic outwards and aligned, word by word.

Coverage both ways: every content word that no hop explains costs, and so does every hop, unless words pay for it.
Hops are aligned in order, because "X's mother's children" and "X's children's mother" have the same words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from app.llm.embedder import Embedder
from app.llm.question_words import WalkedQuestion, walk_question
from app.llm.wording import HopWords, hop_words

Scores = npt.NDArray[np.float64]

# Chosen on PathQuestion's wordings, 150 questions of each set; docs/performance.md has the grid.
COST_OF_HOP = 0.4
COST_OF_INVERSE = 0.2
COST_OF_TURNING_BACK = 0.15
COST_OF_UNSAID_WORD = 0.28
_IMPOSSIBLE = -1e9


@dataclass(frozen=True, slots=True)
class WordedPath:
    """A path from the topic, as labels (`^directed by`, `a|b`), and the concept that its last step leads to.

    `concepts` holds one concept a step where they are known, else empty texts.
    """

    steps: tuple[str, ...]
    concepts: tuple[str, ...]


class PathScorer:
    """Scores paths against one wording. Higher is better; 0 is about where chance begins."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def scores(self, question: str, topic: str, paths: Sequence[WordedPath]) -> Scores:
        """One score a path; shape (paths,). `topic` is the pseudonym that the paths start from."""
        if not paths:
            return np.zeros(0)
        walked = walk_question(question, topic)
        if not walked.spans:
            return np.full(len(paths), -1.0)
        hops = sorted({hop for path in paths for hop in zip(path.steps, path.concepts, strict=True)})
        gains = self._gains(walked, [hop_words(label, concept) for hop in hops for label, concept in [hop]])
        position = {hop: i for i, hop in enumerate(hops)}
        chosen = [[position[hop] for hop in zip(path.steps, path.concepts, strict=True)] for path in paths]
        aligned = _align(walked, gains, chosen)
        turns = np.array([_turns_back(path.steps) for path in paths])
        return aligned - COST_OF_TURNING_BACK * turns

    def _gains(self, walked: WalkedQuestion, hops: Sequence[HopWords]) -> Scores:
        """What each hop gains on each span of the question; shape (hops + 1, spans), the last row impossible."""
        spans = self._embedder.sentences([span.text for span in walked.spans])
        gains = np.full((len(hops) + 1, len(walked.spans)), _IMPOSSIBLE)
        for row, hop in enumerate(hops):
            likeness = self._embedder.sentences([text for text, _ in hop.wordings]) @ spans.T
            weights = np.array([weight for _, weight in hop.wordings])[:, None]
            gains[row] = (likeness * weights).max(axis=0) - COST_OF_HOP - COST_OF_INVERSE * hop.inverse
        return gains


def _align(walked: WalkedQuestion, gains: Scores, paths: Sequence[Sequence[int]]) -> Scores:
    """The best monotone alignment of each path's hops with spans of the question (dynamic programming)."""
    length, longest = walked.length, max(len(path) for path in paths)
    nowhere = len(gains) - 1
    hops = np.array([[*path, *[nowhere] * (longest - len(path))] for path in paths])
    best = np.full((length + 1, len(paths), longest + 1), _IMPOSSIBLE)
    best[0, :, 0] = 0.0
    for at in range(length):
        unsaid = COST_OF_UNSAID_WORD if walked.is_content[at] else 0.0
        best[at + 1] = np.maximum(best[at + 1], best[at] - unsaid)
        for number, span in walked.spans_at(at):
            best[span.end, :, 1:] = np.maximum(best[span.end, :, 1:], best[at, :, :-1] + gains[hops, number])
    ends = np.array([len(path) for path in paths])
    result: Scores = best[length, np.arange(len(paths)), ends]
    return result


def _turns_back(steps: Sequence[str]) -> int:
    """How often a step is walked back at once: `spouse`, `^spouse`."""
    return sum(a != b and a.lstrip("^") == b.lstrip("^") for a, b in pairwise(steps))
