"""A graph as one role may see it: without other relations and kinds, as if these had never been loaded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from kg_store.errors import PolicyError
from kg_store.graph.adjacency import Adjacency
from kg_store.graph.compact_graph import CompactGraph
from kg_store.graph.pruning import Flags, facts_of, pruned
from kg_store.graph.schema import with_concepts
from kg_store.sources.policy import Policy, RolePolicy
from kg_store.terms import NodeKind, Relation, Schema, Signature

NameConcepts = Callable[[Schema], Sequence[str]]


def restricted(adjacency: Adjacency, schema: Schema, role: RolePolicy, name_concepts: NameConcepts) -> CompactGraph:
    """Returns the graph that `role` is shown. Things without any fact left are removed; concepts are named again from
    what is shown. It is kept in memory: 14 bytes a fact and a few for each node, for each role in use.
    """
    facts = facts_of(adjacency)
    shown = np.array([_shows(role, each) for each in schema.relations] or [False])[facts.relations]
    of_kind = np.array([_admits(role, schema, each) for each in schema.signatures] or [False])
    gone: Flags = ~of_kind[adjacency.signatures]
    kept = shown & ~gone[facts.heads] & ~gone[facts.tails]
    held = np.zeros(len(gone), dtype=np.bool_)
    held[facts.heads[kept]] = held[facts.tails[kept]] = True
    left = pruned(adjacency, schema, ~held, kept, facts)
    return CompactGraph(left.adjacency, with_concepts(left.schema, name_concepts(left.schema)))


def refuse_unknown_words(policy: Policy, schema: Schema) -> None:
    """Raises PolicyError if a role names something that the graph does not have, since it would have no effect."""
    wrong = list(_unknown(policy, schema))
    if wrong:
        raise PolicyError("policy: " + "; ".join(wrong))


def unknown_words(policy: Policy, schema: Schema) -> int:
    """Returns the number of words in roles that name nothing in this graph."""
    return len(list(_unknown(policy, schema)))


def _unknown(policy: Policy, schema: Schema) -> Iterator[str]:
    relations = {word for each in schema.relations for word in (each.iri, each.label)}
    kinds = {str(concept) for concept in schema.concepts} | {word for s in schema.signatures for word in s.classes}
    for number, role in enumerate(policy.roles.values(), start=1):
        for field, known in _FIELDS.items():
            words = getattr(role, field) or ()
            for at, word in enumerate(words, start=1):
                if word not in (relations if known == "relation" else kinds):
                    yield f"roles, number {number}, {field}, item {at}: the graph shows no such {known}"


_FIELDS = {
    "show_relations": "relation",
    "withhold_relations": "relation",
    "show_concepts": "concept",
    "withhold_concepts": "concept",
}


def _shows(role: RolePolicy, relation: Relation) -> bool:
    words = {relation.iri, relation.label}
    return (role.show_relations is None or not words.isdisjoint(role.show_relations)) and words.isdisjoint(
        role.withhold_relations
    )


def _admits(role: RolePolicy, schema: Schema, signature: Signature) -> bool:
    """True if the role may see nodes of this signature; values and mediators without a class follow the facts around
    them.
    """
    words = {*signature.classes}
    if signature.kind is NodeKind.ENTITY:
        words.add(str(schema.concepts[signature.id]))
    if not words.isdisjoint(role.withhold_concepts):
        return False
    if signature.kind is not NodeKind.ENTITY or role.show_concepts is None:
        return True
    return not words.isdisjoint(role.show_concepts)
