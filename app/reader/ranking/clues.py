"""Pairs the question word, and the words beside a name, with what a reading does.

Each pair has a fitted weight, so that no list of words is needed: `count|wh=how many` weighs for a reading that counts
of a question with "how many".

Promise: no name and no value of the graph is in a clue, nor a word that was read as one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from sys import intern
from typing import Final

from app.language.readings import ResultKind
from app.llm.tasks import Thing
from app.reader.language.relation_wording import voice_of
from app.reader.meaning.draft_kinds import DraftKinds
from app.reader.meaning.in_context import Meanings
from app.reader.meaning.question.question_tokens import LABEL, AskedQuestion
from app.reader.meaning.schema_graph import SchemaHop
from app.reader.ranking.candidates import Candidate
from app.reader.scoring.path_scoring import PathScorer
from kg_store.algebra.expressions import FUNCTIONS, PERIODS, parse

SAID: Final = 0.5
"""The likeness from which a word counts as one that says a hop, so that its place and form are clues. By hand."""

MIN_OF_EVENT: Final = 2
"""The least number of relations to things by which a kind may be one of events. By hand."""
GIVES_ROWS: Final = "gives_rows"
"""The number that is 1 for a reading that gives nameless nodes, which no answer can name."""

_ENDINGS: Final = ("est", "ing", "ed", "er", "ly", "or", "s")
_NAMED: Final = ("thing", "value")
_OPERATION: Final = re.compile(rf"\b({'|'.join(sorted(FUNCTIONS, key=len, reverse=True))})\(")
_COMPARED: Final = re.compile(r'filter\([^"]*"[^"]*", (<=|>=|!=|<|>|=)')
_FIRST_STEP: Final = re.compile(r'reach\((\w{6}), "([^"]*)"\)')
_CHOOSING: Final = frozenset({"argmax", "argmin", "most", "fewest", "max", "min", "sort", "compare"})
_DENYING: Final = frozenset({"difference", "none"})


@dataclass(frozen=True, slots=True)
class ReadingFeatures:
    """The features of one reading: `numbers` by name, and the `pairs` of words and what it does that occur."""

    numbers: dict[str, float]
    pairs: tuple[str, ...]


class WordingClues:
    """Finds the clues of the readings of one wording of a question."""

    def __init__(self, scorer: PathScorer, found: Meanings) -> None:
        self._scorer, self._found, self._asked = scorer, found, found.asked
        self._hops: dict[str, SchemaHop] = {}
        for hop in found.graph.hops:
            self._hops.setdefault(hop.label, hop)

    def of(self, each: Candidate) -> ReadingFeatures:
        """Returns the clues of a reading of this wording."""
        text = each.meaning.expression
        gives = self._kinds.of(parse(text))
        operations = _operations(text)
        pairs = [f"{does}{of}" for does in (*operations, f"t={self._type(gives)}") for of in ("", f"|wh={self._wh}")]
        pairs += self._ways(text)
        return ReadingFeatures(self._numbers(each, gives, operations), tuple(map(intern, pairs)))

    @cached_property
    def _kinds(self) -> DraftKinds:
        kinds = [Thing(name=name, concept=kind) for kind, name in self._found.graph.kinds.items()]
        named = [Thing(name=name, concept=kind) for name, kind in self._found.kinds.items()]
        return DraftKinds(self._found.graph, [*named, *kinds], [])

    @cached_property
    def _wh(self) -> str:
        """The question word; "how" with the word that follows it."""
        words = self._asked.words
        wh = self._asked.wh or (words[0] if self._asked.roles[:1] not in ((), *((role,) for role in _NAMED)) else "")
        after = words[words.index(wh) + 1 :] if wh == "how" and wh in words else ()
        return f"{wh} {after[0]}" if after else wh

    def _type(self, gives: ResultKind) -> str:
        if gives.value:
            return gives.value
        if gives.kinds & self._found.builder.persons:
            return "person"
        return min(map(self._scorer.type_of, gives.kinds), default="thing")

    def _ways(self, text: str) -> Iterator[str]:
        """Yields clues on the direction of each step from what is named."""
        words = self._asked.words
        for name, label in _FIRST_STEP.findall(text):
            if name not in words:
                continue
            at, way = words.index(name), "back" if label.startswith("^") else "on"
            before, after = self._beside(at - 1, "<"), self._beside(at + 1, ">")
            yield from (f"d={way}|p={before}", f"d={way}|n={after}", f"d={way}|wh={self._wh}")
            if hop := self._hops.get(label):
                voice = voice_of(hop.shown.lstrip("^").partition("|")[0].lower())
                said = f"{way}|{voice}|{'same' if hop.kind in hop.ends else 'other'}"
                where, ending = self._said_at(label, at)
                yield from (
                    f"v={said}",
                    f"v={said}|{where}",
                    f"v={said}|{where}|{before}",
                    f"v={said}|{where}|{ending}",
                )

    def _beside(self, at: int, outside: str) -> str:
        words, roles = self._asked.words, self._asked.roles
        inside = 0 <= at < len(words)
        return outside if not inside else "named" if roles[at] in _NAMED else words[at]

    def _said_at(self, label: str, name_at: int) -> tuple[str, str]:
        """Returns whether the word most like the hop stands before or after the name, and the ending of that word."""
        content = [at for at in range(len(self._asked.words)) if self._asked.content >> at & 1]
        near = {at: self._found.builder.nearness(at, (label,)) for at in content}
        best = max(near, key=lambda at: near[at], default=-1)
        if best < 0 or near[best] < SAID:
            return "none", "none"
        return "before" if best < name_at else "after", _ending(self._asked.words[best]) or "plain"

    def _numbers(self, each: Candidate, gives: ResultKind, operations: frozenset[str]) -> dict[str, float]:
        text, roles = each.meaning.expression, {*self._asked.roles}
        chooses, denies = not operations.isdisjoint(_CHOOSING), not operations.isdisjoint(_DENYING)
        return {
            GIVES_ROWS: float(bool(gives.kinds) and gives.kinds <= self._found.graph.rows),
            "operations": float(len(operations)),
            "nested": float(text.count("(")),
            "having": float(text.count("having(")),
            "extreme_unasked": float(chooses and roles.isdisjoint({"superlative", "comparative"})),
            "extreme_ignored": float(not chooses and "superlative" in roles),
            "denial_unasked": float(denies and "negation" not in roles),
            "denial_ignored": float(not denies and "negation" in roles),
        } | self._of_nouns(text, gives)

    @cached_property
    def _events(self) -> frozenset[str]:
        """The kinds that lead to several things and to which nothing leads: loans, bookings, visits."""
        on = [hop for hop in self._found.graph.hops if not (hop.value or "^" in hop.label or "|" in hop.label)]
        ends = frozenset[str]().union(*(hop.ends for hop in on))
        counts = Counter(hop.kind for hop in on)
        return frozenset(kind for kind, count in counts.items() if count >= MIN_OF_EVENT and kind not in ends)

    def _of_nouns(self, text: str, gives: ResultKind) -> dict[str, float]:
        """Returns how the nouns of the question fit the kinds that a reading meets and gives."""
        builder, labels = self._found.builder, LABEL.findall(text)
        hops = [hop for label in labels if (hop := self._hops.get(label))]
        met = gives.kinds.union(*(hop.ends | {hop.kind} for hop in hops))
        told = [kind.split(", ") for name, kind in self._found.kinds.items() if name[0] == "S" and name in text]
        said = frozenset[str]().union(*(kinds for _, kinds in builder.nouns.values()), *told)
        events_unsaid = bool(gives.kinds) and gives.kinds <= self._events and gives.kinds.isdisjoint(said)
        found = {
            "kinds_unsaid": float(sum(kinds.isdisjoint(met) for _, kinds in builder.nouns.values())),
            "gives_events": float(events_unsaid),
        }
        head = head_of(self._asked)
        if head < 0:
            return found
        called = next((kinds for used, kinds in builder.nouns.values() if used >> head & 1), None)
        if called is not None:
            return found | {"head_is_given" if called & gives.kinds else "head_is_not_given": 1.0}
        near = builder.nearness(head, labels[-1:])
        return found | {"head_is_like_last": near, "head_is_liker_others": builder.most(head) - near}


def head_of(asked: AskedQuestion) -> int:
    """Returns the position of the first word of what is asked for ("town" in "which town"), or -1."""
    begin = asked.asked if asked.asked >= 0 else len(asked.roles)
    return next((at for at in range(begin, len(asked.roles)) if asked.roles[at] != "grammar"), -1)


def _operations(text: str) -> frozenset[str]:
    found = {*_OPERATION.findall(text), *(f"filter {sign}" for sign in _COMPARED.findall(text))} - {"filter", "reach"}
    return frozenset(found | {period for period in PERIODS if f", {period})" in text}) or frozenset({"plain"})


def _ending(word: str) -> str:
    return next((each for each in _ENDINGS if word.endswith(each) and len(word) > len(each) + 1), "")
