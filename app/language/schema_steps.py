"""The steps that things of each kind of a graph leave by, in the form in which questions are read over them."""

from __future__ import annotations

from app.llm.tasks import SchemaStep
from kg_store.graph.blind_graph import BlindGraph
from kg_store.graph.traversal import ConceptScope, kinds_of, leads_to_values, paths_of, tail_concept
from kg_store.terms import Schema, Step


def schema_steps(graph: BlindGraph) -> tuple[SchemaStep, ...]:
    """Every step that things of a kind leave by; worked out once for a version of a graph."""
    known = graph.schema.derived.get(schema_steps)
    if not isinstance(known, tuple):
        known = graph.schema.derived[schema_steps] = tuple(
            step_of_kind(graph, kind, path[0], tail_concept(graph.schema, path[0]))
            for kind in kinds_of(graph.schema)
            for path in paths_of(graph, ConceptScope(kind), 1).paths
        )
    return known


def step_of_kind(graph: BlindGraph, kind: str, step: Step, concept: str) -> SchemaStep:
    """`step` as things of `kind` leave by it, to things of `concept`."""
    schema = graph.schema
    return SchemaStep(kind, schema.label_step(step), schema.described(step), concept, _value_kind(schema, step))


def _value_kind(schema: Schema, step: Step) -> str:
    kind = schema.relations[step[-1].relation].value_kind if leads_to_values(schema, step) else None
    return str(kind) if kind else ""
