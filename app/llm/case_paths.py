"""CasePath: a path that answered questions like the one that is asked, as the reasoner inside the service gets it."""

from __future__ import annotations

from typing import NamedTuple


class CasePath(NamedTuple):
    """`path`: the labels of its steps; `gain` in units of a cosine. `settles`: it was the whole answer to most
    questions of the same words."""

    path: tuple[str, ...]
    gain: float
    settles: bool = False
