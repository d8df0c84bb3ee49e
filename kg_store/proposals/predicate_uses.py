"""The use of every predicate of a load by a policy: a name, schema, or a relation that is shown, masked or hidden."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Literal

import numpy as np

from kg_store.loading.sorted_triples import turn_inverses
from kg_store.sources.policy import Policy
from kg_store.sources.raw_graph import RawGraph
from kg_store.terms import Relation, ValueView

Use = Literal["name", "class", "schema", "relation", "masked", "hidden"]


@dataclass(frozen=True, slots=True)
class PredicateUse:
    """`triples` counts those of the sources. `relation`: what the graph has of it, None where it has nothing."""

    predicate: str
    use: Use
    triples: int
    relation: Relation | None = None


def uses_of(raw: RawGraph, policy: Policy, relations: tuple[Relation, ...]) -> tuple[PredicateUse, ...]:
    """Every predicate, by how many triples it has; `relations` are those of the graph that `policy` makes of `raw`."""
    turned = turn_inverses(raw, policy.inverse_prefix)
    used, counts = np.unique(turned.predicates, return_counts=True)
    by_iri = {relation.iri: relation for relation in relations}
    texts = [turned.text(term) for term in used.tolist()]
    uses = (_use(text, count, policy, by_iri) for text, count in zip(texts, counts.tolist(), strict=True))
    return tuple(sorted(uses, key=lambda each: (-each.triples, each.predicate)))


def _use(predicate: str, triples: int, policy: Policy, relations: Mapping[str, Relation]) -> PredicateUse:
    relation = relations.get(predicate)
    # Parts of joined names are relations as well.
    if predicate in policy.names or predicate in chain.from_iterable(policy.composite_names):
        return PredicateUse(predicate, "name", triples, relation)
    if relation is not None:
        return PredicateUse(predicate, "relation" if relation.mask is None else "masked", triples, relation)
    if predicate in policy.type_predicates:
        return PredicateUse(predicate, "class" if policy.types == "concept" else "hidden", triples)
    settings = policy.of(predicate)
    is_hidden = settings.hide or settings.values is ValueView.NEVER
    return PredicateUse(predicate, "hidden" if is_hidden else "schema", triples)
