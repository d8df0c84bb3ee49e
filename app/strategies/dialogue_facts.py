"""Finds, ranks and chooses the facts for a reply in dialogue: those one or two steps from the things spoken of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from app.llm.embeddings.embedder import Embedder
from app.llm.tasks import Size
from app.privacy.safe_text import SafeDialogue
from app.retriever.features import EntityProfile, Fact, RetrievalQuery
from app.retriever.retriever import Retriever
from app.strategies.base import FoundFact, StrategyInput
from app.strategies.retrieval import bucket, labels_of, relation_words, utterances_of
from kg_store.graph.blind_graph import BlindGraph
from kg_store.graph.traversal import concept_of, kind_of, reached, steps_from, tail_concept
from kg_store.terms import NO_MIDS, Mid, Mids, NodeKind, RelationId, Step, as_mids
from kg_store.text.english import synonyms_of

MAX_TAILS: Final = 60
"""The greatest number of tails that are ranked for one head and step; the rest is left out. Chosen by hand."""


@dataclass(frozen=True, slots=True)
class CandidateFact:
    """A fact that the reply may state: `head` reaches `tail` by `step`.

    `size`: the number of things that `head` reaches by `step`. `kind`: entity or value, for the tail. `is_behind`: the
    dialogue does not mention `head`, but a thing that it mentions leads to `head`.
    """

    head: Mid
    step: Step
    tail: Mid
    size: int
    kind: NodeKind
    is_behind: bool = False

    @property
    def relations(self) -> tuple[RelationId, ...]:
        """The relations of the step, without their direction."""
        return tuple(hop.relation for hop in self.step)

    @property
    def is_inverse(self) -> bool:
        """True if the step walks the relation backwards, so that `tail` is its subject."""
        return self.step[0].inverse


def facts_around(
    graph: BlindGraph, heads: Iterable[Mid], without: Mids = NO_MIDS, *, is_behind: bool = False
) -> Iterator[CandidateFact]:
    """Yields the facts one step from each of `heads`, except those whose tail is in `without` or is a mediator."""
    for head in heads:
        one = as_mids([head])
        for step in steps_from(graph, one):
            if len({hop.inverse for hop in step}) > 1:
                # The direction changes at a mediator, as from an insurer over a bill to what was billed. Such facts
                # say nothing about the head.
                continue
            tails = reached(graph, one, (step,))
            tails = tails[~np.isin(tails, (*without, head))]
            kind = kind_of(graph, tails) if len(tails) else NodeKind.MEDIATOR
            if kind is not NodeKind.MEDIATOR:
                yield from (
                    CandidateFact(head, step, Mid(int(tail)), len(tails), kind, is_behind)
                    for tail in tails[:MAX_TAILS]
                )


def was_cut(facts: Iterable[CandidateFact]) -> bool:
    return any(fact.size > MAX_TAILS for fact in facts)


Floats = npt.NDArray[np.float32]

_STAND_IN: Final = "X"


class FactRanker(Protocol):
    """Scores candidate facts for the reply to a dialogue.

    `looks_further`: the ranker can also judge facts that are two steps from the things spoken of.
    """

    looks_further: bool

    def scores(self, dialogue: SafeDialogue, graph: BlindGraph, facts: Sequence[CandidateFact]) -> Floats:
        """Returns one score for each fact, shape (facts,); higher is better."""
        ...


class LikenessRanker:
    """Ranks facts by the cosine between their relation's words and the last turn; needs no trained retriever."""

    looks_further = False

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def scores(self, dialogue: SafeDialogue, graph: BlindGraph, facts: Sequence[CandidateFact]) -> Floats:
        words = [relation_words(graph.schema, fact.step) for fact in facts]
        unique = list(dict.fromkeys(words))
        turn = str(dialogue.question)
        for topic in dialogue.topics:
            turn = turn.replace(topic.pseudonym, _STAND_IN)
        near = dict(zip(unique, self._embedder.similarity(turn, unique).tolist(), strict=True)) if unique else {}
        return np.array([near[each] for each in words], np.float32)


class TrainedRanker:
    """Ranks facts with the trained `app.retriever`, which estimates p(fact | dialogue). It reads no pseudonyms."""

    looks_further = True

    def __init__(self, retriever: Retriever) -> None:
        self._retriever = retriever

    def scores(self, dialogue: SafeDialogue, graph: BlindGraph, facts: Sequence[CandidateFact]) -> Floats:
        return self._retriever.scores(query_of(dialogue, graph, facts))


def query_of(dialogue: SafeDialogue, graph: BlindGraph, facts: Sequence[CandidateFact]) -> RetrievalQuery:
    """Returns the dialogue and the candidate facts as a query of the retriever, with things replaced by numbers."""
    ends = dict.fromkeys(mid for fact in facts for mid in (fact.head, fact.tail))
    number = {mid: at for at, mid in enumerate(ends)}
    spoken = {
        topic.pseudonym: tuple(number[Mid(int(mid))] for mid in topic.mids if mid in ends) for topic in dialogue.topics
    }
    return RetrievalQuery(
        history=utterances_of(dialogue, spoken),
        entities=[_profile(graph, mid) for mid in ends],
        facts=[
            Fact(number[fact.tail], words, number[fact.head])
            if fact.is_inverse
            else Fact(number[fact.head], words, number[fact.tail])
            for fact in facts
            for words in [relation_words(graph.schema, fact.step)]
        ],
    )


