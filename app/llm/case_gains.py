"""The gain of each path that answered questions like this one, as learned from rated answers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from app.llm.in_house import CasePath


def gains_of(
    cases: Sequence[CasePath], paths: Sequence[tuple[str, ...]], or_begins: bool = False
) -> npt.NDArray[np.float64]:
    """Returns the gain of each path, in units of a cosine; shape (paths,).

    `or_begins`: the beginnings of a remembered path gain as much, since they have to be followed first.
    """
    known = {case.path: case.gain for case in cases}
    if or_begins:
        for case in cases:
            for length in range(1, len(case.path)):
                known[case.path[:length]] = max(case.gain, known.get(case.path[:length], 0.0))
    return np.array([known.get(path, 0.0) for path in paths], dtype=np.float64)
