"""How well a relation path covers a question: both are walked from the topic outwards and aligned, word by word.

Coverage both ways: every content word that no hop explains costs, and so does every hop, unless words pay for it.
Hops are aligned in order, because "X's mother's children" and "X's children's mother" have the same words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from app.llm.embedder import Embedder
from app.llm.question_words import IRREGULAR, Span, WalkedQuestion, walk_question
from app.llm.wording import HopWords, hop_words, kinds_in

Scores = npt.NDArray[np.floating[Any]]

# Chosen on 150 questions of each public set; docs/performance.md has the grid.
COST_OF_HOP = 0.35
COST_OF_INVERSE = 0.2
COST_OF_TURNING_BACK = 0.25
COST_OF_UNSAID_WORD = 0.28
# "treated by X" walks `treated by` backwards, from X to those it is said of.
GAIN_OF_DIRECTION = 0.2
WEIGHT_OF_RIVALS = 1.0
MOST_OUTDONE = 0.3
# "did X direct" says `directed by` backwards, word by word.
LIKENESS_OF_VERB = 0.9
# A hop that no words come near would only be there to reach something else.
LEAST_LIKENESS = 0.15
# "which ward", "the doctor X": the kind of thing at a step's end or at the start is said beside the relation.
LEAST_LIKENESS_OF_KIND = 0.7
GAIN_OF_KIND = 0.1
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

    def scores(self, question: str, topic: str, concept: str, paths: Sequence[WordedPath]) -> Scores:
        """One score a path; shape (paths,). `topic` is the pseudonym that the paths start from."""
        if not paths:
            return np.zeros(0)
        walked = walk_question(question, topic)
        if not walked.spans:
            return np.array([-COST_OF_HOP * len(path.steps) for path in paths])
        hops = sorted({hop for path in paths for hop in zip(path.steps, path.concepts, strict=True)})
        position = {hop: row for row, hop in enumerate(hops)}
        chosen = [[position[hop] for hop in zip(path.steps, path.concepts, strict=True)] for path in paths]
        said = self._said(walked.spans, [hop_words(label, kind) for label, kind in hops])
        things = self._embedder.sentences([IRREGULAR.get(span.text, span.text) for span in walked.spans])
        kinds = self._kinds(things, [kinds_in(kind) for _, kind in hops], kinds_in(concept))
        # "the film X": the word says what X is, and no step.
        said[:, np.array([span.beside for span in walked.spans]) & (kinds[-1] > 0)] = _IMPOSSIBLE
        turns = np.array([_turns_back(path.steps) for path in paths])
        return _align(walked, said, kinds, chosen) - COST_OF_TURNING_BACK * turns

    def _said(self, spans: Sequence[Span], hops: Sequence[HopWords]) -> Scores:
        """What each hop gains on each span; shape (hops + 1, spans), the last row impossible."""
        vectors = self._embedder.sentences([span.text for span in spans])
        done = np.array([[span.follows and span.text in hop.verbs for span in spans] for hop in hops])
        likeness = np.maximum(np.stack([self._likeness(vectors, hop) for hop in hops]), LIKENESS_OF_VERB * done)
        # Words that say another relation far better are no evidence for this one.
        fit = likeness - WEIGHT_OF_RIVALS * (likeness.max(axis=0) - likeness)
        inverse = np.array([hop.inverse for hop in hops])[:, None]
        gains = fit - COST_OF_HOP - COST_OF_INVERSE * (inverse & ~done)
        back = np.array([span.points_back for span in spans])
        gains += np.where(back[None, :], np.where(inverse, GAIN_OF_DIRECTION, -GAIN_OF_DIRECTION), 0.0)
        outdone = likeness.max(axis=0) - likeness > MOST_OUTDONE
        gains = np.where((likeness < LEAST_LIKENESS) | outdone, _IMPOSSIBLE, gains)
        return np.concatenate([gains, np.full((1, len(spans)), _IMPOSSIBLE)])

    def _likeness(self, spans: Scores, hop: HopWords) -> Scores:
        weights = np.array([weight for _, weight in hop.wordings])[:, None]
        best: Scores = (self._embedder.sentences([text for text, _ in hop.wordings]) @ spans.T * weights).max(axis=0)
        return best

    def _kinds(self, spans: Scores, kinds: Sequence[tuple[str, ...]], start: tuple[str, ...]) -> Scores:
        """What naming the kind beside a hop gains on each span; shape (hops + 2, spans): then none, then the start."""
        gains = np.full((len(kinds) + 2, len(spans)), _IMPOSSIBLE)
        for row, words in enumerate([*kinds, (), start]):
            if words:
                likeness = (self._embedder.sentences(words) @ spans.T).max(axis=0)
                gains[row] = np.where(likeness < LEAST_LIKENESS_OF_KIND, _IMPOSSIBLE, GAIN_OF_KIND * likeness)
        return gains


def _align(walked: WalkedQuestion, said: Scores, kinds: Scores, paths: Sequence[Sequence[int]]) -> Scores:
    """The best monotone alignment of each path's hops with spans of the question (dynamic programming).

    `best[at, path, j]`: the best score of the words before `at` with the first j hops said.
    """
    length, longest = walked.length, max(len(path) for path in paths)
    none, start = len(kinds) - 2, len(kinds) - 1
    hops = np.array([[*path, *[none] * (longest - len(path))] for path in paths])
    # The kind at the end of hop j may be said right after hop j, or right before it.
    after = np.concatenate([np.full((len(paths), 1), start), hops], axis=1)
    before = np.concatenate([hops, np.full((len(paths), 1), none)], axis=1)
    best = np.full((length + 1, len(paths), longest + 1), _IMPOSSIBLE)
    best[0, :, 0] = 0.0
    for at in range(length):
        here = best[at]
        unsaid = COST_OF_UNSAID_WORD if walked.is_content[at] else 0.0
        best[at + 1] = np.maximum(best[at + 1], here - unsaid)
        for number, span in walked.spans_at(at):
            there = best[span.end]
            there[:, 1:] = np.maximum(there[:, 1:], here[:, :-1] + said[hops, number])
            kind = np.maximum(kinds[after, number], kinds[before, number])
            # What the topic is may be read late, though it stands beside it: "the film X starred which actors".
            np.maximum(there, here + np.maximum(kind, kinds[start, number] if span.beside else _IMPOSSIBLE), out=there)
    ends = np.array([len(path) for path in paths])
    result: Scores = best[length, np.arange(len(paths)), ends]
    return result


def _turns_back(steps: Sequence[str]) -> int:
    """How often a step goes back over the relation that the one before it came by: `spouse`, then `^spouse`."""
    ends = [(step.split("|")[0], step.split("|")[-1]) for step in steps]
    return sum(last != first and last.lstrip("^") == first.lstrip("^") for (_, last), (first, _) in pairwise(ends))
