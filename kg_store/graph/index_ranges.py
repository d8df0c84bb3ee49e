"""Array operations for walking a graph: ranges of positions, and distinct pairs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kg_store.terms import Edges, Mids

Numbers = npt.NDArray[np.int64]


def ranges(starts: Numbers, lengths: Numbers) -> Numbers:
    """Returns all whole numbers of [start, start + length) for each pair, one range after the other."""
    stops = lengths.cumsum()
    total = int(stops[-1]) if len(stops) else 0
    positions: Numbers = np.arange(total, dtype=np.int64) + (starts - stops + lengths).repeat(lengths)
    return positions


def distinct_pairs(heads: Mids, tails: Mids) -> Edges:
    """Returns every pair (`heads[i]`, `tails[i]`) once, sorted by head, then tail."""
    order = np.lexsort((tails, heads))
    heads, tails = heads[order], tails[order]
    fresh = np.ones(len(heads), dtype=np.bool_)
    fresh[1:] = (heads[1:] != heads[:-1]) | (tails[1:] != tails[:-1])
    return Edges(heads[fresh], tails[fresh])
