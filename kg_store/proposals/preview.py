"""Preview: what a model would see of a graph under a policy, for a sample of entities, before the graph is loaded."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from kg_store.graph.blind_graph import CompactGraph
from kg_store.graph.schema import with_concepts
from kg_store.graph.traversal import steps_from, tail_concept, walk
from kg_store.loading.load import load_graph, nonsense_of, placeholder_schema
from kg_store.loading.sorted_triples import turn_inverses
from kg_store.sources.policy import Policy
from kg_store.sources.raw_graph import RawGraph
from kg_store.sources.reader import read_by_policy
from kg_store.storage.vault import readable_name
from kg_store.storage.version_reports import MaskedTerm
from kg_store.terms import Mids, NodeKind, Relation, Schema, SignatureId, Step, ValueView

if TYPE_CHECKING:
    import rdflib


Use = Literal["name", "class", "schema", "relation", "masked", "hidden"]


@dataclass(frozen=True, slots=True)
class PredicateUse:
    """The use of one predicate: what it serves for, and the number of its triples in the sources.

    `relation`: its relation in the graph; None if it has none.
    """

    predicate: str
    use: Use
    triples: int
    relation: Relation | None = None


def uses_of(raw: RawGraph, policy: Policy, relations: tuple[Relation, ...]) -> tuple[PredicateUse, ...]:
    """Returns the use of every predicate, the one with most triples first.

    `relations` are those of the graph that `policy` makes of `raw`.
    """
    turned = turn_inverses(raw, policy.inverse_prefix)
    used, counts = np.unique(turned.predicates, return_counts=True)
    by_iri = {relation.iri: relation for relation in relations}
    texts = [turned.text(term) for term in used.tolist()]
    uses = (_use(text, count, policy, by_iri) for text, count in zip(texts, counts.tolist(), strict=True))
    return tuple(sorted(uses, key=lambda each: (-each.triples, each.predicate)))


def _use(predicate: str, triples: int, policy: Policy, relations: Mapping[str, Relation]) -> PredicateUse:
    relation = relations.get(predicate)
    # The parts of composite names are relations too.
    if predicate in policy.names or predicate in chain.from_iterable(policy.composite_names):
        return PredicateUse(predicate, "name", triples, relation)
    if relation is not None:
        return PredicateUse(predicate, "relation" if relation.mask is None else "masked", triples, relation)
    if predicate in policy.type_predicates:
        return PredicateUse(predicate, "class" if policy.types == "concept" else "hidden", triples)
    settings = policy.of(predicate)
    is_hidden = settings.hide or settings.values is ValueView.NEVER
    return PredicateUse(predicate, "hidden" if is_hidden else "schema", triples)


_MAX_FACTS = 12
_VIEWS = {
    ValueView.PSEUDONYM: "",
    ValueView.YEAR: ", its year shown",
    ValueView.DECADE: ", its decade shown",
    ValueView.BUCKET: ", its rough size shown",
    ValueView.CLEAR: ", shown in clear",
}


@dataclass(frozen=True, slots=True)
class PreviewFact:
    """One fact: `relation` as a prompt shows it, and a placeholder for what it leads to, never a name or value."""

    relation: str
    end: str


@dataclass(frozen=True, slots=True)
class PreviewEntity:
    """One entity as a model would see it. `name` is for the owner's own screen only; no model gets it."""

    pseudonym: str
    concept: str
    facts: tuple[PreviewFact, ...]
    name: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Preview:
    """The counts of the whole graph, its relations, and the sampled entities."""

    triples: int
    entities: int
    values: int
    mediators: int
    relations: tuple[Relation, ...]
    concepts: tuple[str, ...]
    sample: tuple[PreviewEntity, ...]
    notes: tuple[str, ...]
    predicates: tuple[PredicateUse, ...] = ()
    masked: tuple[MaskedTerm, ...] = field(default=(), repr=False)
    joins: tuple[str, ...] = ()


