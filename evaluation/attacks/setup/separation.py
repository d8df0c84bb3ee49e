"""Measures how well observations tell two groups apart: the area under the curve, 0.5 for not at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Figures = Sequence[float] | npt.NDArray[np.float64]


def area(inside: Figures, outside: Figures) -> float:
    """The share of pairs in which the one from `inside` has the greater figure; a tie counts half."""
    # The library refuses a single class; nobody is told apart then.
    if len(inside) == 0 or len(outside) == 0:
        return 0.5
    # Loading the library takes seconds: only attacks that compare figures wait for it.
    from sklearn.metrics import roc_auc_score

    is_inside = np.arange(len(inside) + len(outside)) < len(inside)
    return float(roc_auc_score(is_inside, np.concatenate([inside, outside])))


def either_way(inside: Sequence[float], outside: Sequence[float]) -> float:
    """As `area`, for an attacker who need not know beforehand which group has the greater figures."""
    found = area(inside, outside)
    return max(found, 1 - found)


def learnt(inside: Sequence[str], outside: Sequence[str]) -> float:
    """As `area`, by texts: the first half of each group teaches which text speaks for which group, and the others
    are told apart by that. A text that was never seen speaks for neither."""
    middles = len(inside) // 2, len(outside) // 2
    ins, outs = Counter(inside[: middles[0]]), Counter(outside[: middles[1]])

    def score(text: str) -> float:
        return (ins[text] + 1) / (ins[text] + outs[text] + 2)

    return area([score(text) for text in inside[middles[0] :]], [score(text) for text in outside[middles[1] :]])
