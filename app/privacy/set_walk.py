"""What a set pseudonym stands for: its path walked on the graph's present version, from what it starts at."""

from __future__ import annotations

import numpy as np

from kg_store.blind_graph import BlindGraph
from kg_store.terms import NO_MIDS, Edges, Mids, NodeKind, Path, Step


def walk_edges(graph: BlindGraph, mids: Mids, path: Path) -> Edges:
    """Pairs (member before the last step, what that step reaches). Complete, whatever the size."""
    edges = Edges(mids, mids)
    for step in path:
        edges = _take(graph, np.unique(edges.tails), step)
    return edges


def kind_members(graph: BlindGraph, concept: str) -> Mids:
    """Everything in the graph of one concept, or of one class that the policy shows."""
    schema = graph.schema
    named = [s.id for s in schema.signatures if schema.concepts[s.id] == concept or concept in s.classes]
    return np.unique(graph.members(named)) if named else NO_MIDS


def _take(graph: BlindGraph, heads: Mids, step: Step) -> Edges:
    edges = graph.neighbours(heads, step[0])
    for hop in step[1:]:
        edges = _join(edges, graph.neighbours(_mediators(graph, edges.tails), hop))
    if len(step) > 1:
        # Through a mediator everything meets itself again: a marriage would make one's own spouse.
        others = edges.heads != edges.tails
        edges = Edges(edges.heads[others], edges.tails[others])
    return edges


def _mediators(graph: BlindGraph, mids: Mids) -> Mids:
    """A step ends at the first named thing, so only mediators are walked through."""
    mids = np.unique(mids)
    signatures = graph.schema.signatures
    kinds = [s >= 0 and signatures[s].kind is NodeKind.MEDIATOR for s in graph.signatures_of(mids).tolist()]
    return mids[np.array(kinds, dtype=np.bool_)]


def _join(first: Edges, second: Edges) -> Edges:
    """Pairs (a, c) with (a, b) in `first` and (b, c) in `second`, each once, sorted."""
    starts = np.searchsorted(second.heads, first.tails, side="left")
    lengths = np.searchsorted(second.heads, first.tails, side="right") - starts
    heads = np.repeat(first.heads, lengths)
    offsets = np.arange(len(heads)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    pairs = np.unique(np.stack([heads, second.tails[np.repeat(starts, lengths) + offsets]], axis=1), axis=0)
    return Edges(pairs[:, 0], pairs[:, 1])
