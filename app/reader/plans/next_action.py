"""The next action of a question that is planned without a language model, and what it is planned from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from app.language.readings import AskedForm
from app.llm.in_house import ReadingScores, VotedPaths
from app.llm.tasks import Thing
from app.reader.plans.candidate_paths import ScoredPath

# The score of an action that can be the only meaning.
SURE = 1.0
YES_OR_NO = "yes or no"


@dataclass(frozen=True, slots=True)
class NextAction:
    """The next action: answer with `expressions`, else follow `choices` first; a refusal if both are empty.

    `score` is that of the best path; `scores` say more about the reading. `asks_back`: questions to offer the user if
    no reading is certain.
    """

    score: float
    expressions: tuple[str, ...] = ()
    choices: tuple[int, ...] = ()
    scores: ReadingScores | None = None
    asks_back: tuple[str, ...] = ()


REFUSAL = NextAction(0.0)
"""The action for a question with a word that cannot be executed."""


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """Everything that a plan needs: the form, the paths from every root, best first, and what the question names."""

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
        """True if the question names no thing, so paths start from whole kinds."""
        return all(root in self.kinds for root in self.roots)


def share(concept: str, other: str) -> bool:
    """True if a thing may be of both concepts; "thing" fits every concept."""
    ours, theirs = parts_of(concept), parts_of(other)
    return not ours.isdisjoint(theirs) or "thing" in ours | theirs


def parts_of(concept: str) -> set[str]:
    return {part.strip() for part in concept.split(",")}


def numbers_of(scored: Sequence[ScoredPath], width: int) -> tuple[int, ...]:
    numbers = dict.fromkeys(each.path.candidate for each in scored if each.path.candidate is not None)
    return tuple(numbers)[:width]


def narrowed(asked: ParsedQuestion, name: str, concept: str) -> str:
    """Narrows the set `name`, of `concept`, to the kind that was asked for, if it may hold things of other kinds.

    Not after a vote: then kinds are too many and too vague. Things of unknown kind may be of the one asked for.
    """
    if asked.voted is not None:
        return name
    concepts = parts_of(concept)
    mixed = len(concepts - {"thing"}) > 1 or (asked.form.form == "count" and "thing" not in concepts)
    for kind in asked.kinds:
        if kind.name != name and kind.concept in concepts and mixed:
            return f"intersect({name}, {kind.name})"
    return name
