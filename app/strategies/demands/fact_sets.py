"""Gathers the facts that demands foresee, and those that they touch (DCRAG, section 3.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from kg_store.graph.public_facts import Ints, PublicFacts

MAX_FACTS: Final = 50
"""The most facts of each set (DCRAG, section 3.3)."""
MAX_SELECTED: Final = 20
"""The most facts that a reply may be written from (DCRAG, section 3.3; its appendix B finds it the best number)."""


@dataclass(frozen=True, slots=True)
class Demand:
    """One of the four kinds of demands: the terms of the public graph, and the thought behind them.

    `terms`: positions in `PublicFacts.phrases`. `thought` is empty if no model was asked.
    """

    terms: tuple[int, ...] = ()
    thought: str = ""


@dataclass(frozen=True, slots=True)
class Demands:
    """The knowledge that a reply needs: queries of the dialogue so far, and topics of the reply.

    `explicit` queries are said and `implicit` ones meant; `maintained` topics go on and `extended` ones are new.
    """

    explicit: Demand = Demand()
    implicit: Demand = Demand()
    maintained: Demand = Demand()
    extended: Demand = Demand()

    @property
    def queries(self) -> frozenset[int]:
        return frozenset((*self.explicit.terms, *self.implicit.terms))

    @property
    def topics(self) -> frozenset[int]:
        return frozenset((*self.maintained.terms, *self.extended.terms))


@dataclass(frozen=True, slots=True)
class FactSets:
    """Rows of a public graph, ascending: those between a query and a topic, and all others that touch one of them.

    As defined, the unforeseen set holds the foreseen one; a fact of both counts as foreseen.
    """

    foreseen: Ints
    unforeseen: Ints


def fact_sets(facts: PublicFacts, demands: Demands) -> FactSets:
    """Returns the facts that join a query and a topic in either direction, and all others at one of either."""
    rows = facts.facts_at([*demands.queries | demands.topics])
    queries, topics = facts.flags_of([*demands.queries]), facts.flags_of([*demands.topics])
    heads, _, tails = facts.triples[rows].T
    joins = (queries[heads] & topics[tails]) | (topics[heads] & queries[tails])
    return FactSets(rows[joins], rows[~joins])


def selected(foreseen: Sequence[int], unforeseen: Sequence[int], most: int = MAX_SELECTED) -> tuple[int, ...]:
    """Returns the facts of a reply: those chosen among the foreseen first, then of the others until there are `most`.

    The second term of the paper's equation 7 is a misprint: its text says that the unforeseen set is meant.
    """
    return tuple(dict.fromkeys((*foreseen, *unforeseen)))[:most]
