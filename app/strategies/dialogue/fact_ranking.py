"""Ranks candidate facts for the next turn, by likeness of words or by a trained retriever."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from app.llm.embeddings.embedder import Embedder
from app.privacy.safe_text import SafeDialogue
from app.retriever.features import EntityProfile, Fact, RetrievalQuery
from app.retriever.retriever import Retriever
from app.strategies.dialogue.candidate_facts import CandidateFact
from app.strategies.retriever_input import relation_words, utterances_of
from kg_store.graph.blind_graph import BlindGraph
from kg_store.terms import Mid, as_mids

Floats = npt.NDArray[np.float32]

_STAND_IN: Final = "X"


class FactRanker(Protocol):
    """Scores candidate facts for the next turn of a dialogue.

    `looks_further`: it can also judge facts that are two steps away.
    """

    looks_further: bool

    def scores(self, dialogue: SafeDialogue, graph: BlindGraph, facts: Sequence[CandidateFact]) -> Floats:
        """Returns one score a fact, shape (facts,); higher is better."""
        ...


class LikenessRanker:
    """Ranks by the cosine of a relation's words with the last turn; for services without a trained retriever."""

    looks_further = False

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def scores(self, dialogue: SafeDialogue, graph: BlindGraph, facts: Sequence[CandidateFact]) -> Floats:
        words = [relation_words(graph.schema, fact.step) for fact in facts]
        unique = list(dict.fromkeys(words))
        turn = _without_stand_ins(dialogue)
        near = dict(zip(unique, self._embedder.similarity(turn, unique).tolist(), strict=True)) if unique else {}
        return np.array([near[each] for each in words], np.float32)


class TrainedRanker:
    """Ranks by `app.retriever`, which estimates p(fact | dialogue) and reads no name and no pseudonym."""

    looks_further = True

    def __init__(self, retriever: Retriever) -> None:
        self._retriever = retriever

    def scores(self, dialogue: SafeDialogue, graph: BlindGraph, facts: Sequence[CandidateFact]) -> Floats:
        return self._retriever.scores(query_of(dialogue, graph, facts))


def query_of(dialogue: SafeDialogue, graph: BlindGraph, facts: Sequence[CandidateFact]) -> RetrievalQuery:
    """Returns the dialogue and its candidates as the retriever reads them: relation words, and numbers instead of
    things.
    """
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


def _without_stand_ins(dialogue: SafeDialogue) -> str:
    text = str(dialogue.question)
    for topic in dialogue.topics:
        text = text.replace(topic.pseudonym, _STAND_IN)
    return text
