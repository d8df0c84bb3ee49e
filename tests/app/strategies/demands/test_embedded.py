"""Demands without a model: what a dialogue says, what is near to it, and what a reply may take up."""

from __future__ import annotations

import pytest

from app.llm.embeddings.word_vectors import word_vectors
from app.strategies.demands.embedded import (
    MAX_TOPICS,
    DialogueTerms,
    PublicTerms,
    embedded_demands,
    retrieved,
    scored_topics,
    select,
)
from kg_store.graph.public_facts import PublicFacts

pytestmark = pytest.mark.model

TRIPLES = [
    ("tennis", "IsA", "game"),
    ("tennis", "HasPrerequisite", "finding somebody to play against on an afternoon"),
    ("court", "UsedFor", "tennis"),
    ("racket", "UsedFor", "tennis"),
    ("game", "HasProperty", "fun"),
    ("lemon", "HasProperty", "sour"),
]
GRAPH = PublicTerms(PublicFacts.of(TRIPLES), word_vectors())


def names(terms: frozenset[int] | tuple[int, ...]) -> set[str]:
    return {GRAPH.facts.phrases[each] for each in terms}


def chosen(*turns: str) -> list[str]:
    said = DialogueTerms.of(GRAPH, turns)
    topics = scored_topics(GRAPH, said)
    foreseen, unforeseen = retrieved(GRAPH, said, embedded_demands(GRAPH, said, topics))
    return [GRAPH.facts.fact(row).text for row in select(GRAPH, topics, foreseen, unforeseen)]


def test_queries_are_said_and_topics_stand_beside_them() -> None:
    said = DialogueTerms.of(GRAPH, ["I love tennis."])
    demands = embedded_demands(GRAPH, said, scored_topics(GRAPH, said))
    assert names(demands.explicit.terms) == {"tennis"}
    assert {"game", "court"} <= names(demands.topics)
    assert "lemon" not in names(demands.queries | demands.topics)
    assert len(demands.topics) <= MAX_TOPICS


def test_a_short_common_topic_comes_before_a_long_one() -> None:
    facts = chosen("I love tennis.")
    assert facts.index("tennis is a game") < facts.index(
        "tennis has prerequisite finding somebody to play against on an afternoon"
    )


def test_a_later_turn_counts_more_than_an_earlier_one() -> None:
    said = DialogueTerms.of(GRAPH, ["Tennis?", "A lemon."])
    assert {GRAPH.facts.phrases[term]: ago for term, ago in said.ago.items()} == {"tennis": 1, "lemon": 0}


def test_a_dialogue_without_a_term_has_no_demands() -> None:
    assert chosen("Hm.") == []
