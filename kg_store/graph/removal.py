"""Finds everything that a graph loses with some of its things: their own values, mediators, and things without other
facts.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from kg_store.graph.adjacency import KINDS, Adjacency, Facts
from kg_store.graph.pruning import Flags, at_home, facts_of, kinds_of_nodes
from kg_store.terms import Edges, Mids, NodeKind, Schema, as_mids

_MEDIATOR = KINDS.index(NodeKind.MEDIATOR)
_VALUE = KINDS.index(NodeKind.VALUE)
_ENDS = 2  # A mediator that joins fewer things joins nothing.


@dataclass(frozen=True, slots=True)
class RemovalSet:
    """All that is removed: `mids` are all of it, including `chosen`; `nodes` flags their positions in the arrays.

    `values` belonged to them alone, `mediators` joined them to others, `alone` are things that had no other fact.
    """

    chosen: Mids = field(repr=False)
    mids: Mids = field(repr=False)
    nodes: Flags = field(repr=False)
    facts: int
    values: int
    mediators: int
    alone: int


def closure_of_removal(adjacency: Adjacency, schema: Schema, unseen: Edges, chosen: Mids) -> RemovalSet:
    """Returns everything that is removed with `chosen`.

    `unseen`: facts that the policy hides; what they lead to may belong to others. A mediator is removed if fewer than
    two other things are left that it joins; a value, and a thing without another fact, is removed with the last thing
    that has it.
    """
    facts, kinds = facts_of(adjacency), kinds_of_nodes(adjacency, schema)
    chosen = chosen[np.isin(chosen, adjacency.mids)]
    gone = at_home(adjacency, chosen)
    joined = _mediators(facts, kinds, gone)
    gone |= joined
    mids = as_mids(adjacency.mids[gone])
    lost = gone[facts.heads] | gone[facts.tails]
    hidden = np.isin(unseen.heads, mids) | np.isin(unseen.tails, mids)
    ends = np.concatenate([adjacency.mids[facts.heads], adjacency.mids[facts.tails]])
    touched = np.concatenate([ends[np.tile(lost, 2)], unseen.heads[hidden], unseen.tails[hidden]])
    kept = np.concatenate([ends[np.tile(~lost, 2)], unseen.heads[~hidden], unseen.tails[~hidden]])
    mids = as_mids(np.union1d(mids, np.setdiff1d(touched, kept)))
    nodes = at_home(adjacency, mids)
    mediators, out_of_graph = int(joined.sum()), len(mids) - int(nodes.sum())
    values = int((kinds[nodes] == _VALUE).sum()) + out_of_graph
    alone = len(mids) - len(chosen) - mediators - values
    return RemovalSet(as_mids(chosen), mids, nodes, int(lost.sum()), values, mediators, alone)


def _mediators(facts: Facts, kinds: npt.NDArray[np.uint8], gone: Flags) -> Flags:
    """Mediators that join nothing any more; removing some may leave others so, hence the rounds."""
    mediator = (kinds == _MEDIATOR) & ~gone
    # A value is said of what is joined; it is not joined itself.
    joins_things = (kinds[facts.heads] != _VALUE) & (kinds[facts.tails] != _VALUE)
    heads, tails = facts.heads[joins_things], facts.tails[joins_things]
    found = np.zeros(len(gone), dtype=bool)
    while True:
        out = gone | found
        left = np.bincount(np.concatenate([heads[~out[tails]], tails[~out[heads]]]), minlength=len(gone))
        touched = np.zeros(len(gone), dtype=bool)
        touched[heads[out[tails]]] = touched[tails[out[heads]]] = True
        fresh = mediator & touched & (left < _ENDS) & ~found
        if not fresh.any():
            return found
        found |= fresh
