"""Removes parts of a graph as if they had never been loaded.

These are erased things with all that depends on them, or everything that a role may not see.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from kg_store.errors import PolicyError
from kg_store.graph.adjacency import KINDS, Adjacency, Facts, Flags, Nodes, build_adjacency, lengths_between
from kg_store.graph.blind_graph import CompactGraph
from kg_store.graph.schema import placeholder, with_concepts
from kg_store.sources.policy import Policy, RolePolicy
from kg_store.terms import Edges, Hop, Mids, NodeKind, RelationId, Schema, Signature, as_mids


@dataclass(frozen=True, slots=True)
class Pruned:
    """The rest of a graph after a removal. Relations without facts are left out and the others renumbered.

    `changed`: the positions of signatures that did not exist before (a signature: the kind, classes and hops that
    nodes share). Their concept is only a placeholder; all other signatures keep their concepts.
    """

    adjacency: Adjacency = field(repr=False)
    schema: Schema
    changed: tuple[int, ...]

    @property
    def facts(self) -> int:
        return len(self.adjacency.targets) // 2

    def counts(self) -> dict[NodeKind, int]:
        """Returns the number of nodes of each kind."""
        totals = dict.fromkeys(KINDS, 0)
        for signature in self.schema.signatures:
            totals[signature.kind] += signature.size
        return totals


def facts_of(adjacency: Adjacency) -> Facts:
    """Returns every fact of the arrays, in its forward direction."""
    hops = adjacency.hops_of_targets()
    forwards = hops % 2 == 0
    targets_of_nodes = lengths_between(adjacency.target_starts[adjacency.group_starts])
    heads = np.repeat(np.arange(len(adjacency.mids), dtype=np.int32), targets_of_nodes)
    return Facts(heads[forwards], (hops[forwards] // 2).astype(np.int32), adjacency.targets[forwards].astype(np.int32))


def kinds_of_nodes(adjacency: Adjacency, schema: Schema) -> npt.NDArray[np.uint8]:
    """Returns the position of each node's kind in KINDS."""
    codes = np.array([KINDS.index(each.kind) for each in schema.signatures] or [0], dtype=np.uint8)
    return codes[adjacency.signatures]


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
    classes = list(dict.fromkeys(each.classes for each in schema.signatures)) or [()]
    place_of_set = {each: at for at, each in enumerate(classes)}
    class_sets = np.array([place_of_set[each.classes] for each in schema.signatures] or [0], dtype=np.int32)
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


_MEDIATOR = KINDS.index(NodeKind.MEDIATOR)
_VALUE = KINDS.index(NodeKind.VALUE)
_ENDS = 2  # A mediator that joins fewer nodes has no purpose and is removed.


@dataclass(frozen=True, slots=True)
class RemovalSet:
    """Everything that is removed with the `chosen` things.

    `mids`: all removed things; `nodes`: flags for their positions in the arrays; `facts`: the number of lost facts.
    Three numbers say why things beside the chosen ones go: `values` belonged to removed things only, `mediators`
    joined fewer than two others afterwards, `alone` had no other fact.
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

    A mediator goes if it joins fewer than two other nodes afterwards. A value, or a thing without any other fact, goes
    with the last thing that it belonged to. `unseen`: the facts that the policy hides; a value that one of them still
    uses is kept.
    """
    facts, kinds = facts_of(adjacency), kinds_of_nodes(adjacency, schema)
    chosen = chosen[np.isin(chosen, adjacency.mids)]
    gone = np.isin(adjacency.mids, chosen)
    joined = _mediators(facts, kinds, gone)
    gone |= joined
    mids = as_mids(adjacency.mids[gone])
    lost = gone[facts.heads] | gone[facts.tails]
    hidden = np.isin(unseen.heads, mids) | np.isin(unseen.tails, mids)
    ends = np.concatenate([adjacency.mids[facts.heads], adjacency.mids[facts.tails]])
    touched = np.concatenate([ends[np.tile(lost, 2)], unseen.heads[hidden], unseen.tails[hidden]])
    kept = np.concatenate([ends[np.tile(~lost, 2)], unseen.heads[~hidden], unseen.tails[~hidden]])
    mids = as_mids(np.union1d(mids, np.setdiff1d(touched, kept)))
    nodes = np.isin(adjacency.mids, mids)
    mediators, out_of_graph = int(joined.sum()), len(mids) - int(nodes.sum())
    values = int((kinds[nodes] == _VALUE).sum()) + out_of_graph
    alone = len(mids) - len(chosen) - mediators - values
    return RemovalSet(as_mids(chosen), mids, nodes, int(lost.sum()), values, mediators, alone)


