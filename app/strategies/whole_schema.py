"""Shows a small schema whole to a model: each kind's relations, with nameless nodes (rows, events) as kinds too."""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from app.egress.disclosure import Profile
from app.language.readings import MAX_SEEN, schema_steps, step_of_kind
from app.llm.tasks import LEADS_TO, SchemaStep
from app.strategies.base import StrategyInput
from kg_store.graph.blind_graph import BlindGraph
from kg_store.graph.kinds import kinds_of, nameless_kinds
from kg_store.graph.traversal import ConceptScope, members_of, paths_of, tail_concept, walk
from kg_store.terms import Hop, NodeKind, Schema, SignatureId, as_mids, cached_by_version

MAX_SHOWN: Final = 120
"""A schema of at most this many steps, counted for each kind, is shown whole to a model that can write answers. Chosen
by hand: about 900 tokens."""


def graph_shown(inquiry: StrategyInput, most: int = MAX_SHOWN) -> dict[str, list[str]]:
    """Returns the whole schema as a prompt shows it: for each kind, lines such as "treats: patient".

    A relation that passes nameless nodes (`a|b`) is shown in two: `a` leads to a kind of such nodes, which has `b`.
    Empty if no capable model is asked, if there are more than `most` lines, and under another profile than "kind".
    """
    if not (inquiry.reasoner.is_model and inquiry.reasoner.is_capable and inquiry.profile is Profile.KIND):
        return {}
    shown: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for step in _single_steps(inquiry.graph):
        shown[step.kind][f"{step.label}{LEADS_TO}{step.value or step.concept}"] = None
    lines = {kind: list(each) for kind, each in shown.items()}
    return lines if sum(map(len, lines.values())) <= most else {}


def steps_with_rows(inquiry: StrategyInput) -> tuple[SchemaStep, ...]:
    """Returns every step of one relation, with nameless nodes (rows, events) as kinds; empty if the graph has none."""
    return _single_steps(inquiry.graph) if nameless_kinds(inquiry.graph.schema) else ()


def labels_within(inquiry: StrategyInput) -> list[str]:
    """Returns the labels of all steps between named things, and of those from and to nameless nodes."""
    steps = *schema_steps(inquiry.graph), *_single_steps(inquiry.graph)
    return list(dict.fromkeys(step.label for step in steps))


def _single_steps(graph: BlindGraph) -> tuple[SchemaStep, ...]:
    """Returns every step of one relation: those of each kind of things, then those of each kind of nameless nodes.

    They are computed once for each version of a graph.
    """
    schema, nameless = graph.schema, nameless_kinds(graph.schema)
    known = schema.derived.get(_single_steps)
    if isinstance(known, tuple):
        return known
    of_things = [(kind, path[0]) for kind in kinds_of(schema) for path in paths_of(graph, ConceptScope(kind), 1).paths]
    of_nameless = [
        (kind, (hop,))
        for kind, ids in nameless.items()
        for hop in sorted({hop for each in ids for hop in schema.signatures[each].hops})
    ]
    steps = tuple(
        step_of_kind(graph, kind, step[:1], _ends_of(graph, kind, step[0]))
        for kind, step in (*of_things, *of_nameless)
    )
    schema.derived[_single_steps] = steps
    return steps


def _ends_of(graph: BlindGraph, kind: str, hop: Hop) -> str:
    """Returns the kinds that `hop` leads to from things of `kind`, joined by commas.

    One relation may lead to rows from the one kind and to things from the other: a table `jabs` with a column `jab`.
    """
    schema = graph.schema
    rows = _leading_to(schema).get(hop)
    if rows is None:
        return tail_concept(schema, (hop,))
    if all(each.kind is NodeKind.MEDIATOR for each in schema.signatures if hop.reversed() in each.hops):
        return ", ".join(rows)
    members = members_of(graph, kind)
    tails = as_mids(walk(graph, members[:: len(members) // MAX_SEEN + 1], ((hop,),)).tails)
    found = set(graph.signatures_of(tails).tolist())
    named = [str(schema.concepts[each]) for each in found if schema.signatures[each].kind is NodeKind.ENTITY]
    return ", ".join([*(row for row, ids in rows.items() if not found.isdisjoint(ids)), *dict.fromkeys(named)])


@cached_by_version
def _leading_to(schema: Schema) -> dict[Hop, dict[str, list[SignatureId]]]:
    """Maps each hop that leads to nameless nodes to the kinds of those, with their signatures."""
    found: defaultdict[Hop, dict[str, list[SignatureId]]] = defaultdict(dict)
    for kind, ids in nameless_kinds(schema).items():
        for hop in (hop for each in ids for hop in schema.signatures[each].hops):
            found[hop.reversed()][kind] = ids
    return dict(found)
