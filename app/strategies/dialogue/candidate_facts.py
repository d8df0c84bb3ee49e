"""Finds the candidate facts of a dialogue: those one or two steps from the things that it speaks of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from kg_store.graph.blind_graph import BlindGraph
from kg_store.graph.traversal import kind_of, reached, steps_from
from kg_store.terms import NO_MIDS, Mid, Mids, NodeKind, RelationId, Step, as_mids

MAX_TAILS: Final = 60
"""If one step leads from one thing to more things than this, the remaining ones are not ranked. Chosen by hand."""


@dataclass(frozen=True, slots=True)
class CandidateFact:
    """The fact that `head` reaches `tail` by `step`, which leads to `size` things. `is_behind`: the dialogue does not
    mention `head`.
    """

    head: Mid
    step: Step
    tail: Mid
    size: int
    kind: NodeKind
    is_behind: bool = False

    @property
    def relations(self) -> tuple[RelationId, ...]:
        """The relations of the step, without their direction."""
        return tuple(hop.relation for hop in self.step)

    @property
    def is_inverse(self) -> bool:
        """True if the relation's subject is `tail`."""
        return self.step[0].inverse


def facts_around(
    graph: BlindGraph, heads: Iterable[Mid], without: Mids = NO_MIDS, *, is_behind: bool = False
) -> Iterator[CandidateFact]:
    """Yields the facts one step around each of `heads`, without those that lead to `without` or to a mediator."""
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
    """False of a step that changes direction at a mediator: what else was billed to an insurer says
    nothing about it.
    """
    return len({hop.inverse for hop in step}) == 1


def was_cut(facts: Iterable[CandidateFact]) -> bool:
    return any(fact.size > MAX_TAILS for fact in facts)
