"""Measures how right an answer is: hits@1 and F1 over names, after one documented normalisation, with intervals."""

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
    """One part of an answer, in order: the names it stands for; `ordered` when their order is part of it."""

    names: tuple[str, ...] = field(repr=False)
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class Score:
    """Both lie between 0 and 1."""

    hit: float
    f1: float


def score(parts: Sequence[AnswerPart], gold: Sequence[str]) -> Score:
    """hits@1: the first name of the returned order; of an unordered set, the expected hit of a random member.

    F1 is taken over the set of all names. A question without gold is right when nothing is answered.
    """
    wanted = {comparable(name) for name in gold}
    given = [[comparable(name) for name in part.names] for part in parts if part.names]
    if not wanted or not given:
        right = float(not wanted and not given)
        return Score(right, right)
    return Score(_hit(parts, wanted), _f1({name for names in given for name in names}, wanted))


def comparable(text: str) -> str:
    """Names compare without case, underscores, accents' encoding and runs of space; numbers by value.

    "1,250.50" equals "1250.5"; decimals compare to two places; "true" equals "yes".
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
    """The smallest value that at least `share` of `values` do not exceed; 0 for none."""
    ranked = sorted(values)
    position = max(0, -(-int(share * 1000) * len(ranked) // 1000) - 1)
    return ranked[min(position, len(ranked) - 1)] if ranked else 0.0


def calibration_error(
    told: Sequence[tuple[float, bool]], bins: int = 10, weights: Sequence[float] | None = None
) -> float:
    """The expected calibration error (Naeini et al., AAAI 2015, section 3) of confidences and whether each was right.

    In each of `bins` equally wide bins, by how much the mean confidence and the share that is right differ; weighted
    by how many fall into the bin, or by their `weights`. 0 for none.
    """
    counted = weights or [1.0] * len(told)
    gaps: dict[int, float] = {}
    for (confidence, is_right), weight in zip(told, counted, strict=True):
        at = min(bins - 1, int(confidence * bins))
        gaps[at] = gaps.get(at, 0.0) + weight * (confidence - is_right)
    return sum(map(abs, gaps.values())) / sum(counted) if told else 0.0


def interval(values: Sequence[float], seed: int = 0, draws: int = 1000) -> tuple[float, float]:
    """The bootstrapped 95 % interval of the mean of `values`."""
    # Loaded here: commands that show no interval start without them.
    import numpy as np
    from scipy.stats import bootstrap

    # The library asks for two values at least.
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
