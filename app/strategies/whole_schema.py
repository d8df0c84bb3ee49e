"""Shows a small schema whole to a model: each kind's relations, with nameless nodes (rows, events) as kinds too."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Final

from app.egress.disclosure import Profile
from app.language.readings import schema_steps, step_of_kind
from app.llm.endpoint.closed_schemas import LEADS_TO
from app.llm.tasks import SchemaStep
from app.strategies.base import Draft, StrategyInput
from kg_store.graph.blind_graph import BlindGraph
from kg_store.graph.kinds import nameless_kinds
from kg_store.graph.traversal import kind_of, tail_concept
from kg_store.terms import NO_MIDS, Hop, Mid, NodeKind, Schema, as_mids, cached_by_version

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
    for step in _single_steps(inquiry):
        shown[step.kind][f"{step.label}{LEADS_TO}{step.value or step.concept}"] = None
    lines = {kind: list(each) for kind, each in shown.items()}
    return lines if sum(map(len, lines.values())) <= most else {}


def steps_with_rows(inquiry: StrategyInput) -> tuple[SchemaStep, ...]:
    """Returns every step of one relation, with nameless nodes (rows, events) as kinds; empty if the graph has none."""
    return _single_steps(inquiry) if nameless_kinds(inquiry.graph.schema) else ()


def labels_within(inquiry: StrategyInput) -> list[str]:
    """Returns the labels of all steps between named things, and of those from and to nameless nodes."""
    steps = *schema_steps(inquiry.graph), *_single_steps(inquiry)
    return list(dict.fromkeys(step.label for step in steps))


MAX_FACTS_OF_ROWS: Final = 60
"""The most facts of nameless nodes that an answer tells; of more nodes it says that they have no name. Chosen by hand.
"""


def draft_of_rows(inquiry: StrategyInput, expressions: Sequence[str]) -> Draft | None:
    """Returns a draft that tells each of a few nameless nodes by all that it has: "date: {1}; miles: {2}.".

    Several stand on lines of their own. None if `expressions` give anything else, or too many of them.
    """
    graph = inquiry.graph
    found = inquiry.result_of(expressions[0]) if len(expressions) == 1 else None
    mids = as_mids(found.mids) if found is not None else NO_MIDS
    if not 0 < len(mids) <= MAX_FACTS_OF_ROWS or kind_of(graph, mids) is not NodeKind.MEDIATOR:
        return None
    schema, signatures = graph.schema, graph.signatures_of(mids).tolist()
    hops = [sorted(schema.signatures[each].hops) for each in signatures]
    if sum(map(len, hops)) > MAX_FACTS_OF_ROWS:
        return None
    rows = expressions if len(mids) == 1 else [inquiry.pseudonyms.of_entity(Mid(mid)) for mid in mids.tolist()]
    steps = [f'reach({row}, "{schema.label(hop)}")' for row, own in zip(rows, hops, strict=True) for hop in own]
    number = count(1)
    words = [[tail_concept(schema, (hop,)) if hop.inverse else schema.label(hop) for hop in own] for own in hops]
    lines = ["; ".join(f"{word}: {{{next(number)}}}" for word in own) for own in words]
    return Draft(tuple(steps), "\n".join(f"{line}." for line in lines), tuple(rows) if len(mids) > 1 else ())


def _single_steps(inquiry: StrategyInput) -> tuple[SchemaStep, ...]:
    """Returns every step of one relation: those of each kind of things, then those of each kind of nameless nodes.

    Computed once for each version of a graph.
    """
    schema = inquiry.graph.schema
    known = schema.derived.get(_single_steps)
    if not isinstance(known, tuple):
        known = schema.derived[_single_steps] = tuple(_all_single_steps(inquiry.graph))
    return known


def _all_single_steps(graph: BlindGraph) -> Iterator[SchemaStep]:
    schema, leading_to = graph.schema, _leading_to(graph.schema)

    def single(kind: str, hop: Hop) -> SchemaStep:
        return step_of_kind(graph, kind, (hop,), leading_to.get(hop) or tail_concept(schema, (hop,)))

    hops = {schema.label(hop): hop for signature in schema.signatures for hop in signature.hops}
    for step in schema_steps(graph):
        yield single(step.kind, hops[step.label.partition("|")[0]]) if "|" in step.label else step
    for kind, ids in nameless_kinds(schema).items():
        for hop in sorted({hop for each in ids for hop in schema.signatures[each].hops}):
            yield single(kind, hop)


@cached_by_version
def _leading_to(schema: Schema) -> dict[Hop, str]:
    """Maps each hop that leads to nameless nodes to the kinds of those, joined by commas."""
    found: defaultdict[Hop, dict[str, None]] = defaultdict(dict)
    for kind, ids in nameless_kinds(schema).items():
        for hop in (hop for each in ids for hop in schema.signatures[each].hops):
            found[hop.reversed()][kind] = None
    return {hop: ", ".join(kinds) for hop, kinds in found.items()}
