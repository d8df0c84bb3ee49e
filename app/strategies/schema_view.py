"""The schema as the embedded reasoner reads it: the steps of each kind, and a pseudonym for all its things."""

from __future__ import annotations

from collections.abc import Iterable

from app.llm.tasks import SchemaStep, Thing
from app.reader.meaning.schema_graph import SchemaGraph
from app.strategies.base import StrategyInput
from app.strategies.retrieval import NodeSet
from kg_store.graph.blind_graph import BlindGraph
from kg_store.graph.concept_paths import ConceptScope, paths_of
from kg_store.graph.traversal import kinds_of, leads_to_values, members_of, steps_from_each, tail_concept
from kg_store.terms import Schema, Step
from kg_store.text.further_words import words_of_kinds


def schema_steps(graph: BlindGraph) -> tuple[SchemaStep, ...]:
    """Returns every step that leaves a kind; computed once for a version of a graph."""
    known = graph.schema.derived.get(schema_steps)
    if not isinstance(known, tuple):
        known = graph.schema.derived[schema_steps] = tuple(
            step_of_kind(graph, kind, path[0], tail_concept(graph.schema, path[0]))
            for kind in kinds_of(graph.schema)
            for path in paths_of(graph, ConceptScope(kind), 1).paths
        )
    return known


def step_of_kind(graph: BlindGraph, kind: str, step: Step, concept: str) -> SchemaStep:
    """Returns the schema step from things of `kind` by `step` to things of `concept`."""
    schema = graph.schema
    return SchemaStep(kind, schema.label_step(step), schema.described(step), concept, _value_kind(schema, step))


def schema_graph(graph: BlindGraph) -> SchemaGraph:
    """Returns the schema on which meanings are read, without any pseudonym; computed once for a version of a graph."""
    known = graph.schema.derived.get(schema_graph)
    if not isinstance(known, SchemaGraph):
        kinds = [Thing(name=kind, concept=kind) for kind in kinds_of(graph.schema)]
        known = graph.schema.derived[schema_graph] = SchemaGraph(
            schema_steps(graph), kinds, words_of_kinds(graph.schema)
        )
    return known


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


def _value_kind(schema: Schema, step: Step) -> str:
    kind = schema.relations[step[-1].relation].value_kind if leads_to_values(schema, step) else None
    return str(kind) if kind else ""
