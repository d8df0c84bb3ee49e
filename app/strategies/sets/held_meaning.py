"""A question about a graph that declares no kinds, read as a whole over the part of the schema that it speaks of.

Promise: these readings are for the reasoner inside the service alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from app.language.protocol import SaidLabels
from app.llm.in_house import HeldMeaning
from app.llm.tasks import StepInput
from app.strategies.base import StrategyInput
from app.strategies.retrieval import NodeSet
from app.strategies.sets.said_schema import SaidSchema
from app.strategies.sets.voted_ways import WalkedWay
from kg_store.algebra.expressions import ExpressionResult
from kg_store.text.labels import words_of_kinds, words_of_steps


def held_meaning(
    inquiry: StrategyInput, labels: SaidLabels, places: Sequence[NodeSet], ways: Sequence[WalkedWay]
) -> HeldMeaning | None:
    """The best reading that gives something in the graph, in the conversation's pseudonyms; None without one."""
    said = SaidSchema.of(inquiry, labels, places, ways)
    given = StepInput(
        question=inquiry.asked,
        things=list(said.things),
        evidence=[],
        candidates=[],
        steps=said.steps,
        kinds=said.kinds,
        own=dict(said.own),
        wordings=dict(words_of_steps(inquiry.graph.schema)),
        kind_words=dict(words_of_kinds(inquiry.graph.schema)),
    )

    def result_of(expression: str) -> ExpressionResult | None:
        return inquiry.result_of(said.with_pseudonyms(inquiry, expression))

    found = inquiry.language.read_held(given, said.alike, said.named, result_of)
    return replace(found, expression=said.with_pseudonyms(inquiry, found.expression)) if found else None
