"""Walks over a BlindGraph: steps through mediators, whole paths, and the concepts of their ends."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

import numpy as np

from kg_store.graph.blind_graph import BlindGraph
from kg_store.graph.index_ranges import distinct_pairs, ranges
from kg_store.graph.steps import steps_from_each
from kg_store.terms import (
    NO_MIDS,
    Edges,
    Hop,
    Mids,
    NodeKind,
    Path,
    Schema,
    SignatureId,
    Step,
    as_mids,
    cached_by_version,
)

__all__ = [
    "concept_of", "kind_of", "kinds_of", "leads_to_values", "members_of", "named_of", "reached", "relations_to",
    "steps_from", "steps_from_each", "tail_concept", "walk", "walk_each",
]  # fmt: skip


_MOST_TOLD = 4
_MANY = 50
"""Up to this number of things, signatures are counted one by one, which is faster."""


def steps_from(graph: BlindGraph, mids: Mids) -> list[Step]:
    """Returns every step that leaves at least one of `mids`."""
    return steps_from_each(graph, [mids])[0]


def walk(graph: BlindGraph, mids: Mids, path: Path) -> Edges:
    """Returns the (head of the last step, end) pairs that `path` joins; complete, whatever the number."""
    edges = Edges(mids, mids)
    for step in path:
        edges = _take(graph, as_mids(edges.tails), step)
    return edges


def walk_each(graph: BlindGraph, mids: Mids, step: Step) -> Edges:
    """Returns the pairs that `step` joins, one for each mediator before its last hop.

    Two prescriptions of one dose are two pairs, so that an average counts both.
    """
    return _take(graph, mids, step, joined=_join_each)


def reached(graph: BlindGraph, mids: Mids, path: Path) -> Mids:
    """The things at the end of `path`, each once."""
    return as_mids(walk(graph, mids, path).tails)


def named_of(graph: BlindGraph, mids: Mids) -> Mids:
    """Returns those of `mids` that are not mediators, which have no name to answer with."""
    signatures = graph.signatures_of(mids)
    named: Mids = mids[~np.where(signatures >= 0, _mediator_flags(graph.schema)[signatures], False)]
    return named


def relations_to(graph: BlindGraph, mids: Sequence[int]) -> set[tuple[str, str]]:
    """Returns the words of the unmasked relations that lead to any of `mids`, with the concept that
    they start from.
    """
    schema, hops = graph.schema, graph.relations_of(as_mids(mids)) if mids else ()
    shown = [hop for hop in hops if hop.inverse and schema.relations[hop.relation].mask is None]
    return {(schema.relations[hop.relation].label, tail_concept(schema, (hop,))) for hop in shown}


def concept_of(graph: BlindGraph, mids: Mids) -> str:
    """Returns the most frequent concept of `mids`, with a second one if that covers a third of them."""
    signatures = graph.signatures_of(mids)
    if len(signatures) <= _MANY:
        return _commonest(Counter(_concept(graph.schema, signature) for signature in signatures.tolist()))
    counts: Counter[str] = Counter()
    for signature, count in zip(*np.unique(signatures, return_counts=True), strict=True):
        counts[_concept(graph.schema, int(signature))] += int(count)
    return _commonest(counts)


def are_of_one_concept(graph: BlindGraph, mids: Mids) -> bool:
    """True if all of `mids` have the same concept."""
    signatures = np.unique(graph.signatures_of(mids)).tolist()
    return len({_concept(graph.schema, signature) for signature in signatures}) == 1


def tail_concept(schema: Schema, step: Step) -> str:
    """The concept of what `step` leads to, read from the schema alone: it tells nothing of an individual."""
    return tail_concepts(schema).get(step[-1], "thing")


def leads_to_values(schema: Schema, step: Step) -> bool:
    """True where `step` ends at literals."""
    hop = step[-1]
    return not hop.inverse and schema.relations[hop.relation].value_kind is not None


def kind_of(graph: BlindGraph, mids: Mids) -> NodeKind:
    """Returns the kind of the first of `mids`; all members of a set have the same kind."""
    signature = int(graph.signatures_of(mids[:1])[0]) if len(mids) else -1
    return graph.schema.signatures[signature].kind if signature >= 0 else NodeKind.ENTITY


def members_of(graph: BlindGraph, concept: str) -> Mids:
    """Everything in the graph of one concept."""
    ids = _signatures_of(graph.schema).get(concept, [])
    return graph.members(ids) if ids else NO_MIDS


def kinds_of(schema: Schema) -> tuple[str, ...]:
    """Returns the concepts of entities, and of mediators with a class; sorted and distinct."""
    return _kinds_of(schema)


def _take(graph: BlindGraph, heads: Mids, step: Step, joined: Callable[[Edges, Edges], Edges] | None = None) -> Edges:
    """The pairs of one step; `joined` combines the pairs of the last hop, without it each counts once."""
    edges = graph.neighbours(heads, step[0])
    for at, hop in enumerate(step[1:], start=2):
        middle = _mediators_in(graph, as_mids(edges.tails))
        join = joined if joined and at == len(step) else _join
        edges = join(edges, graph.neighbours(middle, hop))
    if len(step) > 1:
        # Through a mediator everything meets itself again: a marriage would make one's own spouse.
        keep = edges.heads != edges.tails
        edges = Edges(edges.heads[keep], edges.tails[keep])
    return edges


def _join(first: Edges, second: Edges) -> Edges:
    """Distinct pairs (a, c) with (a, b) in `first` and (b, c) in `second`, which is sorted by head."""
    pairs = _join_each(first, second)
    return distinct_pairs(pairs.heads, pairs.tails)


def _join_each(first: Edges, second: Edges) -> Edges:
    """The same pairs, once for each b."""
    starts = np.searchsorted(second.heads, first.tails, side="left")
    lengths = np.searchsorted(second.heads, first.tails, side="right") - starts
    return Edges(np.repeat(first.heads, lengths), second.tails[ranges(starts, lengths)])


def _mediators_in(graph: BlindGraph, mids: Mids) -> Mids:
    mids = as_mids(mids)
    signatures = graph.signatures_of(mids)
    is_mediator = _mediator_flags(graph.schema)
    return mids[np.where(signatures >= 0, is_mediator[signatures], False)]


@cached_by_version
def _mediator_flags(schema: Schema) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    flags = [signature.kind is NodeKind.MEDIATOR for signature in schema.signatures]
    return np.array(flags or [False], dtype=np.bool_)


@cached_by_version
def tail_concepts(schema: Schema) -> dict[Hop, str]:
    """The concept that each hop leads to, counted by things, all in one pass over the signatures.

    Classes of the graph are included even if they are rare: doctors, too, live where patients live.
    """
    counts: dict[Hop, Counter[str]] = defaultdict(Counter)
    for signature in schema.signatures:
        for hop in signature.hops:
            counts[hop.reversed()][_concept(schema, signature.id)] += signature.size
    classes = frozenset(each for signature in schema.signatures for each in signature.classes)
    return {hop: _with_classes(_commonest(concepts), concepts, classes) for hop, concepts in counts.items()}


def _with_classes(commonest: str, counts: Counter[str], classes: frozenset[str]) -> str:
    told = commonest.split(", ")
    further = [concept for concept, _ in counts.most_common() if concept in classes and concept not in told]
    return ", ".join([*told, *further][:_MOST_TOLD])


@cached_by_version
def _signatures_of(schema: Schema) -> dict[str, list[SignatureId]]:
    """The signatures of each concept and of each class."""
    found: dict[str, list[SignatureId]] = defaultdict(list)
    for signature in schema.signatures:
        for concept in {str(schema.concepts[signature.id]), *signature.classes}:
            found[concept].append(signature.id)
    return dict(found)


@cached_by_version
def _kinds_of(schema: Schema) -> tuple[str, ...]:
    named = (s for s in schema.signatures if s.kind is NodeKind.ENTITY)
    classes = {each for signature in schema.signatures for each in signature.classes}
    return tuple(sorted({str(schema.concepts[s.id]) for s in named} | classes))


def _concept(schema: Schema, signature: int) -> str:
    return str(schema.concepts[signature]) if signature >= 0 else "thing"


def _commonest(counts: Counter[str]) -> str:
    total = sum(counts.values())
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    kept = [concept for concept, count in ranked[:2] if count * 3 >= total]
    return ", ".join(kept) if kept else (ranked[0][0] if ranked else "thing")
