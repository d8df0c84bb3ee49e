"""The schema of a graph as questions are read over it."""

from __future__ import annotations

from app.language.readings import schema_steps
from app.llm.tasks import Thing
from app.reader.meaning.schema_graph import SchemaGraph
from kg_store.graph.blind_graph import BlindGraph
from kg_store.graph.traversal import kinds_of
from kg_store.text.further_words import words_of_kinds


def schema_graph(graph: BlindGraph) -> SchemaGraph:
    """The schema without a pseudonym of any kind; worked out once for a version of a graph."""
    known = graph.schema.derived.get(schema_graph)
    if not isinstance(known, SchemaGraph):
        kinds = [Thing(name=kind, concept=kind) for kind in kinds_of(graph.schema)]
        known = graph.schema.derived[schema_graph] = SchemaGraph(
            schema_steps(graph), kinds, words_of_kinds(graph.schema)
        )
    return known
