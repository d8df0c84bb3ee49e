"""The candidate facts of a dialogue: what the graph holds of the things that it speaks of, one step away or two."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from kg_store.graph.blind_graph import BlindGraph
from kg_store.graph.traversal import kind_of, reached, steps_from
from kg_store.terms import NO_MIDS, Mid, Mids, NodeKind, RelationId, Step, as_mids

MAX_TAILS: Final = 60
"""Of one step from one thing, ranked one by one; of a hub's others nothing is told."""


@dataclass(frozen=True, slots=True)
class CandidateFact:
    """`head` reaches `tail` by `step`, as one of `size` things. `is_behind`: the dialogue does not speak of `head`."""

    head: Mid
    step: Step
    tail: Mid
    size: int
    kind: NodeKind
    is_behind: bool = False

    @property
    def relations(self) -> tuple[RelationId, ...]:
        """Those of the step, without their direction."""
        return tuple(hop.relation for hop in self.step)

    @property
    def is_inverse(self) -> bool:
        """True where the relation is said of the tail."""
        return self.step[0].inverse


def facts_around(
    graph: BlindGraph, heads: Iterable[Mid], without: Mids = NO_MIDS, *, is_behind: bool = False
) -> Iterator[CandidateFact]:
    """The facts one step around each of `heads`, but those that lead to `without`; nothing leads to a mediator."""
    for head in heads:
        one = as_mids([head])
        for step in filter(_leads_one_way, steps_from(graph, one)):
            tails = reached(graph, one, (step,))
            tails = tails[~np.isin(tails, (*without, head))]
            kind = kind_of(graph, tails) if len(tails) else NodeKind.MEDIATOR
            if kind is not NodeKind.MEDIATOR:
                yield from (
                    CandidateFact(head, step, Mid(int(tail)), len(tails), kind, is_behind)
                    for tail in tails[:MAX_TAILS]
                )


def _leads_one_way(step: Step) -> bool:
    """False of steps that go to something in between against its relation: what else was billed to an insurer says
    nothing of the insurer."""
    return len({hop.inverse for hop in step}) == 1


def was_cut(facts: Iterable[CandidateFact]) -> bool:
    return any(fact.size > MAX_TAILS for fact in facts)
