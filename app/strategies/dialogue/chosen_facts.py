"""Chooses the facts of a reply among the candidates, and groups those of one relation of one thing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from app.llm.tasks import Size
from app.strategies.base import FoundFact, StrategyInput
from app.strategies.dialogue.candidate_facts import CandidateFact
from app.strategies.dialogue.fact_ranking import Floats
from app.strategies.retrieval import bucket, labels_of
from kg_store.graph.traversal import concept_of, reached, tail_concept
from kg_store.terms import Mid, NodeKind, Step, as_mids
from kg_store.text.english import synonyms_of

MAX_TOLD: Final = 8
"""The greatest number of facts in a description. Chosen by hand; not fitted."""
MAX_TALKED: Final = 3
"""The greatest number of facts in a remark. Chosen by hand; not fitted."""
MAX_TOGETHER: Final = 12
"""The greatest number of things that are told as one set. Chosen by hand; not fitted.

A hub is described by its own relations, not by all things that lead to it.
"""
MAX_OF_HUB: Final = 3
"""The greatest number of things leading to a hub that are told. Chosen by hand; not fitted."""

Told = frozenset[int]


def describing(inquiry: StrategyInput, facts: Sequence[CandidateFact], told: Told) -> list[FoundFact]:
    """Returns the facts that describe a thing: its own before those of which it is the object, and few before many."""
    groups = _groups(facts)
    kept = [each for each in groups if each[0].size <= MAX_TOGETHER and not _is_said_forwards(each[0], facts)]
    schema = inquiry.graph.schema

    def worth(group: list[CandidateFact]) -> tuple[bool, bool, bool, bool, int, str]:
        first, label = group[0], schema.label_step(group[0].step)
        describes = not first.is_inverse and "describe" in synonyms_of(label)
        is_value = first.kind is NodeKind.VALUE
        return _is_told(group, told), first.is_inverse, not describes, is_value, first.size, label

    if kept:
        heads = list(dict.fromkeys(fact.head for fact in facts))
        each_most = MAX_TOLD // len(heads)
        ordered = sorted(kept, key=worth)
        told_of = [[group for group in ordered if group[0].head == head][:each_most] for head in heads]
        return [_as_set(inquiry, group) for groups_of_one in told_of for group in groups_of_one]
    # A hub without facts of its own is described by a few things that lead to it.
    return [as_one(inquiry, each) for group in sorted(groups, key=worth)[:1] for each in group[:MAX_OF_HUB]]


def nearest(inquiry: StrategyInput, facts: Sequence[CandidateFact], scores: Floats, told: Told) -> list[FoundFact]:
    """Returns the facts most relevant to the turn, unsaid ones first.

    A fact about a thing that the dialogue has not mentioned follows the fact that leads to that thing.
    """
    order = sorted(range(len(facts)), key=lambda at: (facts[at].tail in told, -float(scores[at])))
    chosen: list[CandidateFact] = []
    for at in order:
        steps = [*_leading_to(facts[at], facts), facts[at]]
        new = [each for each in steps if not _is_among(each, chosen)]
        if len(chosen) + len(new) <= MAX_TALKED:
            chosen += new
    return [_as_set(inquiry, [each]) if each.size <= MAX_TOGETHER else as_one(inquiry, each) for each in chosen]


def upright(fact: FoundFact) -> FoundFact:
    """Returns a fact between two single things from its subject to its object; other facts as they are."""
    step = fact.path[0]
    if len(fact.path) != 1 or fact.end.startswith("S"):
        return fact
    if "|" in step or not step.startswith("^"):
        return replace(fact, size="1")
    return FoundFact(fact.end, fact.end_concept, (step[1:],), fact.start, fact.start_concept, "1")


def _leading_to(fact: CandidateFact, facts: Sequence[CandidateFact]) -> list[CandidateFact]:
    """The fact that leads to the head of `fact`, if the dialogue does not mention that head; else empty."""
    if not fact.is_behind:
        return []
    return [next(each for each in facts if not each.is_behind and each.tail == fact.head)]


def _is_among(fact: CandidateFact, chosen: Sequence[CandidateFact]) -> bool:
    """True if a chosen fact already says it, as part of the same set or from its other end."""
    return any(
        (each.head == fact.head and each.step == fact.step and (each.tail == fact.tail or each.size <= MAX_TOGETHER))
        or (each.head == fact.tail and each.tail == fact.head)
        or (each.head == fact.head and each.tail == fact.tail and each.relations == fact.relations)
        for each in chosen
    )


def _is_said_forwards(fact: CandidateFact, facts: Sequence[CandidateFact]) -> bool:
    """True of an inverse fact whose forward form is among `facts` too: siblings are siblings both ways."""
    ends = fact.head, fact.tail, fact.relations
    return fact.is_inverse and any((each.head, each.tail, each.relations) == ends for each in facts if each != fact)


def _groups(facts: Sequence[CandidateFact]) -> list[list[CandidateFact]]:
    groups: defaultdict[tuple[Mid, Step], list[CandidateFact]] = defaultdict(list)
    for fact in facts:
        groups[fact.head, fact.step].append(fact)
    return list(groups.values())


def _is_told(group: Sequence[CandidateFact], told: Told) -> bool:
    return all(fact.tail in told for fact in group)


def _as_set(inquiry: StrategyInput, group: Sequence[CandidateFact]) -> FoundFact:
    """All things that `head` reaches by the step, including those that are not candidates, as one fact."""
    fact = group[0]
    members = reached(inquiry.graph, as_mids([fact.head]), (fact.step,))
    if len(members) == 1:
        return _found(inquiry, fact, _word(inquiry, fact), "1")
    start = inquiry.pseudonyms.of_entity(fact.head)
    return _found(inquiry, fact, inquiry.pseudonyms.of_set(start, (fact.step,), members), bucket(len(members)))


def as_one(inquiry: StrategyInput, fact: CandidateFact) -> FoundFact:
    """Returns one of the things that `head` reaches by the step; its size is not shown if there are others."""
    return _found(inquiry, fact, _word(inquiry, fact), "1" if fact.size == 1 else "")


def _word(inquiry: StrategyInput, fact: CandidateFact) -> str:
    pseudonyms = inquiry.pseudonyms
    return pseudonyms.of_value(fact.tail) if fact.kind is NodeKind.VALUE else pseudonyms.of_entity(fact.tail)


def _found(inquiry: StrategyInput, fact: CandidateFact, end: str, size: Size) -> FoundFact:
    graph = inquiry.graph
    is_one_thing = size in ("1", "") and fact.kind is NodeKind.ENTITY
    concept = concept_of(graph, as_mids([fact.tail])) if is_one_thing else tail_concept(graph.schema, fact.step)
    return FoundFact(
        start=inquiry.pseudonyms.of_entity(fact.head),
        start_concept=concept_of(graph, as_mids([fact.head])),
        path=labels_of(inquiry, (fact.step,)),
        end=end,
        end_concept=concept,
        size=size,
    )
