"""Ranks the right tail of each test fact among all entities: filtered, in bulk."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from app.memory.embeddings.model import EmbeddingModel, FactRows, Rows

Ranks = npt.NDArray[np.float64]
_AT_ONCE: Final = 512
_SAME: Final = 1e-5
"""Scores that differ by less count as equal: each of equal scores gets their mean rank."""


def filtered_ranks(model: EmbeddingModel, asked: FactRows, known: FactRows) -> Ranks:
    """Returns the rank of each asked fact's tail, from 1, among the entities that are no other known tail.

    `asked` and `known` hold both directions where both are to be ranked (Bordes and others 2013, section 4.1).
    """
    queries, of_query = np.unique(_query_numbers(asked), return_inverse=True)
    order = np.argsort(of_query, kind="stable")
    starts = np.searchsorted(of_query[order], np.arange(len(queries) + 1))
    known_numbers = _query_numbers(known)
    by_query = np.argsort(known_numbers, kind="stable")
    known_numbers, known_tails = known_numbers[by_query], known[by_query, 2]
    first, last = (np.searchsorted(known_numbers, queries, side=side) for side in ("left", "right"))
    ranks = np.empty(len(asked))
    for low in range(0, len(queries), _AT_ONCE):
        high = min(low + _AT_ONCE, len(queries))
        facts = order[starts[low] : starts[high]]
        rows = of_query[facts] - low
        scores = model.score_tails(*_heads_and_relations(queries[low:high]))
        right = scores[rows, asked[facts, 2]]
        for row in range(low, high):
            scores[row - low, known_tails[first[row] : last[row]]] = -np.inf
        ranks[facts] = [_rank(scores[row], score) for row, score in zip(rows, right, strict=True)]
    return ranks


def _rank(scores: npt.NDArray[np.float32], right: np.float32) -> float:
    above = np.count_nonzero(scores > right + _SAME)
    return 1 + (above + np.count_nonzero(scores >= right - _SAME)) / 2


_WIDTH: Final = 1 << 20


def _query_numbers(facts: FactRows) -> Rows:
    return facts[:, 0] * _WIDTH + facts[:, 1]


def _heads_and_relations(numbers: Rows) -> tuple[Rows, Rows]:
    return numbers // _WIDTH, numbers % _WIDTH
