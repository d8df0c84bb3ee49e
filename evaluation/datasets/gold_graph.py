"""A plain graph of names, for public data only: checks that gold plans give the gold answers."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

from evaluation.datasets.questions import QueryPlan

_DIFFERENCE = re.compile(r"^difference\(([A-Z][0-9]?), topic:(\d+)\)$")


class GoldGraph:
    """Triples in two dictionaries. Walks paths, mediators included, and takes differences; nothing else."""

    def __init__(self, triples: Iterable[tuple[str, str, str]]) -> None:
        self._tails: dict[tuple[str, str], set[str]] = defaultdict(set)
        for head, relation, tail in triples:
            self._tails[relation, head].add(tail)
            self._tails["^" + relation, tail].add(head)
        self._relations_of: dict[str, set[str]] = defaultdict(set)
        for relation, name in self._tails:
            self._relations_of[name].add(relation)

    def relations_of(self, name: str) -> Collection[str]:
        """Relations that leave `name`, `^` before those that lead to it."""
        return self._relations_of.get(name, set())

    def reached(self, starts: Iterable[str], path: Iterable[str]) -> set[str]:
        """The nodes at the end of `path`; nothing meets itself again through a mediator (`a|b`)."""
        here = set(starts)
        for label in path:
            here = {tail for head in here for tail in self._step(head, label)}
        return here

    def answer(self, plan: QueryPlan, topics: Mapping[int, str]) -> set[str]:
        """The names that a plan of paths and differences gives."""
        return {name for expression in plan.answer for name in self._value(plan, topics, expression)}

    def _step(self, head: str, label: str) -> set[str]:
        hops = label.split("|")
        here = {head}
        for hop in hops:
            here = {tail for name in here for tail in self._tails.get((hop, name), ())}
        return here - {head} if len(hops) > 1 else here

    def _value(self, plan: QueryPlan, topics: Mapping[int, str], expression: str) -> set[str]:
        if match := _DIFFERENCE.match(expression):
            return self._set(plan, topics, match[1]) - {topics[int(match[2])]}
        return self._set(plan, topics, expression)

    def _set(self, plan: QueryPlan, topics: Mapping[int, str], letter: str) -> set[str]:
        planned = plan.sets[letter]
        kind, _, rest = planned.start.partition(":")
        if kind == "topic":
            starts = {topics[int(rest)]}
        elif kind == "set":
            starts = self._set(plan, topics, rest)
        else:
            starts = self._value(plan, topics, planned.start)
        return self.reached(starts, planned.path)