def preview(
    sources: Sequence[Path] | rdflib.Graph | RawGraph,
    policy: Policy,
    sample: int = 10,
    name_concepts: Callable[[Schema], Sequence[str]] = lambda schema: schema.concepts,
) -> Preview:
    """Reads the sources and builds the graph in memory; nothing is written. Raises LoadError.

    Without `name_concepts`, entities have only their classes as concepts.
    """
    raw = sources if isinstance(sources, RawGraph) else read_by_policy(sources, policy)
    loaded = load_graph(raw, policy, os.urandom(32))
    schema = placeholder_schema(loaded)
    schema = with_concepts(schema, name_concepts(schema))
    graph = CompactGraph(loaded.adjacency, schema)
    chosen = _sample(graph, schema, sample)
    placeholders = {mid: f"E{number}" for number, mid in enumerate(chosen, start=1)}
    names = {node.mid: readable_name(node.record) for node in loaded.nodes() if node.mid in placeholders}
    concepts = [schema.concepts[int(each)] for each in graph.signatures_of(np.array(chosen, dtype=np.int64))]
    entities = tuple(
        PreviewEntity(placeholders[mid], concept, _facts(graph, mid, placeholders), names[mid])
        for mid, concept in zip(chosen, concepts, strict=True)
    )
    # The reason for which a load would be refused becomes a note, so that the owner can change the policy here.
    reason = nonsense_of(loaded.counts[NodeKind.ENTITY], loaded.facts, len(loaded.relations))
    return Preview(
        triples=loaded.facts,
        entities=loaded.counts[NodeKind.ENTITY],
        values=loaded.counts[NodeKind.VALUE],
        mediators=loaded.counts[NodeKind.MEDIATOR],
        relations=loaded.relations,
        concepts=tuple(sorted(set(schema.concepts))),
        sample=entities,
        notes=loaded.notes if reason is None else (*loaded.notes, reason),
        predicates=uses_of(raw, policy, loaded.relations),
        masked=loaded.masked,
        joins=raw.joins,
    )


def _sample(graph: CompactGraph, schema: Schema, count: int) -> list[int]:
    """Returns `count` entities of as many concepts as possible.

    Within a concept, entities of the signature with most nodes come first (a signature: the kind, classes and hops
    that nodes share).
    """
    by_concept: dict[str, list[tuple[int, SignatureId]]] = {}
    for signature in schema.signatures:
        if signature.kind is NodeKind.ENTITY and signature.hops:
            size = len(graph.members([signature.id]))
            by_concept.setdefault(schema.concepts[signature.id], []).append((-size, signature.id))
    ordered = sorted((sorted(group) for group in by_concept.values()), key=lambda group: group[0])
    in_turn = [found[1] for found in chain.from_iterable(zip_longest(*ordered)) if found is not None]
    first = [int(graph.members([signature])[0]) for signature in in_turn[:count]]
    further = (int(mid) for signature in in_turn for mid in graph.members([signature])[1 : count + 1])
    return [*first, *islice(further, count - len(first))]


def _facts(graph: CompactGraph, mid: int, placeholders: dict[int, str]) -> tuple[PreviewFact, ...]:
    start = np.array([mid], dtype=np.int64)
    ends = ((step, walk(graph, start, (step,)).tails) for step in steps_from(graph, start))
    # Steps without ends are dropped: a step through a mediator may lead only back to its start.
    led = [(step, tails) for step, tails in ends if len(tails)]
    facts = [
        PreviewFact(graph.schema.label_step(step), _end(graph, step, tails, placeholders))
        for step, tails in led[:_MAX_FACTS]
    ]
    if len(led) > _MAX_FACTS:
        facts.append(PreviewFact("...", f"{len(led) - _MAX_FACTS} more relations"))
    return tuple(facts)


def _end(graph: CompactGraph, step: Step, tails: Mids, placeholders: dict[int, str]) -> str:
    last = step[-1]
    relation = graph.schema.relations[last.relation]
    concept = tail_concept(graph.schema, step)
    if relation.value_kind is not None and not last.inverse:
        concept = relation.value_kind.value + _VIEWS.get(relation.value_view, "")
    letter = "V" if relation.value_kind is not None and not last.inverse else "E"
    if len(tails) != 1:
        return f"S ({concept}, {len(tails)} of them)"
    return f"{placeholders.get(int(tails[0]), letter)} ({concept})"
