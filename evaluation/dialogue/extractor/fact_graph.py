"""Public graphs as facts by their ends and relations, to make texts of; parts of them are kept for the test."""

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
from evaluation.dialogue.opendialkg import Triple

Source = Literal["metaqa", "opendialkg", "webqsp", "pathquestion"]
LEARNT: Final[tuple[Source, ...]] = ("metaqa", "opendialkg", "webqsp")
UNSEEN_GRAPH: Final[Source] = "pathquestion"

_FILES: Final[dict[Source, tuple[str, str]]] = {
    "metaqa": ("kb.txt", "|"),
    "opendialkg": ("triples.tsv", "\t"),
    "webqsp": ("triples.tsv", "\t"),
    "pathquestion": ("PQ-3H.kb.tsv", "\t"),
}
_UNSEEN_RELATIONS, _UNSEEN_THINGS = 8, 12
_MAX_NAME, _SYMMETRIC, _MIN_FACTS = 60, 0.3, 5


class FactGraph:
    """Facts in both directions. `is_unseen`: only its things and relations that are kept for the test are drawn."""

    def __init__(self, source: str, triples: Iterable[Triple]) -> None:
        self.source = source
        self.by_relation: dict[str, list[Triple]] = defaultdict(list)
        self.of_head: dict[str, list[Triple]] = defaultdict(list)
        self.of_tail: dict[str, list[Triple]] = defaultdict(list)
        for triple in sorted(set(triples)):
            head, relation, tail = triple
            self.by_relation[relation].append(triple)
            self.of_head[head].append(triple)
            self.of_tail[tail].append(triple)

    def holds(self, head: str, relation: str, tail: str) -> bool:
        return (head, relation, tail) in self._all

    @property
    def relations(self) -> Sequence[str]:
        return tuple(self.by_relation)

    @cached_property
    def symmetric(self) -> frozenset[str]:
        """Relations of which many facts are there the other way round, too: spouse, sibling."""
        return frozenset(
            relation
            for relation, facts in self.by_relation.items()
            if sum(self.holds(tail, relation, head) for head, _, tail in facts) > _SYMMETRIC * len(facts)
        )

    @cached_property
    def _all(self) -> frozenset[Triple]:
        return frozenset(triple for facts in self.by_relation.values() for triple in facts)


class FactDraw:
    """Draws facts of the relations of a part of a graph: rare relations more often than they occur."""

    def __init__(self, graph: FactGraph, part: Literal["learnt", "things", "relations", "all"]) -> None:
        """`things`: facts of things that are kept for the test; `relations`: of relations that are."""
        self.graph = graph
        self._facts = {
            relation: kept
            for relation, facts in graph.by_relation.items()
            if len(kept := [fact for fact in facts if part in ("all", part_of(fact))]) >= _MIN_FACTS
        }
        self._relations = list(self._facts)
        self._weights = [len(facts) ** 0.5 for facts in self._facts.values()]

    def fact(self, draw: random.Random) -> Triple:
        relation = draw.choices(self._relations, self._weights)[0]
        return draw.choice(self._facts[relation])

    def __bool__(self) -> bool:
        return bool(self._relations)


def part_of(fact: Triple) -> Literal["learnt", "things", "relations"]:
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
        return FactGraph(source, _triples(lines, between, source == UNSEEN_GRAPH))
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
