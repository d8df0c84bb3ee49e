"""The next action of a question without a model, and what it is planned from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from app.language.readings import AskedForm
from app.llm.in_house import ReadingScores, VotedPaths
from app.llm.tasks import Thing
from app.reader.plans.candidate_paths import ScoredPath

# The score of what can mean nothing else.
SURE = 1.0
YES_OR_NO = "yes or no"


@dataclass(frozen=True, slots=True)
class NextAction:
    """The next action: answer with `expressions`, or follow `choices` first; refuse where both are empty.

    `score` is the path's; `scores` tell more of the reading that it follows. `asks_back`: questions that may have
    been meant, where no reading is sure.
    """

    score: float
    expressions: tuple[str, ...] = ()
    choices: tuple[int, ...] = ()
    scores: ReadingScores | None = None
    asks_back: tuple[str, ...] = ()


REFUSAL = NextAction(0.0)
"""For a question with a word that nothing here executes."""


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """All that a form needs: the paths from every root, best first, and what the question names."""

    form: AskedForm
    paths: Sequence[ScoredPath]
    roots: Sequence[Thing]
    kinds: Sequence[Thing]
    both_named: bool
    width: int
    last_round: bool
    ends: dict[str, str] = field(default_factory=dict)
    values: Sequence[Thing] = ()
    voted: VotedPaths | None = None

    @property
    def from_kinds(self) -> bool:
        """True where the question names no thing, so that paths set out from whole kinds."""
        return all(root in self.kinds for root in self.roots)


def share(concept: str, other: str) -> bool:
    """True where something may be of both concepts; `thing` says nothing of what it is."""
    ours, theirs = parts_of(concept), parts_of(other)
    return not ours.isdisjoint(theirs) or "thing" in ours | theirs


def parts_of(concept: str) -> set[str]:
    return {part.strip() for part in concept.split(",")}


def numbers_of(scored: Sequence[ScoredPath], width: int) -> tuple[int, ...]:
    numbers = dict.fromkeys(each.path.candidate for each in scored if each.path.candidate is not None)
    return tuple(numbers)[:width]


def narrowed(asked: ParsedQuestion, name: str, concept: str) -> str:
    """Things of no known kind may well be of the one that was asked for: they do not narrow anything.

    A set that is called by one concept may hold a few things of others, which would be counted as well. Where there
    was a vote, kinds are too many and too vague to bind an answer.
    """
    if asked.voted is not None:
        return name
    concepts = parts_of(concept)
    mixed = len(concepts - {"thing"}) > 1 or (asked.form.form == "count" and "thing" not in concepts)
    for kind in asked.kinds:
        if kind.name != name and kind.concept in concepts and mixed:
            return f"intersect({name}, {kind.name})"
    return name
