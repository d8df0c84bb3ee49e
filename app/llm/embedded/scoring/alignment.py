"""The best monotone alignment of a path's hops with the words of a question (dynamic programming)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from app.llm.embedded.language.question_words import WalkedQuestion
from app.llm.embedded.scoring.weights import Weights

Scores = npt.NDArray[np.floating[Any]]
Flags = npt.NDArray[np.bool_]

IMPOSSIBLE = -1e9


def align(
    walked: WalkedQuestion,
    said: Scores,
    by_name: Scores,
    kinds: Scores,
    hops: npt.NDArray[np.int64],
    staying: Flags,
    undoing: Flags,
    w: Weights,
) -> Scores:
    """The best score of each path, given as rows of `hops`, filled up with none; shape (paths,).

    `said`: what each hop gains on each span, shape (hops + 1, spans), the last row none; `by_name`: the same by the
    words of its relation alone. `kinds`: what naming the kind beside a hop gains, shape (hops + 2, spans): then none,
    then the start. `staying`: steps from things of a kind to things of that kind, shape (paths, steps): its name does
    not say such a step. `undoing`: which hop walks back along which, shape (hops + 1, hops + 1).
    `best[at, path, j]`: the words before `at`, with the first j hops said.
    """
    length, (count, longest) = walked.length, hops.shape
    none, start = len(kinds) - 2, len(kinds) - 1
    # The kind at the end of hop j may be said right after hop j, or right before it.
    after = np.concatenate([np.full((count, 1), start), hops], axis=1)
    before = np.concatenate([hops, np.full((count, 1), none)], axis=1)
    there_and_back = undoing[hops[:, :-1], hops[:, 1:]] & walked.is_shared
    there_and_back &= there_and_back.cumsum(axis=1) == 1  # Of several turns the first alone takes one word.
    best = np.full((length + 1, count, longest + 1), IMPOSSIBLE)
    best[0, :, 0] = 0.0
    for at in range(length):
        here = best[at]
        unsaid = w.unsaid_word if walked.is_content[at] else 0.0
        best[at + 1] = np.maximum(best[at + 1], here - unsaid)
        for number, span in walked.spans_at(at):
            there = best[span.end]
            gains = np.where(staying, by_name[hops, number], said[hops, number])
            there[:, 1:] = np.maximum(there[:, 1:], here[:, :-1] + gains)
            # "the same director as X": one word for two hops.
            both = np.where(there_and_back, by_name[hops[:, :-1], number] + w.shared, IMPOSSIBLE)
            there[:, 2:] = np.maximum(there[:, 2:], here[:, :-2] + both)
            kind = np.maximum(kinds[after, number], kinds[before, number])
            # What the topic is may be read late, though it stands beside it: "the film X starred which actors".
            np.maximum(there, here + np.maximum(kind, kinds[start, number] if span.beside else IMPOSSIBLE), out=there)
    ends = (hops != none).sum(axis=1)
    result: Scores = best[length, np.arange(count), ends]
    return result


def undoes(then: str, step: str) -> bool:
    """True where `then` walks back along `step`; through a mediator nothing meets itself again."""
    return "|" not in step and then != step and then.lstrip("^") == step.lstrip("^")
