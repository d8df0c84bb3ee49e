"""Pruning: the arrays of a graph without some of its nodes and relations, as if these had never been loaded."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from kg_store.graph.adjacency import KINDS, Adjacency, Facts, Nodes, Numbers, build_adjacency
from kg_store.graph.schema import placeholder
from kg_store.terms import Hop, Mids, NodeKind, RelationId, Schema

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Pruned:
    """The rest of a graph. A concept stays if its combination of kind, classes and relations existed before.

    `changed`: positions of new signatures, whose concept is a placeholder. Relations without facts are left out and
    the others renumbered.
    """

    adjacency: Adjacency = field(repr=False)
    schema: Schema
    changed: tuple[int, ...]

    @property
    def facts(self) -> int:
        return len(self.adjacency.targets) // 2

    def counts(self) -> dict[NodeKind, int]:
        """Nodes by kind."""
        totals = dict.fromkeys(KINDS, 0)
        for signature in self.schema.signatures:
            totals[signature.kind] += signature.size
        return totals


def facts_of(adjacency: Adjacency) -> Facts:
    """Every fact of the arrays, walked forwards."""
    groups = _lengths(adjacency.group_starts)
    nodes = np.repeat(np.arange(len(adjacency.mids)), groups)
    ranks = np.arange(len(nodes)) - np.repeat(adjacency.group_starts[:-1].astype(np.int64), groups)
    hops = adjacency.hops[adjacency.hop_starts[adjacency.signatures[nodes]] + ranks].astype(np.int64)
    sizes = _lengths(adjacency.target_starts)
    forwards = np.repeat(hops % 2 == 0, sizes)
    heads, relations = np.repeat(nodes, sizes)[forwards], np.repeat(hops // 2, sizes)[forwards]
    targets = adjacency.targets[forwards].astype(np.int32)
    return Facts(heads.astype(np.int32), relations.astype(np.int32), targets)


def kinds_of_nodes(adjacency: Adjacency, schema: Schema) -> npt.NDArray[np.uint8]:
    """The code of each node's kind in KINDS."""
    codes = np.array([KINDS.index(each.kind) for each in schema.signatures] or [0], dtype=np.uint8)
    return codes[adjacency.signatures]


def at_home(adjacency: Adjacency, mids: Mids) -> Flags:
    """Returns a flag for each node of the arrays: it is among `mids`."""
    return np.isin(adjacency.mids, mids)


def pruned(adjacency: Adjacency, schema: Schema, gone: Flags, kept: Flags, facts: Facts) -> Pruned:
    """Returns the graph without the nodes `gone`, and with those facts of `kept` that join two remaining nodes."""
    kept = kept & ~gone[facts.heads] & ~gone[facts.tails]
    place = np.cumsum(~gone) - 1
    used, relations = np.unique(facts.relations[kept], return_inverse=True)
    fewer = Facts(
        place[facts.heads[kept]].astype(np.int32),
        relations.astype(np.int32),
        place[facts.tails[kept]].astype(np.int32),
    )
    classes, class_sets = _class_sets(schema)
    nodes = Nodes(
        adjacency.mids[~gone],
        kinds_of_nodes(adjacency, schema)[~gone],
        class_sets[adjacency.signatures[~gone]],
        classes,
    )
    arrays, signatures = build_adjacency(nodes, fewer, len(used))
    shown = tuple(replace(schema.relations[old], id=RelationId(new)) for new, old in enumerate(used.tolist()))
    new_id = {old: new for new, old in enumerate(used.tolist())}
    known = {
        (each.kind, each.classes, tuple(Hop(RelationId(new_id[hop.relation]), hop.inverse) for hop in each.hops)): word
        for each, word in zip(schema.signatures, schema.concepts, strict=True)
        if all(hop.relation in new_id for hop in each.hops)
    }
    concepts = [known.get((each.kind, each.classes, each.hops)) for each in signatures]
    changed = tuple(at for at, concept in enumerate(concepts) if concept is None)
    words = (concept or placeholder(each) for concept, each in zip(concepts, signatures, strict=True))
    return Pruned(arrays, Schema(shown, signatures, tuple(words), schema.kind_words), changed)


def _lengths(starts: Numbers) -> npt.NDArray[np.int64]:
    wide = starts.astype(np.int64)
    return wide[1:] - wide[:-1]


def _class_sets(schema: Schema) -> tuple[list[tuple[str, ...]], npt.NDArray[np.int32]]:
    """Every distinct set of classes, and the position of each signature's set."""
    classes = list(dict.fromkeys(each.classes for each in schema.signatures)) or [()]
    place = {each: at for at, each in enumerate(classes)}
    return classes, np.array([place[each.classes] for each in schema.signatures] or [0], dtype=np.int32)
