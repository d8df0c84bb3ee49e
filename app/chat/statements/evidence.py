"""The facts of a reply by the things that they tie together, and the questions that the house answers beside them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from app.chat.statements.words.tokens import noun_base
from app.chat.statements.words.wording import OTHER, PERSONS, End, Wording, kinds_like, wording_of
from app.strategies.base import FoundFact

ReplyWords = Literal["model", "service"]
ValueSort = Literal["date", "number", "truth", ""]
_SORTS: Final[dict[str, ValueSort]] = {
    "date": "date", "year": "date", "number": "number", "age": "number", "yes or no": "truth",
}  # fmt: skip
_WIDE: Final = frozenset({"", "thing", "text"})


@dataclass(frozen=True, slots=True)
class StatementContext:
    """The knowledge of the house beside the facts.

    `truth_of` executes an expression of the set algebra; None where that gives no yes and no no. `labels`: relation
    labels of the graph; a piece with the words of one is not carried by a fact of another. `topics`: things that the
    dialogue spoke of before, the latest first, each with its concept. `words`: whose words a reply has; with those of
    the service nothing of a model's stays but which facts it tells.
    """

    truth_of: Callable[[str], bool | None] = lambda _expression: None
    labels: Sequence[str] = ()
    topics: Sequence[tuple[str, str]] = ()
    words: ReplyWords = "model"


@dataclass(frozen=True, slots=True)
class Step:
    """A fact seen from one of its ends, `name`; `label` leads from there."""

    fact: int
    label: str
    wording: Wording
    name: str
    here: End
    there: str
    sort: ValueSort

    @property
    def over(self) -> End:
        return OTHER[self.here]


class Evidence:
    """The facts of one reply, by their ends."""

    def __init__(self, facts: Sequence[FoundFact], beside: StatementContext) -> None:
        self.beside = beside
        self._labels = ["|".join(fact.path) for fact in facts]
        self._steps: defaultdict[str, list[Step]] = defaultdict(list)
        self._concepts: defaultdict[str, set[str]] = defaultdict(set)
        for name, concept in beside.topics:
            self._concepts[name] |= _kinds(concept)
        for place, fact in enumerate(facts):
            self._concepts[fact.start] |= _kinds(fact.start_concept)
            self._concepts[fact.end] |= _kinds(fact.end_concept)
            if len(fact.path) == 1:
                label, wording, sort = fact.path[0], wording_of(fact.path[0]), _SORTS.get(fact.end_concept, "")
                self._steps[fact.start].append(Step(place, label, wording, fact.start, "start", fact.end, sort))
                self._steps[fact.end].append(Step(place, inverse(label), wording, fact.end, "end", fact.start, ""))
        self.names = tuple(self._concepts)

    def steps(self, name: str) -> Sequence[Step]:
        return self._steps.get(name, ())

    def between(self, one: str, other: str) -> list[Step]:
        return [step for step in self.steps(one) if step.there == other]

    def labels(self, facts: frozenset[int]) -> set[str]:
        """The relations of `facts`."""
        return {self._labels[fact] for fact in facts}

    def kinds(self, name: str) -> set[str]:
        return self._concepts.get(name, set())

    def is_person(self, name: str) -> bool | None:
        """None where nothing tells."""
        kinds = self.kinds(name)
        return any(kind.split()[-1] in PERSONS for kind in kinds) if kinds else None

    def kind_words(self, name: str) -> frozenset[str]:
        """Nouns, in the singular, that may call `name`: of its concept, and of its part in the facts."""
        return self.concept_words(name) | {noun.split()[-1] for noun in self.role_nouns(name)}

    def concept_words(self, name: str) -> frozenset[str]:
        """Nouns for the concept of `name`."""
        kinds = self.kinds(name)
        words = {noun_base(part) for kind in kinds for part in kind.split()}
        near = frozenset[str]().union(*(kinds_like(word) for kind in kinds for word in (kind, kind.split()[-1])))
        people = kinds_like("person") if self.is_person(name) else frozenset[str]()
        return near | words | people

    def role_nouns(self, name: str) -> frozenset[str]:
        """Nouns for what `name` is to others: director, where it directed something."""
        return frozenset(
            noun for step in self.steps(name) for noun, ends in step.wording.nouns.items() if step.over in ends
        )

    def is_true(self, expression: str) -> bool | None:
        return self.beside.truth_of(expression)


def inverse(label: str) -> str:
    """The step walked backwards."""
    return "|".join(hop[1:] if hop.startswith("^") else f"^{hop}" for hop in reversed(label.split("|")))


def _kinds(concept: str) -> set[str]:
    return {kind for part in concept.lower().split(",") if (kind := part.strip()) not in _WIDE}
