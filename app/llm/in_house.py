"""Data that strategies and the reasoner inside the service pass to each other, and that no prompt holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple


@dataclass(frozen=True, slots=True)
class ReadingScores:
    """The scores of the reading that a reply of the reasoner in the service follows; no word of the question.

    `road`: by which it was read. `margin` over the next reading that means something else; `weakest`: the likeness of
    the words that say a step least; `steps` of the graph that it takes, `silent` ones said by no word. `likeness` of
    the whole question to the reading, where that decided and `margin` is by it; else 0. `share`: of the weight of all
    paths, what the winner of a vote got.
    """

    road: Literal["meaning", "path", "vote"]
    score: float
    margin: float
    weakest: float = 1.0
    steps: int = 0
    silent: int = 0
    likeness: float = 0.0
    share: float = 0.0


@dataclass(frozen=True, slots=True)
class VotedPaths:
    """The outcome of a vote over the things that paths lead to.

    `paths` that hold the winner, each as its start and its steps; the winner's `share` of all weight, and the `margin`
    over the first thing of another answer. `sorting`: the one of `paths` from a common noun, which sorts the rest.
    """

    paths: frozenset[tuple[str, ...]]
    share: float
    margin: float
    sorting: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HeldMeaning:
    """A question read as a whole: an `expression` over pseudonyms that gives something in the graph, and the scores of
    the reading. Its margin is over the next reading that gives something, too."""

    expression: str
    scores: ReadingScores


class CasePath(NamedTuple):
    """A path that answered questions like the one that is asked.

    `path`: the labels of its steps; `gain` in units of a cosine. `settles`: it was the whole answer to most questions
    of the same words.
    """

    path: tuple[str, ...]
    gain: float
    settles: bool = False


TimeRelation = Literal["at", "before", "after", "since", "until", "now", "past", "first", "last"]


@dataclass(frozen=True, slots=True)
class AskedTime:
    """`dates`: the pseudonyms of the date, or of the first and the last; or the `thing` whose own date it is, with
    the `verb` that says which of them. `parts` of the text that say all this, each from one place to another.
    `is_of_one`: it asks for the one who holds an office, which one holds after another. `is_of_date`: for a date."""

    relation: TimeRelation
    dates: tuple[str, ...] = ()
    thing: str = ""
    verb: str = ""
    parts: tuple[tuple[int, int], ...] = ()
    is_of_one: bool = False
    is_of_date: bool = False

    @property
    def is_stated(self) -> bool:
        """True of a time that the question states: what holds now or came first may be all that a graph tells."""
        return bool(self.names)

    @property
    def names(self) -> tuple[str, ...]:
        """The pseudonyms that say the time, and nothing else."""
        return (*self.dates, self.thing) if self.thing else self.dates
