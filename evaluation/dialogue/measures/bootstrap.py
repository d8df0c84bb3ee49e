"""Confidence intervals by drawing whole dialogues again: turns of one dialogue are no independent samples."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

SAMPLES: Final = 1_000
LEVEL: Final = 0.95


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean, and the bounds of its interval; all 0 where nothing was measured."""

    mean: float
    low: float
    high: float
    count: int


def estimate(values: Sequence[float], dialogues: Sequence[str], seed: int = 0) -> Estimate:
    """The mean of `values`, one for each of `dialogues`, with the percentile interval of the bootstrap."""
    if not values:
        return Estimate(0.0, 0.0, 0.0, 0)
    groups: dict[str, list[float]] = defaultdict(list)
    for value, dialogue in zip(values, dialogues, strict=True):
        groups[dialogue].append(value)
    sums = np.array([sum(groups[name]) for name in sorted(groups)])
    counts = np.array([len(groups[name]) for name in sorted(groups)])
    mean = float(sums.sum() / counts.sum())
    if len(groups) == 1:
        return Estimate(mean, mean, mean, len(values))
    low, high = _interval(sums, counts, seed)
    return Estimate(mean, low, high, len(values))


def _interval(sums: npt.NDArray[np.float64], counts: npt.NDArray[np.int64], seed: int) -> tuple[float, float]:
    from scipy.stats import bootstrap

    found = bootstrap(
        (sums, counts),
        lambda drawn, lengths, axis: drawn.sum(axis=axis) / lengths.sum(axis=axis),
        paired=True,
        n_resamples=SAMPLES,
        confidence_level=LEVEL,
        method="percentile",
        rng=seed,
    ).confidence_interval
    return float(found.low), float(found.high)
