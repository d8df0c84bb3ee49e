"""Data that strategies and the reasoner inside the service pass to each other, and that no prompt holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class ReadingScores:
    """The scores of the reading behind a reply of the embedded reasoner; they hold no word of the question.

    `road`: the way of reading. `margin`: lead over the next reading with another meaning; `weakest`: likeness (0 to 1)
    of the worst explained hop; `steps`: number of hops, `silent` of them said by no word. `share`: the part of all
    weight that the winner of a vote got. Of the road "whole", where the whole question decided and not its single
    words: `likeness` of the question to the reading (cosine), in which `margin` is then; `pull`: by how much it grows
    without the words that the reading leaves unread; `fits`: the reading uses all that is named, and its kind is the
    kind asked for; `accounted`: each run of unread words may say a hop that no word says.
    """

    road: Literal["meaning", "whole", "path", "vote"]
    score: float
    margin: float
    weakest: float = 1.0
    steps: int = 0
    silent: int = 0
    share: float = 0.0
    likeness: float = 0.0
    pull: float = 0.0
    fits: bool = False
    accounted: bool = False


@dataclass(frozen=True, slots=True)
class VotedPaths:
    """The result of a vote over the things that paths lead to.

    `paths`: those that hold the winner, each as its start and its labels; `share`: the winner's part of all weight (0
    to 1); `margin`: its lead over the first thing of another answer. `sorting`: the path from a common noun that
    narrows the others.
    """

    paths: frozenset[tuple[str, ...]]
    share: float
    margin: float
    sorting: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HeldMeaning:
    """A question read as a whole: an `expression` over pseudonyms that has a result, and the scores of the reading.

    Its margin is the lead over the next reading that also has a result.
    """

    expression: str
    scores: ReadingScores


class CasePath(NamedTuple):
    """A path that answered questions like the one being asked.

    `path`: the labels of its steps; `gain`: in units of a cosine. `settles`: it was the whole answer to most questions
    with the same words.
    """

    path: tuple[str, ...]
    gain: float
    settles: bool = False


TimeRelation = Literal["at", "before", "after", "since", "until", "now", "past", "first", "last"]


@dataclass(frozen=True, slots=True)
class AskedTime:
    """The time that a question asks about.

    `dates`: pseudonyms of the date, or of the first and the last; or `thing`, whose own date is meant, with the `verb`
    that says which ("died"). `parts`: start and end of the text that says it. `is_of_one`: it asks for the holder of
    an office, which one person holds at a time. `is_of_date`: it asks for a date.
    """

    relation: TimeRelation
    dates: tuple[str, ...] = ()
    thing: str = ""
    verb: str = ""
    parts: tuple[tuple[int, int], ...] = ()
    is_of_one: bool = False
    is_of_date: bool = False

    @property
    def is_stated(self) -> bool:
        """True if the question states a time; "now" and "first" are not stated, as a graph may hold nothing else."""
        return bool(self.names)

    @property
    def names(self) -> tuple[str, ...]:
        """The pseudonyms that say the time."""
        return (*self.dates, self.thing) if self.thing else self.dates


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
