"""Sets as numbers: many sets at once, laid end to end in arrays, found equal without being compared."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Sums = npt.NDArray[np.uint64]


def weights_of(count: int) -> Sums:
    """Two random odd numbers for each of `count` members: a set is known by their sums, which wrap."""
    drawn = np.random.default_rng().integers(1, 1 << 63, size=(2, max(1, count)), dtype=np.uint64)
    odd: Sums = drawn | np.uint64(1)
    return odd


def sums_between(weights: Sums, starts: Numbers) -> Sums:
    """Both sums of each stretch between `starts`."""
    running = np.concatenate([np.zeros((2, 1), np.uint64), np.cumsum(weights, axis=1, dtype=np.uint64)], axis=1)
    sums: Sums = running[:, starts[1:]] - running[:, starts[:-1]]
    return sums


def number_pairs(first: Numbers, sums: Sums) -> tuple[Numbers, Numbers]:
    """One number for each distinct triple of `first` and both sums, ascending with `first`; and an example of each."""
    order = np.lexsort((sums[1], sums[0], first))
    fresh = differs(first[order]) | differs(sums[0][order]) | differs(sums[1][order])
    numbers = np.empty(len(order), dtype=np.int64)
    numbers[order] = np.cumsum(fresh) - 1
    return numbers, order[fresh]


def number_sets(sums: Sums) -> tuple[Numbers, Numbers]:
    """One number for each distinct set, and an example of each."""
    return number_pairs(np.zeros(sums.shape[1], dtype=np.int64), sums)


def distinct(keys: Numbers) -> Numbers:
    """Each key once, ascending: what np.unique gives by a hash table, in a fifth of its time where keys are many."""
    keys = np.sort(keys)
    return keys[differs(keys)]


def added_up(keys: Numbers, counts: Numbers) -> tuple[Numbers, Numbers]:
    """Each key once, ascending, with the sum of its counts."""
    order = np.argsort(keys)
    keys, counts = keys[order], counts[order]
    starts = np.flatnonzero(differs(keys))
    return keys[starts], np.add.reduceat(counts, starts) if len(starts) else counts


def tally(values: Numbers) -> dict[int, int]:
    """The number of times that each value occurs."""
    found, times = np.unique(values, return_counts=True)
    return dict(zip(found.tolist(), times.tolist(), strict=True))


def differs(values: npt.NDArray[np.int64] | npt.NDArray[np.int32] | Sums) -> Flags:
    """True at each value that is another than the one before it, and at the first."""
    fresh = np.ones(len(values), dtype=np.bool_)
    np.not_equal(values[1:], values[:-1], out=fresh[1:])
    return fresh


def stretches(lots: Numbers) -> Iterator[tuple[int, int]]:
    """The begin and end of each run of one value."""
    borders = [*np.flatnonzero(differs(lots)).tolist(), len(lots)]
    yield from pairwise(borders)


def lengths_between(starts: npt.NDArray[Any]) -> Numbers:
    """The length of each stretch between `starts`."""
    return starts[1:].astype(np.int64) - starts[:-1].astype(np.int64)


def running_total(values: Numbers) -> Numbers:
    """0, then the sum of all values up to each one."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(values)])
