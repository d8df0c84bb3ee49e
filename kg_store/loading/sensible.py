"""Refuses loads that make no sense: nothing to ask about, or a table that was taken for triples."""

from __future__ import annotations

import numpy as np

from kg_store.errors import LoadError
from kg_store.loading.sorted_triples import SortedTriples

MAX_RELATIONS_OF_FEW = 30
"""As many may be more than the entities: small graphs have many relations for few things."""
MIN_USES = 2
"""Facts of a relation in the mean, where it is one of a wide table of few rows and no cell. Chosen by hand."""

NO_INDIVIDUALS = (
    "these files hold an ontology, classes and properties, and no individual: load them together with a file of things"
)
NOTHING = "nothing but names and schema is left to load; look at the policy"
NO_FACTS = (
    "no entity has a fact: there are names and kinds, and no relation or value is left; look at the policy, and at "
    "columns or relations that are not read"
)
TOO_MANY_RELATIONS = (
    "there are more relations than entities, so cells were taken for relations: say in the policy with [[tables]] or "
    "[[triples]] which columns are what"
)


def require_nodes(triples: SortedTriples, count: int) -> None:
    """Raises LoadError where no node is left."""
    if not count:
        raise LoadError(NO_INDIVIDUALS if _is_ontology(triples) else NOTHING)


def nonsense_of(entities: int, facts: int, relations: int) -> str | None:
    """The reason why nothing could be asked of a graph of these counts; None where something can."""
    if not entities:
        return NOTHING
    if not facts:
        return NO_FACTS
    are_cells = relations > max(entities, MAX_RELATIONS_OF_FEW) and facts < MIN_USES * relations
    return TOO_MANY_RELATIONS if are_cells else None


def _is_ontology(triples: SortedTriples) -> bool:
    return bool(np.any(triples.schema[triples.raw.subjects]))