def _mediators(facts: Facts, kinds: npt.NDArray[np.uint8], gone: Flags) -> Flags:
    """Returns flags for the mediators that join fewer than two nodes after the removal.

    The search is repeated, because the removal of one mediator may make others join too little.
    """
    mediator = (kinds == _MEDIATOR) & ~gone
    # A value describes the mediator; it is not one of the nodes that the mediator joins.
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


NameConcepts = Callable[[Schema], Sequence[str]]


def restricted(adjacency: Adjacency, schema: Schema, role: RolePolicy, name_concepts: NameConcepts) -> CompactGraph:
    """Returns the graph that `role` may see.

    Nodes without any fact left are removed; concepts are named again from the relations that are shown. The result is
    kept in memory: 14 bytes a fact and a few for each node, for each role in use.
    """
    facts = facts_of(adjacency)
    words = [{each.iri, each.label} for each in schema.relations]
    of_role = [
        (role.show_relations is None or not each.isdisjoint(role.show_relations))
        and each.isdisjoint(role.withhold_relations)
        for each in words
    ]
    shown = np.array(of_role or [False])[facts.relations]
    of_kind = np.array([_admits(role, schema, each) for each in schema.signatures] or [False])
    gone: Flags = ~of_kind[adjacency.signatures]
    kept = shown & ~gone[facts.heads] & ~gone[facts.tails]
    held = np.zeros(len(gone), dtype=np.bool_)
    held[facts.heads[kept]] = held[facts.tails[kept]] = True
    left = pruned(adjacency, schema, ~held, kept, facts)
    return CompactGraph(left.adjacency, with_concepts(left.schema, name_concepts(left.schema)))


def refuse_unknown_words(policy: Policy, schema: Schema) -> None:
    """Raises PolicyError if a role lists a relation or concept that the graph lacks; it would have no effect."""
    wrong = list(_unknown(policy, schema))
    if wrong:
        raise PolicyError("policy: " + "; ".join(wrong))


def unknown_words(policy: Policy, schema: Schema) -> int:
    """Returns the number of words in roles that name no relation or concept of this graph."""
    return len(list(_unknown(policy, schema)))


def _unknown(policy: Policy, schema: Schema) -> Iterator[str]:
    relations = {word for each in schema.relations for word in (each.iri, each.label)}
    kinds = {str(concept) for concept in schema.concepts} | {word for s in schema.signatures for word in s.classes}
    for number, role in enumerate(policy.roles.values(), start=1):
        for listed, known in _FIELDS.items():
            words = getattr(role, listed) or ()
            for at, word in enumerate(words, start=1):
                if word not in (relations if known == "relation" else kinds):
                    yield f"roles, number {number}, {listed}, item {at}: the graph shows no such {known}"


_FIELDS = {
    "show_relations": "relation",
    "withhold_relations": "relation",
    "show_concepts": "concept",
    "withhold_concepts": "concept",
}


def _admits(role: RolePolicy, schema: Schema, signature: Signature) -> bool:
    """Returns True if the role may see nodes of `signature`, judged by their concept and classes.

    A list `show_concepts` of the role applies to entities only; values and mediators are shown with their facts.
    """
    words = {*signature.classes}
    if signature.kind is NodeKind.ENTITY:
        words.add(str(schema.concepts[signature.id]))
    if not words.isdisjoint(role.withhold_concepts):
        return False
    if signature.kind is not NodeKind.ENTITY or role.show_concepts is None:
        return True
    return not words.isdisjoint(role.show_concepts)
