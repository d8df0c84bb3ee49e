"""Defines the data that strategies and the embedded reasoner pass to each other, and that no prompt holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class ReadingScores:
    """The scores of the embedded reasoner's reading of a question; they hold no word of it.

    `road`: the way of reading. `margin`: the lead in score over the next reading with another meaning. `weakest`: the
    likeness (0 to 1) of the step that the words explain worst. `steps`: the number of steps; `silent`: how many of
    them no word names. `share`: the part (0 to 1) of all weight that the winner of a vote got, or the chance of a
    ranked reading.

    The other fields are set if the road is "whole", where the whole question was compared and not its single words.
    `likeness`: the cosine of the question and the reading; `margin` is in cosines too. `pull`: the gain in `likeness`
    if the words that the reading leaves unread are taken out of the question. `fits`: the reading uses all that is
    named, and gives the kind asked for. `accounted`: each run of unread words may name a silent step.
    """

    road: Literal["meaning", "whole", "path", "vote", "other", "ranked"]
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

    `paths`: those that lead to the winner, each as its starting pseudonym and its labels. `share`: the part (0 to 1)
    of all weight that the winner got. `margin`: the winner's lead in weight over the best thing that the winning path
    does not lead to. `sorting`: in "lawyers born in X", the path from the common noun to the lawyers, if the vote was
    limited to these; else empty.
    """

    paths: frozenset[tuple[str, ...]]
    share: float
    margin: float
    sorting: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HeldMeaning:
    """The meaning of a question read as a whole: an `expression` over pseudonyms that has a result in the graph.

    The margin in `scores` is the lead over the next reading that also has a result.
    """

    expression: str
    scores: ReadingScores


class OfferedReading(NamedTuple):
    """A reading that is offered to the asker: the `question` that says it, and its `expression`, in pseudonyms."""

    question: str
    expression: str


class CasePath(NamedTuple):
    """A path that answered questions like the one being asked.

    `path`: the labels of its steps. `gain`: what a candidate with this path gains in score, in units of a cosine.
    `settles`: the path was the whole answer to most earlier questions with the same words.
    """

    path: tuple[str, ...]
    gain: float
    settles: bool = False


TimeRelation = Literal["at", "before", "after", "since", "until", "now", "past", "first", "last"]


@dataclass(frozen=True, slots=True)
class AskedTime:
    """The time that a question asks about.

    `dates`: pseudonyms of the date, or of the first and last date of a period. Instead of them, `thing`: a thing whose
    own date is meant, with the `verb` that says which one ("died"). `parts`: start and end of each part of the text
    that states the time. `is_of_one`: the question asks for the holder of an office, which one person holds at a time.
    `is_of_date`: it asks for a date.
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
        """True if the question names a date or a thing with a date; words such as "now" and "first" do not count."""
        return bool(self.names)

    @property
    def names(self) -> tuple[str, ...]:
        """The pseudonyms of the dates and of the thing with a date."""
        return (*self.dates, self.thing) if self.thing else self.dates


def gains_of(
    cases: Sequence[CasePath], paths: Sequence[tuple[str, ...]], or_begins: bool = False
) -> npt.NDArray[np.float64]:
    """Returns what each of `paths` gains in score from `cases` with the same path, in units of a cosine.

    The shape is (paths,). `or_begins`: beginnings of a case's path gain as much, since they have to be followed first.
    """
    known = {case.path: case.gain for case in cases}
    if or_begins:
        for case in cases:
            for length in range(1, len(case.path)):
                known[case.path[:length]] = max(case.gain, known.get(case.path[:length], 0.0))
    return np.array([known.get(path, 0.0) for path in paths], dtype=np.float64)
