"""The kinds of a schema and the steps of named things, under the pseudonyms of a conversation."""

from __future__ import annotations

from collections.abc import Iterable

from app.llm.tasks import Thing
from app.strategies.base import StrategyInput
from app.strategies.retrieval import NodeSet
from kg_store.graph.traversal import kinds_of, members_of, steps_from_each


def whole_kinds(inquiry: StrategyInput) -> tuple[Thing, ...]:
    """Returns every kind with its pseudonym; sizes are not shown."""
    graph = inquiry.graph
    members = ((kind, members_of(graph, kind)) for kind in kinds_of(graph.schema))
    return tuple(Thing(name=inquiry.pseudonyms.of_kind(kind, mids), concept=kind, size="") for kind, mids in members)


def own_steps(inquiry: StrategyInput, places: Iterable[NodeSet]) -> dict[str, tuple[str, ...]]:
    """Returns, by pseudonym, the labels of the steps that leave each of `places`."""
    named = [place for place in places if len(place.mids)]
    steps = steps_from_each(inquiry.graph, [place.mids for place in named])
    label = inquiry.graph.schema.label_step
    return {place.pseudonym: tuple(map(label, on)) for place, on in zip(named, steps, strict=True)}
