"""Statements of one to four facts of a graph, and how they are said one after the other."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from evaluation.dialogue.extractor.fact_graph import FactDraw, FactGraph, is_unseen_relation
from evaluation.dialogue.extractor.text import listed, mark, replaced
from evaluation.dialogue.extractor.wordings import wordings_of
from evaluation.dialogue.opendialkg import Triple

MAX_LISTED: Final = 4
_LISTED, _FIRST_PRONOUN, _NEXT_PRONOUN = 0.35, 0.08, 0.5
_ALWAYS_SYMMETRIC: Final = frozenset("spouse|sibling|siblings|spouse (or domestic partner)|peer|adjoins".split("|"))
_PRONOUNS: Final = {"he": ("him", "his"), "she": ("her", "her"), "they": ("them", "their"), "it": ("it", "its")}


@dataclass(frozen=True, slots=True)
class Statement:
    """Facts of one relation that share an end: several heads or several tails, not both."""

    heads: tuple[str, ...] = field(repr=False)
    relation: str
    tails: tuple[str, ...] = field(repr=False)

    @property
    def things(self) -> tuple[str, ...]:
        return (*self.heads, *self.tails)

    def ends(self, *, is_head: bool) -> tuple[str, ...]:
        return self.heads if is_head else self.tails


class StatementDraw:
    """Draws statements that belong together, or that are easily taken for one another."""

    def __init__(self, facts: FactDraw, *, with_unseen: bool) -> None:
        """`with_unseen`: also of relations that are kept for the test."""
        self._facts, self._with_unseen = facts, with_unseen

    @property
    def graph(self) -> FactGraph:
        return self._facts.graph

    def drawn(self, draw: random.Random) -> list[Statement]:
        found = [self._statement(self._facts.fact(draw), draw)]
        for _ in range(draw.choices((0, 1, 2, 3), (30, 32, 24, 14))[0]):
            if (more := self._next(found, draw)) is not None:
                found.append(self._statement(more, draw))
        return found

    def is_symmetric(self, relation: str) -> bool:
        return relation in _ALWAYS_SYMMETRIC or relation in self.graph.symmetric

    def other(self, statement: Statement, draw: random.Random, *, is_head: bool) -> str | None:
        """A thing that has the same relation at the same end, to others."""
        head, _, tail = draw.choice(self.graph.by_relation[statement.relation])
        found = head if is_head else tail
        return None if found in statement.things else found

    def relations_of(self, thing: str, *, is_head: bool) -> list[str]:
        facts = (self.graph.of_head if is_head else self.graph.of_tail).get(thing, ())
        return [relation for relation in dict.fromkeys(fact[1] for fact in facts) if self._may_be_used(relation)]

    def _next(self, said: Sequence[Statement], draw: random.Random) -> Triple | None:
        last = said[-1]
        head, tail = said[0].heads[0], draw.choice(last.tails)
        pools = (
            self.graph.of_head[head],
            self.graph.of_tail[tail],
            self.graph.of_head.get(tail, []),
            self.graph.by_relation[last.relation],
        )
        pool = draw.choices(pools, (50, 15, 15, 20))[0]
        named = {thing for each in said for thing in each.things}
        for _ in range(4):
            fact = draw.choice(pool) if pool else None
            is_new = fact and not any(
                fact[1] == each.relation and {fact[0], fact[2]} & set(each.things) for each in said
            )
            # What is named twice may stand in one role only.
            if fact and is_new and self._may_be_used(fact[1]) and not (fact[0] in named and fact[2] in named):
                return fact
        return None

    def _statement(self, fact: Triple, draw: random.Random) -> Statement:
        head, relation, tail = fact
        if draw.random() < _LISTED:
            tails = self._with([f[2] for f in self.graph.of_head[head] if f[1] == relation], tail, draw)
            if len(tails) > 1:
                return Statement((head,), relation, tails)
            return Statement(
                self._with([f[0] for f in self.graph.of_tail[tail] if f[1] == relation], head, draw), relation, (tail,)
            )
        return Statement((head,), relation, (tail,))

    def _with(self, pool: Sequence[str], one: str, draw: random.Random) -> tuple[str, ...]:
        others = [each for each in dict.fromkeys(pool) if each != one]
        return (one, *draw.sample(others, min(len(others), draw.randint(1, MAX_LISTED - 1))))

    def _may_be_used(self, relation: str) -> bool:
        return self._with_unseen or not is_unseen_relation(relation)


class Speaker:
    """Words the statements of one text; who was just spoken of may be a pronoun."""

    def __init__(self, draw: random.Random, *, is_unseen: bool) -> None:
        """`is_unseen`: in wordings that are kept for the test."""
        self._draw, self._is_unseen = draw, is_unseen
        self._spoken_of: str | None = None
        self._pronouns: dict[str, str] = {}

    def clause(self, statement: Statement, number: int, *, with_pronouns: bool = True) -> str:
        wordings = wordings_of(statement.relation)
        template = wordings.drawn(self._draw, is_unseen=self._is_unseen)
        for person, things in (("head", statement.heads), ("tail", statement.tails)):
            if person in wordings.people:
                self._pronouns |= {
                    thing: self._draw.choice(("he", "she", "they")) for thing in things if thing not in self._pronouns
                }
        pronoun = self._pronoun(statement) if with_pronouns else None
        self._spoken_of = statement.heads[0] if len(statement.heads) == 1 else statement.tails[0]
        values = {
            "h": listed([mark(head, number) for head in statement.heads], self._draw),
            "t": listed([mark(tail, number, is_small=wordings.small) for tail in statement.tails], self._draw),
        }
        end = None
        if pronoun:
            end = "h" if self._spoken_of == statement.heads[0] and len(statement.heads) == 1 else "t"
            template = _with_pronoun(template, end, self._pronouns.get(self._spoken_of, "it"))
        many = ("h" if len(statement.heads) > 1 else "t") if len(statement.things) > 2 else None
        if many and template.startswith(f"{{{many}}}"):
            template = _plural_verb(template)
        return replaced(template, values)

    def _pronoun(self, statement: Statement) -> bool:
        one = statement.heads[0] if len(statement.heads) == 1 else statement.tails[0]
        chance = _FIRST_PRONOUN if self._spoken_of is None else _NEXT_PRONOUN if self._spoken_of == one else 0.0
        return self._draw.random() < chance


def _with_pronoun(template: str, end: str, pronoun: str) -> str:
    object_form, possessive = _PRONOUNS[pronoun]
    place = f"{{{end}}}"
    template = template.replace(f"{place}'s", possessive)
    if template.startswith(place):
        told = pronoun + template[len(place) :]
        return _plural_verb(told) if pronoun == "they" else told
    return template.replace(place, object_form)


def _plural_verb(clause: str) -> str:
    return re.sub(
        r"^(\S+|\{\w\}) (is|was|has)\b",
        lambda m: f"{m[1]} { {'is': 'are', 'was': 'were', 'has': 'have'}[m[2]] }",
        clause,
    )
