"""Public graphs as facts by their ends and relations, and statements of them; parts of them are kept for the test."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final, Literal
from zlib import crc32

from app.extractor.features import relation_words
from evaluation.datasets.questions import QuestionsError
from evaluation.dialogue.dialogue_sets import Triple
from evaluation.dialogue.extractor_texts import Statement

Source = Literal["metaqa", "opendialkg", "webqsp", "pathquestion"]
Part = Literal["learnt", "things", "relations", "all"]
"""`things`: facts of things that are kept for the test; `relations`: of relations that are."""
LEARNT: Final[tuple[Source, ...]] = ("metaqa", "opendialkg", "webqsp")
UNSEEN_GRAPH: Final[Source] = "pathquestion"
MAX_LISTED: Final = 4

_FILES: Final[dict[Source, tuple[str, str]]] = {
    "metaqa": ("kb.txt", "|"),
    "opendialkg": ("triples.tsv", "\t"),
    "webqsp": ("triples.tsv", "\t"),
    "pathquestion": ("PQ-3H.kb.tsv", "\t"),
}
_UNSEEN_RELATIONS, _UNSEEN_THINGS = 8, 12
_MAX_NAME, _SYMMETRIC, _MIN_FACTS, _LISTED = 60, 0.3, 5, 0.35
_ALWAYS_SYMMETRIC: Final = frozenset("spouse|sibling|siblings|spouse (or domestic partner)|peer|adjoins".split("|"))


class FactGraph:
    """Facts in both directions."""

    def __init__(self, triples: Iterable[Triple]) -> None:
        self.by_relation: dict[str, list[Triple]] = defaultdict(list)
        self.of_head: dict[str, list[Triple]] = defaultdict(list)
        self.of_tail: dict[str, list[Triple]] = defaultdict(list)
        self._all = frozenset(triples)
        for triple in sorted(self._all):
            head, relation, tail = triple
            self.by_relation[relation].append(triple)
            self.of_head[head].append(triple)
            self.of_tail[tail].append(triple)

    def about(self, thing: str, *, is_head: bool) -> Sequence[Triple]:
        """The facts of which it is the head, or the tail."""
        return (self.of_head if is_head else self.of_tail).get(thing, ())

    def is_symmetric(self, relation: str) -> bool:
        """True where many of its facts are there the other way round, too: spouse, sibling."""
        return relation in _ALWAYS_SYMMETRIC or relation in self._symmetric

    @cached_property
    def _symmetric(self) -> frozenset[str]:
        return frozenset(
            relation
            for relation, facts in self.by_relation.items()
            if sum((tail, relation, head) in self._all for head, _, tail in facts) > _SYMMETRIC * len(facts)
        )


class StatementDraw:
    """Draws statements that belong together, or that are easily taken for one another, around facts of a part of a
    graph; of rare relations more often than they occur."""

    def __init__(self, graph: FactGraph, part: Part, *, with_unseen: bool) -> None:
        """`with_unseen`: also of relations that are kept for the test."""
        self.graph, self._with_unseen = graph, with_unseen
        self._facts = {
            relation: kept
            for relation, facts in graph.by_relation.items()
            if len(kept := [fact for fact in facts if part in ("all", part_of(fact))]) >= _MIN_FACTS
        }
        self._relations = list(self._facts)
        self._weights = [len(facts) ** 0.5 for facts in self._facts.values()]

    def __bool__(self) -> bool:
        return bool(self._relations)

    def drawn(self, draw: random.Random) -> list[Statement]:
        """One to four."""
        relation = draw.choices(self._relations, self._weights)[0]
        found = [self._statement(draw.choice(self._facts[relation]), draw)]
        for _ in range(draw.choices((0, 1, 2, 3), (30, 32, 24, 14))[0]):
            if (more := self._next(found, draw)) is not None:
                found.append(self._statement(more, draw))
        return found

    def other(self, statement: Statement, draw: random.Random, *, is_head: bool) -> str | None:
        """A thing that has the same relation at the same end, to others."""
        head, _, tail = draw.choice(self.graph.by_relation[statement.relation])
        found = head if is_head else tail
        return None if found in statement.things else found

    def relations_of(self, thing: str, *, is_head: bool) -> list[str]:
        relations = dict.fromkeys(fact[1] for fact in self.graph.about(thing, is_head=is_head))
        return [relation for relation in relations if self._may_be_used(relation)]

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
        for _ in range(4 if pool else 0):
            fact = draw.choice(pool)
            ends = {fact[0], fact[2]}
            is_new = not any(fact[1] == each.relation and ends & set(each.things) for each in said)
            # What is named twice may stand in one role only.
            if is_new and self._may_be_used(fact[1]) and not ends <= named:
                return fact
        return None

    def _statement(self, fact: Triple, draw: random.Random) -> Statement:
        head, relation, tail = fact
        heads: tuple[str, ...] = (head,)
        tails: tuple[str, ...] = (tail,)
        if draw.random() < _LISTED:
            tails = _with([each[2] for each in self.graph.of_head[head] if each[1] == relation], tail, draw)
            if len(tails) == 1:
                heads = _with([each[0] for each in self.graph.of_tail[tail] if each[1] == relation], head, draw)
        return Statement(heads, relation, tails)

    def _may_be_used(self, relation: str) -> bool:
        return self._with_unseen or not is_unseen_relation(relation)


def _with(pool: Sequence[str], one: str, draw: random.Random) -> tuple[str, ...]:
    others = [each for each in dict.fromkeys(pool) if each != one]
    return (one, *draw.sample(others, min(len(others), draw.randint(1, MAX_LISTED - 1))))


def part_of(fact: Triple) -> Part:
    """By its words alone, so that a fact is in the same part whatever the seed."""
    head, relation, _ = fact
    if is_unseen_relation(relation):
        return "relations"
    return "things" if crc32(head.encode()) % _UNSEEN_THINGS == 0 else "learnt"


def is_unseen_relation(relation: str) -> bool:
    return crc32(f"kept {relation}".encode()) % _UNSEEN_RELATIONS == 0


def read_fact_graph(data: Path, source: Source) -> FactGraph:
    """Facts between two names; ids and long texts are left out. Raises QuestionsError."""
    name, between = _FILES[source]
    try:
        lines = (data / source / name).read_text("utf-8").splitlines()
        return FactGraph(_triples(lines, between, source == UNSEEN_GRAPH))
    except (OSError, ValueError):
        raise QuestionsError(f"{source}/{name} can't be read: a line is head, relation and tail") from None


def _triples(lines: Sequence[str], between: str, is_written_small: bool) -> Iterator[Triple]:
    for line in lines:
        head, relation, tail = line.split(between)[:3]
        if relation.startswith("~"):
            head, tail = tail, head
        if is_written_small:
            head, tail = (" ".join(map(str.capitalize, name.split("_"))) for name in (head, tail))
        if head != tail and _is_name(head) and _is_name(tail):
            yield head, relation_words(relation), tail


def _is_name(text: str) -> bool:
    is_id = text.startswith(("m.", "g.")) and " " not in text
    return not is_id and 1 < len(text) <= _MAX_NAME and any(map(str.isalnum, text)) and "http" not in text
