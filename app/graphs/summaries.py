"""Summaries of graph versions, for callers."""

from __future__ import annotations

from client_sdk.protocol import GraphSummary
from kg_store.version_builder import GraphInfo


def summary_of(info: GraphInfo) -> GraphSummary:
    """The counts of a version."""
    return GraphSummary(
        name=info.name,
        version=info.version,
        triples=info.triples,
        entities=info.entities,
        values=info.values,
        relations=info.relations,
        loaded_at=info.loaded_at,
        public_words=len(info.public_words),
    )
