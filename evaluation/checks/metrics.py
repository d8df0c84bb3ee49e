"""Measures of how right an answer is: hits@1 and F1 over normalised names, calibration error, and intervals."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation

_YES = frozenset({"yes", "true"})
_NO = frozenset({"no", "false"})
_NUMBER = re.compile(r"^[+-]?\d[\d,]*(\.\d+)?$")
_PLACES = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class AnswerPart:
    """One part of an answer: its names, and whether their order is part of the answer."""

    names: tuple[str, ...] = field(repr=False)
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class Score:
    """hits@1 and F1 of one answer, both between 0 and 1."""

    hit: float
    f1: float


def score(parts: Sequence[AnswerPart], gold: Sequence[str]) -> Score:
    """Returns hits@1 and F1 of an answer.

    hits@1 judges the first name of an ordered answer; of an unordered set, it is the chance that a random member is
    right. F1 is over the set of all names. A question without gold answers is right if nothing is answered.
    """
    wanted = {comparable(name) for name in gold}
    given = [[comparable(name) for name in part.names] for part in parts if part.names]
    if not wanted or not given:
        right = float(not wanted and not given)
        return Score(right, right)
    return Score(_hit(parts, wanted), _f1({name for names in given for name in names}, wanted))


def comparable(text: str) -> str:
    """Returns `text` normalised for comparison: without case, underscores, runs of spaces and Unicode variants.

    Numbers compare by value to two decimal places ("1,250.50" equals "1250.5"); "true" equals "yes", and "false" "no".
    """
    folded = " ".join(unicodedata.normalize("NFKC", text).casefold().replace("_", " ").split())
    if folded in _YES or folded in _NO:
        return "yes" if folded in _YES else "no"
    if _NUMBER.match(folded):
        try:
            return f"{Decimal(folded.replace(',', '')).quantize(_PLACES).normalize():f}"
        except InvalidOperation:
            return folded
    return folded


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def percentile(values: Sequence[float], share: float) -> float:
    """Returns the smallest value that at least `share` of `values` do not exceed; 0 if there are no values."""
    ranked = sorted(values)
    position = max(0, -(-int(share * 1000) * len(ranked) // 1000) - 1)
    return ranked[min(position, len(ranked) - 1)] if ranked else 0.0


def calibration_error(
    told: Sequence[tuple[float, bool]], bins: int = 10, weights: Sequence[float] | None = None
) -> float:
    """Returns the expected calibration error (Naeini et al., AAAI 2015, section 3) of pairs (confidence, was right).

    In each of `bins` equally wide bins it is the difference between the mean confidence and the share that is right,
    weighted by the number of pairs in the bin or the sum of their `weights`. 0 if there are no pairs.
    """
    counted = weights or [1.0] * len(told)
    gaps: dict[int, float] = {}
    for (confidence, is_right), weight in zip(told, counted, strict=True):
        at = min(bins - 1, int(confidence * bins))
        gaps[at] = gaps.get(at, 0.0) + weight * (confidence - is_right)
    return sum(map(abs, gaps.values())) / sum(counted) if told else 0.0


def interval(values: Sequence[float], seed: int = 0, draws: int = 1000) -> tuple[float, float]:
    """Returns the bootstrapped 95 % interval of the mean of `values`."""
    # Imported here, so that commands that show no interval start without them.
    import numpy as np
    from scipy.stats import bootstrap

    # The library needs two values or more.
    if len(values) < 2:
        return mean(values), mean(values)
    found = bootstrap((values,), np.mean, n_resamples=draws, batch=100, method="percentile", rng=seed)
    low, high = found.confidence_interval
    return float(low), float(high)


def _hit(parts: Sequence[AnswerPart], wanted: set[str]) -> float:
    first = next(part for part in parts if part.names)
    names = [comparable(name) for name in first.names]
    if first.ordered:
        return float(names[0] in wanted)
    return sum(name in wanted for name in names) / len(names)


def _f1(given: set[str], wanted: set[str]) -> float:
    return 2 * len(given & wanted) / (len(given) + len(wanted))
