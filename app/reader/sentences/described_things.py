"""Describes the things in an answer from its evidence: the path that leads to them, and their kind."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from app.llm.tasks import Candidate, Evidence, StepInput, Thing
from app.reader.sentences.phrases import (
    RelationPhrase,
    Speaker,
    Things,
    agree_with_count,
    many,
    one,
    phrase_of,
    things_of,
)
from kg_store.algebra.expressions import MINUS, THEN, TIMES, Call, Expression, Name
from kg_store.text.inflection import with_article

_WORD = re.compile(r"[A-Za-z0-9]+")
_PAST = frozenset({"was", "were", "did", "had"})
_NO_KIND = frozenset({"thing", "text", "yes or no", ""})


@dataclass(frozen=True, slots=True)
class EvidencePath:
    """The only path in the evidence that leads from a thing of the question to a set or thing.

    `middle`: the kind of the thing in between, if the path has two hops.
    """

    start: str
    steps: tuple[str, ...]
    middle: str = ""
    middle_is_one: bool = False


class KnownFacts:
    """Looks up facts of one StepInput. Of its question, it uses only the pseudonyms and the tense."""

    def __init__(self, shown: StepInput) -> None:
        self._shown = shown
        words = _WORD.findall(shown.question)
        told = {word for turn in shown.dialogue for word in _WORD.findall(turn.text)}
        self._things = {thing.name: thing for thing in shown.things}
        self._ends = {fact.end: fact for fact in shown.evidence}
        self._named = {*words, *told} & set(self._things)
        self.be = ("was", "were") if not _PAST.isdisjoint(word.lower() for word in words) else ("is", "are")

    def is_kind(self, name: str) -> bool:
        """Returns True if `name` stands for all things of a kind."""
        return name in self._things and name not in self._named and name not in self._ends

    def is_named(self, name: str) -> bool:
        """Returns True if the question or an earlier turn names `name`."""
        return name in self._named

    def kind(self, name: str) -> str:
        """Returns the only concept of `name`, in the singular; empty if it has none or several."""
        known = self._ends.get(name) or self._things.get(name)
        concept = known.end_concept if isinstance(known, Evidence) else known.concept if known else ""
        return "" if concept in _NO_KIND or "," in concept else concept

    def value_kind(self, relation: str) -> str:
        """Returns `date` or `number` if `relation` leads to such values, else an empty string."""
        if difference_of(relation):
            return "number"
        kinds = self._kinds_behind(relation)
        return kinds.pop() if len(kinds) == 1 and kinds <= {"date", "number"} else ""

    def target_kind(self, relation: str) -> str:
        """Returns the only concept that `relation` leads to in any fact or candidate; empty if there are several."""
        ends = self._kinds_behind(relation)
        kind = ends.pop() if len(ends) == 1 else ""
        return "" if kind in _NO_KIND or "," in kind else kind

    def _kinds_behind(self, relation: str) -> set[str]:
        """Returns the concepts that the last step of `relation` leads to in facts, candidates and the schema shown."""
        last, shown = relation.rpartition(f" {THEN} ")[2], self._shown
        ends = [(fact.path[-1], fact.end_concept) for fact in shown.evidence]
        ends += [(way.path[-1], way.concept) for way in shown.candidates]
        return {kind for step, kind in (*ends, *shown.relations_of_graph) if step in (relation, last)}

    def speaker(self, name: str) -> Speaker:
        """Returns the subject of a sentence about `name`: the pseudonym of a single thing, or "they" for several."""
        thing = self._things.get(name)
        return Speaker.named(name) if thing is None or thing.size == "1" else Speaker.several()

    def last_step_to(self, name: str) -> str | None:
        """Returns the hop with which every path to `name` ends, or None if they end differently."""
        steps = {fact.path[-1] for fact in self._shown.evidence if fact.end == name}
        return steps.pop() if len(steps) == 1 else None

    def way_to(self, name: str) -> EvidencePath | None:
        """Returns the only path to `name`; None if there are several or none, or if it has more than two hops."""
        leading = [fact for fact in self._shown.evidence if fact.end == name]
        if len(leading) != 1:
            return None
        last = leading[0]
        if last.start in self._named:
            return EvidencePath(last.start, tuple(last.path)) if len(last.path) == 1 else None
        before = [fact for fact in self._shown.evidence if fact.end == last.start]
        if len(before) != 1 or before[0].start not in self._named or len(before[0].path) + len(last.path) != 2:
            return None
        first = before[0]
        return EvidencePath(first.start, (*first.path, *last.path), self.kind(first.end), first.size == "1")


_END: Final = "S00000"
IS: Final = agree_with_count(" is", " are")
HELD: Final = "that holds for {1}"
EXTREMES: Final = {
    "date": {"max": "latest", "min": "earliest"},
    "number": {"max": "highest", "min": "lowest"},
}
_ORDERS: Final = {
    "date": {"<": "before", "<=": "not after", ">": "after", ">=": "not before"},
    "number": {"<": "below", "<=": "of at most", ">": "above", ">=": "of at least"},
}


def things_in(expression: Expression, facts: KnownFacts) -> Things | None:
    """Describes a set in words, or returns None if no words are certain."""
    if isinstance(expression, Name):
        name = expression.pseudonym
        if facts.is_kind(name):
            return Things(facts.kind(name)) if facts.kind(name) else None
        found = last_step(name, facts)
        return things_of(*found, facts.kind(name), facts.be) if found else None
    if expression.function == "filter":
        return _filtered(expression, facts)
    if expression.function == "having":
        return _having(expression, facts)
    if expression.function != "intersect" or len(expression.operands) != 2:
        return None
    first, second = (things_in(operand, facts) for operand in expression.operands)
    if first is None or second is None or first.owner or second.owner:
        return None
    # If only one of the two has clauses, the kind of the other one is used as the noun.
    return Things(second.kind if not second.clauses else first.kind, (*first.clauses, *second.clauses))


def _filtered(call: Call, facts: KnownFacts) -> Things | None:
    things, relation = things_in(call.operands[0], facts), phrase_of(call.words[0])
    order = _ORDERS.get(facts.value_kind(call.words[0]), {}).get(call.words[1])
    value = call.operands[1] if len(call.operands) > 1 else Name(call.words[2])
    if things is None or order is None or not isinstance(value, Name):
        return None
    if difference_of(call.words[0]):
        measure = measure_of(call.words, facts)
        return things.also(lambda _agree: f"with a {measure} {order} {value.pseudonym}")
    if relation is None:
        return None
    if relation.form == "noun" and not relation.inverse:
        words = f"with {with_article(relation.words)} {order} {value.pseudonym}"
        return things.also(lambda _agree: words)
    return None


def _having(call: Call, facts: KnownFacts) -> Things | None:
    things, relation = things_in(call.operands[0], facts), phrase_of(call.words[0])
    if things is None or relation is None or relation.form != "noun" or relation.inverse:
        return None
    return things.also(lambda _agree: f"with {with_article(relation.words)}")


def last_step(name: str, facts: KnownFacts) -> tuple[Speaker, RelationPhrase] | None:
    """Returns the subject and the words of the last hop to `name`, or None if they are not certain."""
    way = facts.way_to(name)
    phrases = [phrase for step in way.steps if (phrase := phrase_of(step))] if way else []
    if way is None or len(phrases) != len(way.steps):
        return None
    speaker = facts.speaker(way.start)
    if len(phrases) == 2:
        number = one if way.middle_is_one else many
        speaker = things_of(speaker, phrases[0], way.middle, facts.be).as_speaker(number)
    return speaker, phrases[-1]


def opening(things: Things) -> str:
    """Returns the description as the subject at the beginning of a sentence."""
    if things.owner is None and not things.kind:
        return things.definite(agree_with_count).replace("{1:the one|those}", "{1:The one|Those}", 1)
    text = things.definite(agree_with_count)
    return f"{text[:1].upper()}{text[1:]}"


def noun_of(words: Sequence[str]) -> str:
    phrase = phrase_of(words[0]) if words else None
    return phrase.words if phrase is not None and phrase.form == "noun" and not phrase.inverse else ""


def measure_of(words: Sequence[str], facts: KnownFacts) -> str:
    """Returns the noun for the numbers of a relation, which may be the difference of two or end several steps."""
    if sides := difference_of(words[0] if words else ""):
        first, second = sides
        if facts.value_kind(first) == "date":
            return f"number of days from “{second}” to “{first}”"
        return f"difference between “{first}” and “{second}”"
    if words and len(factors := words[0].split(f" {TIMES} ")) == 2:
        return "product of “{}” and “{}”".format(*(each.rpartition(f" {THEN} ")[2] for each in factors))
    return noun_of([words[0].rpartition(f" {THEN} ")[2]]) if words else ""


def difference_of(relation: str) -> list[str]:
    """Returns the two relations of whose values `relation` is the difference; else nothing."""
    sides = relation.split(f" {MINUS} ")
    return sides if len(sides) == 2 else []


def candidate_phrase(way: Candidate) -> str:
    """Returns what a candidate leads to, such as `the patients that Eq7f2k treats`; empty if no words are certain."""
    start = Thing(name=way.start, concept="thing", size="1")
    steps = [f"S0000{at}" for at in range(1, len(way.path))]
    ends = [*steps, _END]
    walked = [
        Evidence(start=before, path=[step], end=end, end_concept=way.concept if end == _END else "thing")
        for before, step, end in zip([way.start, *steps], way.path, ends, strict=True)
    ]
    shown = StepInput(question=way.start, things=[start], evidence=walked, candidates=[])
    things = things_in(Name(_END), KnownFacts(shown))
    return things.definite(many) if things else ""
