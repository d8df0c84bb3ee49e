"""Confidence intervals by drawing whole dialogues again: turns of one dialogue are no independent samples."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

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
    drawn = np.random.default_rng(seed).integers(0, len(sums), (SAMPLES, len(sums)))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Estimate(float(sums.sum() / counts.sum()), float(low), float(high), len(values))
