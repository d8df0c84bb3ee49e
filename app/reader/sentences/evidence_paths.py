"""Reads the evidence behind an answer: the path by which its end was reached, and what kind of thing it is."""

from __future__ import annotations

import re
from dataclasses import dataclass

from app.llm.tasks import Evidence, StepInput
from app.reader.sentences.noun_phrases import Speaker

_WORD = re.compile(r"[A-Za-z0-9]+")
_PAST = frozenset({"was", "were", "did", "had"})
_NO_KIND = frozenset({"thing", "text", "yes or no", ""})


@dataclass(frozen=True, slots=True)
class EvidencePath:
    """The only path to a set or thing, from what the question names; `middle` describes what lies in between."""

    start: str
    steps: tuple[str, ...]
    middle: str = ""
    middle_is_one: bool = False


class KnownFacts:
    """Looks up facts of one StepInput; of its question it uses only the pseudonyms and the tense."""

    def __init__(self, shown: StepInput) -> None:
        self._shown = shown
        words = _WORD.findall(shown.question)
        told = {word for turn in shown.dialogue for word in _WORD.findall(turn.text)}
        self._things = {thing.name: thing for thing in shown.things}
        self._ends = {fact.end: fact for fact in shown.evidence}
        self._named = {*words, *told} & set(self._things)
        self.be = ("was", "were") if not _PAST.isdisjoint(word.lower() for word in words) else ("is", "are")

    def is_kind(self, name: str) -> bool:
        """True if `name` stands for all things of a kind."""
        return name in self._things and name not in self._named and name not in self._ends

    def is_named(self, name: str) -> bool:
        """True if the question, or an earlier turn, names `name`."""
        return name in self._named

    def kind(self, name: str) -> str:
        """The one concept of `name` in the singular; empty if it has none or several."""
        known = self._ends.get(name) or self._things.get(name)
        concept = known.end_concept if isinstance(known, Evidence) else known.concept if known else ""
        return "" if concept in _NO_KIND or "," in concept else concept

    def value_kind(self, relation: str) -> str:
        """`date` or `number` if `relation` leads to such values, else empty."""
        ends = [(fact.path[-1], fact.end_concept) for fact in self._shown.evidence]
        ends += [(way.path[-1], way.concept) for way in self._shown.candidates]
        kinds = {kind for step, kind in ends if step == relation}
        return kinds.pop() if len(kinds) == 1 and kinds <= {"date", "number"} else ""

    def target_kind(self, relation: str) -> str:
        """The one kind of thing that `relation` leads to, by any fact or candidate; empty if several."""
        ends = {fact.end_concept for fact in self._shown.evidence if fact.path[-1] == relation}
        ends |= {way.concept for way in self._shown.candidates if way.path[-1] == relation}
        kind = ends.pop() if len(ends) == 1 else ""
        return "" if kind in _NO_KIND or "," in kind else kind

    def speaker(self, name: str) -> Speaker:
        """The subject of a sentence: a single thing by its pseudonym, several as "they"."""
        thing = self._things.get(name)
        return Speaker.named(name) if thing is None or thing.size == "1" else Speaker.several()

    def last_step_to(self, name: str) -> str | None:
        """The hop with which every path to `name` ends; None if they differ."""
        steps = {fact.path[-1] for fact in self._shown.evidence if fact.end == name}
        return steps.pop() if len(steps) == 1 else None

    def way_to(self, name: str) -> EvidencePath | None:
        """The only path to `name`; None if there is none, more than one, or one of more than two hops."""
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
