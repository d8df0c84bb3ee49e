"""Finds the nodes that only join others: blank nodes and opaque ids that no triple gives a name."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kg_store.loading.classes import NodeClasses
from kg_store.loading.node_names import Names
from kg_store.loading.sorted_triples import Flags, SortedTriples
from kg_store.sources.policy import Policy
from kg_store.sources.raw_graph import TermKind
from kg_store.text.words import pattern_is_in


def find_mediators(
    triples: SortedTriples, policy: Policy, kinds: npt.NDArray[np.uint8], classes: NodeClasses, named: Names
) -> Flags:
    """A node with a name is never a mediator: whoever has a name can be asked for."""
    nameless = triples.nodes & (kinds != TermKind.LITERAL)
    nameless[list(named)] = False
    mediating: Flags = nameless & (kinds == TermKind.BLANK) & policy.mediators.blank_nodes
    pattern = policy.mediators.pattern
    wanted = frozenset(policy.mediators.classes)
    if pattern is None and not wanted:
        return mediating
    for term in np.flatnonzero(nameless & ~mediating).tolist():
        by_class = bool(wanted & classes.iris_of(term)) if wanted else False
        mediating[term] = by_class or (
            pattern is not None and kinds[term] != TermKind.BLANK and pattern_is_in(pattern, triples.raw.text(term))
        )
    return mediating
