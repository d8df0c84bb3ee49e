"""Examples of retrieval: a turn's dialogue, the one-hop facts of what it names, and which of them the reply uses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from app.retriever.query import EntityProfile, Fact, Mention, RetrievalQuery, Utterance
from evaluation.dialogue.mentions import ExactNames
from evaluation.dialogue.opendialkg import DialogueGraph, DialogueTurn, Triple


@dataclass(frozen=True, slots=True)
class RetrievalExample:
    """`triples`: the candidates with their names, in the order of `query.facts`; `gold`: shape (facts,)."""

    turn: DialogueTurn
    query: RetrievalQuery
    triples: tuple[Triple, ...] = field(repr=False)
    gold: npt.NDArray[np.bool_] = field(repr=False)


class ExampleMaker:
    """Makes examples of one graph; entities are what its exact names in the history stand for."""

    def __init__(self, graph: DialogueGraph) -> None:
        self._graph = graph
        self._names = ExactNames(graph.facts_of)
        self._profiles: dict[str, EntityProfile] = {}

    def examples(self, turns: Sequence[DialogueTurn]) -> list[RetrievalExample]:
        """Those of the turns that have a gold fact among their candidates."""
        return [example for turn in turns if (example := self._example(turn)).gold.any()]

    def _example(self, turn: DialogueTurn) -> RetrievalExample:
        found = [self._names.find(text) for _, text in turn.history]
        named = {name for mentions in found for mention in mentions for name in mention.names}
        triples = tuple(sorted({triple for name in named for triple in self._graph.facts_of[name]}))
        entities = sorted(named.union(*({head, tail} for head, _, tail in triples)))
        number = {entity: at for at, entity in enumerate(entities)}
        history = tuple(
            Utterance(
                speaker,
                text,
                tuple(Mention(m.start, m.end, tuple(number[name] for name in m.names), m.is_name) for m in mentions),
            )
            for (speaker, text), mentions in zip(turn.history, found, strict=True)
        )
        facts = tuple(Fact(number[head], relation, number[tail]) for head, relation, tail in triples)
        query = RetrievalQuery(history, tuple(self._profile(entity) for entity in entities), facts)
        return RetrievalExample(turn, query, triples, np.array([triple in turn.gold for triple in triples], bool))

    def _profile(self, entity: str) -> EntityProfile:
        if entity not in self._profiles:
            facts = self._graph.facts_of[entity]
            outgoing = tuple(sorted({relation for head, relation, _ in facts if head == entity}))
            incoming = tuple(sorted({relation for _, relation, tail in facts if tail == entity}))
            self._profiles[entity] = EntityProfile(outgoing, incoming)
        return self._profiles[entity]