def _profile(graph: BlindGraph, mid: Mid) -> EntityProfile:
    hops = graph.relations_of(as_mids([mid]))
    said = sorted({(hop.inverse, relation_words(graph.schema, (hop,))) for hop in hops})
    return EntityProfile(*(tuple(words for inverse, words in said if inverse is way) for way in (False, True)))


MAX_TOLD: Final = 8
"""The greatest number of facts in a description. Chosen by hand; not fitted."""
MAX_TALKED: Final = 3
"""The greatest number of facts in a remark. Chosen by hand; not fitted."""
MAX_TOGETHER: Final = 12
"""The greatest size of a set that is told as one fact. Chosen by hand; not fitted.

A hub (a thing that very many others lead to) is described by its own relations, not by everything that leads to it.
"""
MAX_OF_HUB: Final = 3
"""The greatest number of facts told of a hub that has none of its own. Chosen by hand; not fitted."""

Told = frozenset[int]


def describing(inquiry: StrategyInput, facts: Sequence[CandidateFact], told: Told) -> list[FoundFact]:
    """Returns the facts that describe the heads of `facts`; those whose ends were named already come last.

    Facts of which a head is the subject come before those of which it is the object, and small sets before large ones.
    `told`: the things that the dialogue has named.
    """
    by_step: defaultdict[tuple[Mid, Step], list[CandidateFact]] = defaultdict(list)
    for fact in facts:
        by_step[fact.head, fact.step].append(fact)
    groups = list(by_step.values())
    kept = [each for each in groups if each[0].size <= MAX_TOGETHER and not _is_said_forwards(each[0], facts)]
    schema = inquiry.graph.schema

    def worth(group: list[CandidateFact]) -> tuple[bool, bool, bool, bool, int, str]:
        first, label = group[0], schema.label_step(group[0].step)
        describes = not first.is_inverse and "describe" in synonyms_of(label)
        is_value = first.kind is NodeKind.VALUE
        is_told = all(fact.tail in told for fact in group)
        return is_told, first.is_inverse, not describes, is_value, first.size, label

    if kept:
        heads = list(dict.fromkeys(fact.head for fact in facts))
        each_most = MAX_TOLD // len(heads)
        ordered = sorted(kept, key=worth)
        told_of = [[group for group in ordered if group[0].head == head][:each_most] for head in heads]
        return [_as_set(inquiry, group) for groups_of_one in told_of for group in groups_of_one]
    # A hub without facts of its own is described by a few things that lead to it.
    return [as_one(inquiry, each) for group in sorted(groups, key=worth)[:1] for each in group[:MAX_OF_HUB]]


def nearest(inquiry: StrategyInput, facts: Sequence[CandidateFact], scores: Floats, told: Told) -> list[FoundFact]:
    """Returns at most MAX_TALKED facts with the highest `scores`; those about things already told come last.

    A fact about a thing that the dialogue has not mentioned follows the fact that leads to that thing.
    """
    order = sorted(range(len(facts)), key=lambda at: (facts[at].tail in told, -float(scores[at])))
    chosen: list[CandidateFact] = []
    for at in order:
        leading = (each for each in facts if not each.is_behind and each.tail == facts[at].head)
        steps = [next(leading), facts[at]] if facts[at].is_behind else [facts[at]]
        new = [each for each in steps if not _is_among(each, chosen)]
        if len(chosen) + len(new) <= MAX_TALKED:
            chosen += new
    return [_as_set(inquiry, [each]) if each.size <= MAX_TOGETHER else as_one(inquiry, each) for each in chosen]


def upright(fact: FoundFact) -> FoundFact:
    """Returns the fact, turned to run from subject to object if it joins two single things by one relation."""
    step = fact.path[0]
    if len(fact.path) != 1 or fact.end.startswith("S"):
        return fact
    if "|" in step or not step.startswith("^"):
        return replace(fact, size="1")
    return FoundFact(fact.end, fact.end_concept, (step[1:],), fact.start, fact.start_concept, "1")


def _is_among(fact: CandidateFact, chosen: Sequence[CandidateFact]) -> bool:
    """Returns True if a chosen fact already states `fact`, as part of a set or in the other direction."""
    return any(
        (each.head == fact.head and each.step == fact.step and (each.tail == fact.tail or each.size <= MAX_TOGETHER))
        or (each.head == fact.tail and each.tail == fact.head)
        or (each.head == fact.head and each.tail == fact.tail and each.relations == fact.relations)
        for each in chosen
    )


def _is_said_forwards(fact: CandidateFact, facts: Sequence[CandidateFact]) -> bool:
    """Returns True for an inverse fact that `facts` also holds forwards, as with a symmetric relation (sibling)."""
    ends = fact.head, fact.tail, fact.relations
    return fact.is_inverse and any((each.head, each.tail, each.relations) == ends for each in facts if each != fact)


def _as_set(inquiry: StrategyInput, group: Sequence[CandidateFact]) -> FoundFact:
    """Returns one fact for all that the head of `group` reaches by its step, including things not in `group`."""
    fact = group[0]
    members = reached(inquiry.graph, as_mids([fact.head]), (fact.step,))
    if len(members) == 1:
        return _found(inquiry, fact, _word(inquiry, fact), "1")
    start = inquiry.pseudonyms.of_entity(fact.head)
    return _found(inquiry, fact, inquiry.pseudonyms.of_set(start, (fact.step,), members), bucket(len(members)))


def as_one(inquiry: StrategyInput, fact: CandidateFact) -> FoundFact:
    """Returns the fact that leads from the head to its single `tail`, even if the step leads to other things too.

    In that case `size` is empty, so that prompts show none.
    """
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
