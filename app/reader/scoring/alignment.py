"""Finds the best monotone alignment of a path's hops with the words of a question, by dynamic programming."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from app.reader.language.question_words import WalkedQuestion


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of path scoring, in units of a cosine. All were chosen by hand, one number changed at a time, while
    looking at samples of PathQuestion, MetaQA and WebQSP; docs/performance.md ("The weights of path scoring") has the
    figures.

    Costs: of each `hop`, of one walked `inverse` without grammar that asks for it, of `turning_back` at once, of an
    `unsaid_word`. Gains: of `direction` by grammar, of naming the `kind` beside a hop, of reaching the kind `asked`
    for.
    """

    hop: float = 0.4
    inverse: float = 0.2
    turning_back: float = 0.25
    # Cost of a hop from things of a kind that its relation does not leave anywhere else.
    misfit: float = 1.0
    unsaid_word: float = 0.28
    direction: float = 0.15
    kind: float = 0.2
    asked: float = 0.2
    asked_wrong: float = 0.25
    # Gain of one word for two hops, as in "the same director": more than the second hop and the turn cost.
    shared: float = 0.4
    # Likeness of a verb to the passive it belongs to: "did X direct" says `directed by` backwards.
    verb: float = 0.9
    # Factor if only the kind at a hop's end is said, "X's doctor" for `treated by`: its own words say more.
    kind_alone: float = 0.75
    # Loss for each unit by which the words are more like another relation, down to most_outdone.
    rivals: float = 1.0
    most_outdone: float = 0.3
    least: float = 0.15
    # From this likeness on, a phrase says a relation completely.
    whole: float = 0.95
    least_kind: float = 0.7
    # Weight of the whole question's likeness to the whole path; more where relations have long names (wordy_*).
    nearness: float = 0.7
    wordy_nearness: float = 20.0
    wordy_hop: float = 0.2
    wordy_asked: float = 0.25
    few_words: float = 2.8
    many_words: float = 3.6

    def nearness_among(self, words: float) -> float:
        """The weight of the whole question's likeness if the relations have `words` words on average.

        It rises with their length: among long labels some are like single words by chance, and the whole question
        decides.
        """
        share = min(1.0, max(0.0, (words - self.few_words) / (self.many_words - self.few_words)))
        return float(self.nearness ** (1 - share) * self.wordy_nearness**share)


Scores = npt.NDArray[np.floating[Any]]
Flags = npt.NDArray[np.bool_]
Hops = npt.NDArray[np.int64]

IMPOSSIBLE = -1e9


@dataclass(frozen=True, slots=True, eq=False)
class HopGains:
    """The gain of each hop for each span of the question; the last row of hops stands for "no hop".

    `said`: by the words of the hop or of what it leads to, shape (hops + 1, spans); `by_name`: by the words of its
    relation alone. `kinds`: by naming the kind beside a hop, shape (hops + 2, spans); the last rows are "no hop" and
    the start. `staying`: hops that stay within one kind, shape (paths, hops): the kind's name does not say them.
    `undoing`: which hop walks back along which, shape (hops + 1, hops + 1).
    """

    said: Scores
    by_name: Scores
    kinds: Scores
    staying: Flags
    undoing: Flags


def align(walked: WalkedQuestion, hops: Hops, gains: HopGains, w: Weights) -> Scores:
    """Returns the best score of each path, shape (paths,); `hops` holds its rows, filled up with "no hop".

    `best[position, path, j]` is the best score of the words before `position` with the first j hops explained.
    """
    length, (count, longest) = walked.length, hops.shape
    said = _PathGains(hops, gains, walked.is_shared, w.shared)
    best = np.full((length + 1, count, longest + 1), IMPOSSIBLE)
    best[0, :, 0] = 0.0
    for position in range(length):
        here = best[position]
        unsaid = w.unsaid_word if walked.is_content[position] else 0.0
        best[position + 1] = np.maximum(best[position + 1], here - unsaid)
        for number, span in walked.spans_at(position):
            there = best[span.end]
            there[:, 1:] = np.maximum(there[:, 1:], here[:, :-1] + said.of_hop(number))
            there[:, 2:] = np.maximum(there[:, 2:], here[:, :-2] + said.of_two_hops(number))
            np.maximum(there, here + said.of_kind(number, span.beside), out=there)
    ends = (hops != len(gains.kinds) - 2).sum(axis=1)
    result: Scores = best[length, np.arange(count), ends]
    return result


class _PathGains:
    """The gains of one span for every path and each of its hops."""

    def __init__(self, hops: Hops, gains: HopGains, is_shared: bool, shared: float) -> None:
        self._hops, self._gains, self._shared = hops, gains, shared
        none, self._start = len(gains.kinds) - 2, len(gains.kinds) - 1
        # The kind at the end of hop j may be said directly after hop j or directly before it.
        self._after = np.concatenate([np.full((len(hops), 1), self._start), hops], axis=1)
        self._before = np.concatenate([hops, np.full((len(hops), 1), none)], axis=1)
        turns = gains.undoing[hops[:, :-1], hops[:, 1:]] & is_shared
        self._there_and_back = turns & (turns.cumsum(axis=1) == 1)  # One word says the first turn only.

    def of_hop(self, span: int) -> Scores:
        gains = self._gains
        said: Scores = np.where(gains.staying, gains.by_name[self._hops, span], gains.said[self._hops, span])
        return said

    def of_two_hops(self, span: int) -> Scores:
        """The gain of one word that says two hops: "the same director as X"."""
        by_name = self._gains.by_name[self._hops[:, :-1], span]
        both: Scores = np.where(self._there_and_back, by_name + self._shared, IMPOSSIBLE)
        return both

    def of_kind(self, span: int, is_beside: bool) -> Scores:
        """The gain of naming a kind, also of the topic's kind read late: "the film X starred which actors"."""
        kinds = self._gains.kinds
        kind = np.maximum(kinds[self._after, span], kinds[self._before, span])
        late: Scores = np.maximum(kind, kinds[self._start, span] if is_beside else IMPOSSIBLE)
        return late


def is_inverse_of(then: str, step: str) -> bool:
    """True if the hop `then` walks straight back along `step`; a hop through a record does not count."""
    return "|" not in step and then != step and then.lstrip("^") == step.lstrip("^")
