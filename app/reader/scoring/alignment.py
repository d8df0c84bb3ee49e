"""The best monotone alignment of a path's hops with the words of a question (dynamic programming)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from app.reader.language.question_words import WalkedQuestion


@dataclass(frozen=True, slots=True)
class Weights:
    """In units of a cosine. docs/performance.md says how they were chosen.

    Costs: of every `hop`, of one walked `inverse` that no grammar asks for, of going straight back, of a word that
    nothing explains. Gains: of `direction`, of naming the `kind` beside a hop, of the kind that was `asked` for.
    """

    hop: float = 0.4
    inverse: float = 0.2
    turning_back: float = 0.25
    # A step from things of a kind that its relation does not leave elsewhere.
    misfit: float = 1.0
    unsaid_word: float = 0.28
    direction: float = 0.15
    kind: float = 0.2
    asked: float = 0.2
    asked_wrong: float = 0.25
    # One word for two steps, as in "the same director": the second step and the turn are free, and more.
    shared: float = 0.4
    # "did X direct" says `directed by` backwards, word by word.
    verb: float = 0.9
    # "X's doctor" for `treated by`: what a step leads to may stand for it, but its own words say more.
    kind_alone: float = 0.75
    # Words that say another relation better are weaker evidence for this one, or none.
    rivals: float = 1.0
    most_outdone: float = 0.3
    least: float = 0.15
    # From here on a phrase says a relation in whole.
    whole: float = 0.95
    least_kind: float = 0.7
    # The whole question beside the whole path; it counts for more where relations have long names.
    nearness: float = 0.7
    wordy_nearness: float = 20.0
    wordy_hop: float = 0.2
    wordy_asked: float = 0.25
    few_words: float = 2.8
    many_words: float = 3.6

    def nearness_among(self, words: float) -> float:
        """Of relations that have so many words on average, some are like single words by chance: the more of them,
        the more the whole question decides."""
        share = min(1.0, max(0.0, (words - self.few_words) / (self.many_words - self.few_words)))
        return float(self.nearness ** (1 - share) * self.wordy_nearness**share)


Scores = npt.NDArray[np.floating[Any]]
Flags = npt.NDArray[np.bool_]
Hops = npt.NDArray[np.int64]

IMPOSSIBLE = -1e9


@dataclass(frozen=True, slots=True, eq=False)
class HopGains:
    """The gains of saying each hop on each span of the question; the last row of hops is none.

    `said`: by the words of the hop or of what it leads to, shape (hops + 1, spans); `by_name`: by the words of its
    relation alone. `kinds`: by naming the kind beside a hop, shape (hops + 2, spans): then none, then the start.
    `staying`: steps from things of a kind to things of that kind, shape (paths, steps): its name does not say such a
    step. `undoing`: which hop walks back along which, shape (hops + 1, hops + 1).
    """

    said: Scores
    by_name: Scores
    kinds: Scores
    staying: Flags
    undoing: Flags


def align(walked: WalkedQuestion, hops: Hops, gains: HopGains, w: Weights) -> Scores:
    """The best score of each path, given as rows of `hops`, filled up with none; shape (paths,).

    `best[position, path, j]`: the words before `position`, with the first j hops said.
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
        # The kind at the end of hop j may be said right after hop j, or right before it.
        self._after = np.concatenate([np.full((len(hops), 1), self._start), hops], axis=1)
        self._before = np.concatenate([hops, np.full((len(hops), 1), none)], axis=1)
        turns = gains.undoing[hops[:, :-1], hops[:, 1:]] & is_shared
        self._there_and_back = turns & (turns.cumsum(axis=1) == 1)  # Of several turns the first alone takes one word.

    def of_hop(self, span: int) -> Scores:
        gains = self._gains
        said: Scores = np.where(gains.staying, gains.by_name[self._hops, span], gains.said[self._hops, span])
        return said

    def of_two_hops(self, span: int) -> Scores:
        """One word for two hops: "the same director as X"."""
        by_name = self._gains.by_name[self._hops[:, :-1], span]
        both: Scores = np.where(self._there_and_back, by_name + self._shared, IMPOSSIBLE)
        return both

    def of_kind(self, span: int, is_beside: bool) -> Scores:
        """The topic's kind may be read late, though it stands beside it: "the film X starred which actors"."""
        kinds = self._gains.kinds
        kind = np.maximum(kinds[self._after, span], kinds[self._before, span])
        late: Scores = np.maximum(kind, kinds[self._start, span] if is_beside else IMPOSSIBLE)
        return late


def is_inverse_of(then: str, step: str) -> bool:
    """True where `then` walks back along `step`; through a mediator nothing meets itself again."""
    return "|" not in step and then != step and then.lstrip("^") == step.lstrip("^")
