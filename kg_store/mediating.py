"""Which nodes only join others: blank nodes and opaque ids that no triple gives a name."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from kg_store.classes import NodeClasses
from kg_store.naming import Names
from kg_store.policy import Policy
from kg_store.raw_graph import TermKind, text_of
from kg_store.roles import Flags, Roles


def find_mediators(
    roles: Roles, policy: Policy, kinds: npt.NDArray[np.uint8], classes: NodeClasses, named: Names
) -> Flags:
    """A node with a name is never a mediator: whoever has a name can be asked for."""
    nameless = roles.nodes & (kinds != TermKind.LITERAL)
    nameless[list(named)] = False
    mediating: Flags = nameless & (kinds == TermKind.BLANK) & policy.mediators.blank_nodes
    pattern = re.compile(policy.mediators.pattern) if policy.mediators.pattern else None
    wanted = frozenset(policy.mediators.classes)
    if pattern is None and not wanted:
        return mediating
    for term in np.flatnonzero(nameless & ~mediating).tolist():
        by_class = bool(wanted & classes.iris_of(term)) if wanted else False
        by_form = pattern is not None and kinds[term] != TermKind.BLANK
        mediating[term] = by_class or (by_form and _matches(pattern, roles.raw.terms[term]))
    return mediating


def _matches(pattern: re.Pattern[str] | None, term: str) -> bool:
    return pattern is not None and pattern.search(text_of(term)) is not None
