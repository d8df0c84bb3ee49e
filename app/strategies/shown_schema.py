"""Shows a schema to a model: each kind's relations, with nameless nodes (rows, events) as kinds too.

A small schema is shown whole, a larger one as far as it is near to the question.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise, zip_longest
from typing import Final

import numpy as np

from app.egress.disclosure import Profile
from app.language.readings import MAX_SEEN, schema_steps, step_of_kind
from app.llm.embeddings.embedder import Likeness
from app.llm.tasks import LEADS_TO, PublicTerm, SchemaStep
from app.strategies.base import PublicName, StrategyInput
from kg_store.graph.blind_graph import BlindGraph
from kg_store.graph.kinds import kinds_of, kinds_of_rows, nameless_kinds
from kg_store.graph.traversal import ConceptScope, members_of, paths_of, tail_concept, walk
from kg_store.terms import Hop, NodeKind, Schema, SignatureId, as_mids, cached_by_version
from kg_store.text.words import asked_words

MAX_SHOWN: Final = 200
"""A model that can write answers is shown at most this many steps of the schema, counted for each kind: about 1,500
tokens. Chosen by hand."""
MAX_TERMS: Final = 200
"""A prompt shows at most this many public things and texts by name: about 1,500 tokens. Chosen by hand."""
MIN_LETTERS: Final = 4
"""Shorter words of a question are not compared alone. Chosen by hand."""
MAX_OF_WHOLE_KINDS: Final = 150
"""So many of them are whole kinds; the others are chosen by likeness. Chosen by hand."""


@dataclass(frozen=True, slots=True)
class ShownSchema:
    """The schema as a prompt shows it: for each kind, lines such as "treats: patient".

    `is_whole`: no line is left out. Kinds with the same lines stand in one key, with commas between them.
    """

    lines: dict[str, list[str]] = field(default_factory=dict)
    is_whole: bool = True


def schema_shown(inquiry: StrategyInput, likeness: Likeness, most: int = MAX_SHOWN) -> ShownSchema:
    """Returns the schema whole if it has at most `most` lines, else the lines that are nearest to the question.

    A relation that passes nameless nodes (`a|b`) is shown in two: `a` leads to a kind of such nodes, which has `b`.
    Empty if no capable model is asked, and under another profile than "kind".
    """
    if not (most and inquiry.reasoner.is_model and inquiry.reasoner.is_capable and inquiry.profile is Profile.KIND):
        return ShownSchema()
    steps = _single_steps(inquiry.graph)
    lines = {_line_of(inquiry.graph.schema, step): step for step in steps}
    is_whole = len(lines) <= most
    if not is_whole:
        texts = [f"{step.shown} | {step.kind} to {step.value or step.concept}" for step in lines.values()]
        near = np.argsort(-likeness(asked_words(inquiry.dialogue.question), texts), kind="stable")
        ranked = list(lines.values())
        kept = set(nearest_part([ranked[int(at)] for at in near], _kinds_asked(inquiry), most))
        lines = {line: step for line, step in lines.items() if step in kept}
    shown: defaultdict[str, list[str]] = defaultdict(list)
    for kind, line in lines:
        shown[kind].append(line)
    return ShownSchema(_of_alike_kinds(shown), is_whole)


def _line_of(schema: Schema, step: SchemaStep) -> tuple[str, str]:
    """Returns the kind of a step and its line; rows that are counted under a class are called by the class alone."""
    classes = _classes_of_rows(schema)
    ends = dict.fromkeys(classes.get(kind, kind) for kind in step.concept.split(", "))
    return classes.get(step.kind, step.kind), f"{step.label}{LEADS_TO}{step.value or ', '.join(ends)}"


@cached_by_version
def _classes_of_rows(schema: Schema) -> dict[str, str]:
    rows = nameless_kinds(schema)
    return {kind: str(schema.concepts[ids[0]]) for kind, ids in rows.items() if kind not in kinds_of_rows(schema)}


def _of_alike_kinds(shown: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Returns the lines of each kind, those of several kinds once if they are the same: "drug, medicine"."""
    alike: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    for kind, lines in shown.items():
        alike[tuple(sorted(lines))].append(kind)
    return {", ".join(kinds): shown[kinds[0]] for kinds in alike.values()}


