"""A model's terms are taken only where the public graph has them."""

from __future__ import annotations

import pytest

from app.llm.embeddings.word_vectors import word_vectors
from app.llm.tasks import DemandList, DemandsReply
from app.strategies.base import BesideGraph
from app.strategies.demands.embedded import PublicTerms
from app.strategies.demands.strategy import matched
from kg_store.graph.public_facts import PublicFacts

FACTS = PublicFacts.of([("soccer match", "IsA", "game"), ("lemon", "HasProperty", "sour")])


def listed(*terms: str) -> DemandList:
    return DemandList(thought="so", terms=list(terms))


@pytest.mark.model
def test_terms_are_matched_by_their_words_or_their_meaning_or_dropped() -> None:
    reply = DemandsReply(
        explicit=listed("Lemons"),
        implicit=listed("the soccer match"),
        maintained=listed("Jörg D'Amaro", "", "interest rate"),
        extended=listed(),
    )
    demands = matched(PublicTerms(FACTS, word_vectors()), reply)
    assert [FACTS.phrases[term] for term in demands.explicit.terms] == ["lemon"]
    assert [FACTS.phrases[term] for term in demands.implicit.terms] == ["soccer match"]
    assert demands.topics == frozenset()
    assert demands.explicit.thought == "so"


def test_a_public_graph_is_called_with_its_source_and_licence() -> None:
    assert BesideGraph("common", "CC0", "Some net", FACTS).label == "common (Some net, CC0)"
    assert BesideGraph("common", "", "", FACTS).label == "common"
