"""Says which facts carry a claim about pseudonyms; and asks the house for counts, comparisons and what is not so."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from app.chat.statements.tokens import noun_base
from app.chat.statements.trees import Claim
from app.chat.statements.wording import (
    COMPARED,
    OTHER,
    PERSONS,
    End,
    Ends,
    Wording,
    kinds_like,
    like,
    plain_label,
    wording_of,
)
from app.llm.embeddings.embedder import Likeness
from app.strategies.base import FoundFact

Carriers = frozenset[int]
"""Positions of the facts that carry a claim; a claim without any states nothing that a fact could say."""

NOTHING: Final[Carriers] = frozenset()
_PLAIN_WORDS: Final = frozenset("other further particular specific own certain respective such well name".split())
_PLAIN_HEADS: Final = frozenset("thing one name".split())


@dataclass(frozen=True, slots=True)
class StatementContext:
    """The knowledge of the house beside the facts.

    `truth_of` executes an expression of the set algebra; None where that gives no yes and no no. `labels`: relation
    labels of the graph. `topics`: things that the dialogue spoke of before, the latest first, each with its concept.
    """

    truth_of: Callable[[str], bool | None] = lambda _expression: None
    labels: Sequence[str] = ()
    topics: Sequence[tuple[str, str]] = ()
    likeness: Likeness | None = None


@dataclass(frozen=True, slots=True)
class _Step:
    """A fact seen from one of its ends."""

    fact: int
    label: str
    wording: Wording
    here: End
    there: str


class Evidence:
    """The facts of one reply, by their ends."""

    def __init__(self, facts: Sequence[FoundFact], beside: StatementContext) -> None:
        self._facts, self._beside = facts, beside
        self._steps: defaultdict[str, list[_Step]] = defaultdict(list)
        self._concepts: defaultdict[str, set[str]] = defaultdict(set)
        for place, fact in enumerate(facts):
            self._concepts[fact.start] |= _kinds(fact.start_concept)
            self._concepts[fact.end] |= _kinds(fact.end_concept)
            if len(fact.path) != 1:
                continue
            wording = wording_of(fact.path[0])
            self._steps[fact.start].append(_Step(place, fact.path[0], wording, "start", fact.end))
            self._steps[fact.end].append(_Step(place, _inverse(fact.path[0]), wording, "end", fact.start))
        for name, concept in beside.topics:
            self._concepts[name] |= _kinds(concept)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(self._steps)

    @cached_property
    def _own_words(self) -> frozenset[str]:
        """Verbs and nouns that some relation of the graph has in its own label."""
        return frozenset(word for label in self._beside.labels for word in plain_label(label.split("|")[-1]).split())

    def between(self, one: str, other: str) -> Iterator[_Step]:
        return (step for step in self._steps.get(one, ()) if step.there == other)

    def is_person(self, name: str) -> bool | None:
        """None where nothing tells."""
        kinds = self._concepts.get(name)
        if not kinds:
            return None
        return any(kind.split()[-1] in PERSONS for kind in kinds)

    def verb(self, subject: str, claim: Claim, target: str) -> Carriers | None:
        """The facts by which `subject` does so to `target`."""
        return self._of_steps(
            step
            for step in self.between(subject, target)
            if step.here in self._verb_ends(step.wording, claim)
        )

    def _verb_ends(self, wording: Wording, claim: Claim) -> Ends:
        return wording.verb_subjects(claim.words, claim.prep, is_passive=claim.is_passive)

    def prep(self, subject: str, prep: str, target: str) -> Carriers | None:
        found = (step for step in self.between(subject, target) if step.here in step.wording.preps.get(like(prep), ()))
        return self._of_steps(found)

    def category(self, subject: str, target: str) -> Carriers | None:
        return self._of_steps(step for step in self.between(subject, target) if step.here in step.wording.category)

    def before_noun(self, subject: str, target: str) -> Carriers | None:
        return self._of_steps(step for step in self.between(subject, target) if step.here in step.wording.before_noun)

    def role(self, holder: str, nouns: Sequence[str], filler: str) -> Carriers | None:
        """The facts by which `filler` is that noun of `holder`."""
        return self._of_steps(
            step for step in self.between(holder, filler) if step.here in self._holders(step.wording, nouns, filler)
        )

    def roles(self, holder: str, nouns: Sequence[str]) -> list[tuple[str, Carriers]]:
        """All that are that noun of `holder`, by the facts."""
        return [
            (step.there, frozenset({step.fact}))
            for step in self._steps.get(holder, ())
            if step.here in self._holders(step.wording, nouns, step.there)
        ]

    def kind(self, name: str, nouns: Sequence[str]) -> Carriers | None:
        """The facts by which `name` is called so: none where its concept says it."""
        if not nouns:
            return NOTHING
        if not all(word in _PLAIN_WORDS or word in self._kind_words(name) for word in nouns[:-1]):
            return self._any_role(name, nouns)
        if nouns[-1] in _PLAIN_HEADS or nouns[-1] in self._kind_words(name):
            return NOTHING
        return self._any_role(name, nouns)

    def _any_role(self, name: str, nouns: Sequence[str]) -> Carriers | None:
        for step in self._steps.get(name, ()):
            if OTHER[step.here] in self._holders(step.wording, nouns, name):
                return frozenset({step.fact})
        return None

    def _kind_words(self, name: str) -> frozenset[str]:
        kinds = self._concepts.get(name, set())
        words = {noun_base(part) for kind in kinds for part in kind.split()} | kinds
        near = frozenset[str]().union(*(kinds_like(word) for kind in kinds for word in (kind, kind.split()[-1])))
        people = kinds_like("person") if self.is_person(name) else frozenset()
        return near | words | people

    def _holders(self, wording: Wording, nouns: Sequence[str], filler: str) -> Ends:
        for first in range(len(nouns)):
            found = wording.holders(" ".join(nouns[first:]))
            before = nouns[:first]
            if found and all(word in _PLAIN_WORDS or word in self._kind_words(filler) for word in before):
                return found
        return frozenset()

    def counted(self, name: str, steps: Iterable[_Step], bound: str, number: int) -> Carriers | None:
        """The facts of the first of `steps` that so many things can be told of."""
        for label in dict.fromkeys(step.label for step in steps):
            expression = f'exists(counted({name}, "{label}", {bound}, {number}))'
            if number == 0 and bound == "=":
                expression = f'none(reach({name}, "{label}"))'
            if self._beside.truth_of(expression):
                return frozenset(step.fact for step in self._steps[name] if step.label == label)
        return None

    def verb_steps(self, name: str, claim: Claim) -> list[_Step]:
        return [step for step in self._steps.get(name, ()) if step.here in self._verb_ends(step.wording, claim)]

    def prep_steps(self, name: str, prep: str) -> list[_Step]:
        """Steps from `name` to what is said to be so placed at it."""
        found = self._steps.get(name, ())
        return [step for step in found if OTHER[step.here] in step.wording.preps.get(like(prep), ())]

    def prep_steps_of(self, name: str, prep: str) -> list[_Step]:
        """Steps from `name` to what it is said to be so placed at."""
        return [step for step in self._steps.get(name, ()) if step.here in step.wording.preps.get(like(prep), ())]

    def is_alike(self, one: str, other: str) -> bool:
        """True where both are things or both are values, as their letters say."""
        return (one[0] == "V") == (other[0] == "V")

    def role_steps(self, name: str, nouns: Sequence[str]) -> list[_Step]:
        found = self._steps.get(name, ())
        return [step for step in found if step.here in self._holders(step.wording, nouns, step.there)]

    def category_steps(self, name: str) -> list[_Step]:
        return [step for step in self._steps.get(name, ()) if step.here in step.wording.category]

    def fits(self, steps: Iterable[_Step], nouns: Sequence[str]) -> list[_Step]:
        """Those of `steps` that lead to things of such a kind."""
        return [step for step in steps if self.kind(step.there, nouns) is not None]

    def is_not(self, name: str, steps: Iterable[_Step], other: str) -> Carriers | None:
        """The facts of `name` by which `other` would be among these things, were it so; the house says it is not."""
        known = list(steps)
        for label in dict.fromkeys(step.label for step in known):
            if self._beside.truth_of(f'exists(intersect(reach({name}, "{label}"), {other}))') is not False:
                return None
        return frozenset(step.fact for step in known) or None

    def compared(self, one: str, other: str, claim: Claim) -> Carriers | None:
        """By a value that both have: "older than", "came out before"."""
        for first in self._steps.get(one, ()):
            sign = self._sign(first, claim)
            for second in self._steps.get(other, ()) if sign else ():
                if second.label != first.label or second.here != first.here:
                    continue
                expression = f'exists(filter({one}, "{first.label}", {sign}, {second.there}))'
                if self._beside.truth_of(expression):
                    return frozenset({first.fact, second.fact})
        return None

    def _sign(self, step: _Step, claim: Claim) -> str:
        if claim.prep in ("before", "after"):
            in_time = any(
                step.here in step.wording.verb_subjects(claim.words, prep, is_passive=claim.is_passive)
                for prep in ("in", "on", "since")
            )
            return ("<" if claim.prep == "before" else ">") if in_time else ""
        label = plain_label(step.label)
        return next((sign for word in claim.words for known, sign in COMPARED.get(word, ()) if known == label), "")

    def _of_steps(self, steps: Iterable[_Step]) -> Carriers | None:
        return frozenset(step.fact for step in steps) or None


def _kinds(concept: str) -> set[str]:
    return {kind for part in concept.lower().split(",") if (kind := part.strip()) not in ("", "thing", "text")}


def _inverse(step: str) -> str:
    return "|".join(hop[1:] if hop.startswith("^") else f"^{hop}" for hop in reversed(step.split("|")))