def public_terms_shown(inquiry: StrategyInput, likeness: Likeness, most: int = MAX_TERMS) -> list[PublicTerm]:
    """Returns public things and texts, by kind, at most `most`: the smallest kinds whole, then what is most like the
    question's words as the model reads them.

    A model that knows that a blood thinner is an anticoagulant can then name it.
    """
    names = inquiry.public_names()
    if not names:
        return []
    words = [each.words for each in names]
    best = np.max([likeness(part, words) for part in _parts_of(asked_words(inquiry.dialogue.question))], axis=0)
    near = np.argsort(-best, kind="stable")
    whole = _smallest_kinds(names, MAX_OF_WHOLE_KINDS)
    ranked = [*(each for each in names if each.kind in whole), *(names[int(at)] for at in near)]
    chosen = sorted(list(dict.fromkeys(ranked))[:most], key=lambda each: (each.kind, each.words))
    drawn = inquiry.pseudonyms
    return [
        PublicTerm(
            name=drawn.of_value(each.mid) if each.is_text else drawn.of_entity(each.mid),
            kind=each.kind,
            means=each.words,
        )
        for each in chosen
    ]


def _parts_of(question: str) -> list[str]:
    """Returns the question, its words of some length, and each two words in a row, of which one may mean a term."""
    words = question.split()
    pairs = map(" ".join, pairwise(words))
    return list(dict.fromkeys([question, *(word for word in words if len(word) >= MIN_LETTERS), *pairs]))


def _smallest_kinds(names: Sequence[PublicName], most: int) -> frozenset[str]:
    """Returns the kinds with the fewest names that have at most `most` names together."""
    sizes = sorted(Counter(each.kind for each in names).items(), key=lambda each: (each[1], each[0]))
    totals = accumulate(size for _, size in sizes)
    return frozenset(kind for (kind, _), total in zip(sizes, totals, strict=True) if total <= most)


def nearest_part(ranked: Sequence[SchemaStep], asked: Collection[str], most: int) -> list[SchemaStep]:
    """Returns at most `most` of the steps `ranked` (the best first): in turn the next, and the next of a kind asked.

    Before each step stand the steps that lead to its kind from the kinds `asked`, so that it can be reached.
    """
    towards = _ways_from(asked, ranked)
    chosen: dict[SchemaStep, None] = {}
    for pair in zip_longest(ranked, (step for step in ranked if step.kind in asked)):
        for step in filter(None, pair):
            needed = [each for each in (*towards.get(step.kind, ()), step) if each not in chosen]
            if len(chosen) + len(needed) > most:
                return list(chosen)
            chosen.update(dict.fromkeys(needed))
    return list(chosen)


def _ways_from(asked: Collection[str], ranked: Sequence[SchemaStep]) -> dict[str, tuple[SchemaStep, ...]]:
    """Maps each kind to the fewest steps that lead to it from a kind of `asked`; of equally few the best ranked."""
    leaving: defaultdict[str, list[SchemaStep]] = defaultdict(list)
    for step in ranked:
        leaving[step.kind].append(step)
    ways: dict[str, tuple[SchemaStep, ...]] = dict.fromkeys(asked, ())
    newest = list(ways)
    while newest:
        reached = [(end, step) for kind in newest for step in leaving[kind] for end in step.concept.split(", ")]
        newest = []
        for end, step in reached:
            if end not in ways:
                ways[end] = (*ways[step.kind], step)
                newest.append(end)
    return ways


def _kinds_asked(inquiry: StrategyInput) -> frozenset[str]:
    """Returns the kinds of the things and sets of things that the question names."""
    schema, named = inquiry.graph.schema, [topic.mids for topic in inquiry.dialogue.topics if topic.newest]
    ids = np.unique(inquiry.graph.signatures_of(np.concatenate(named))) if named else ()
    return frozenset(str(schema.concepts[int(each)]) for each in ids if each >= 0)


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
