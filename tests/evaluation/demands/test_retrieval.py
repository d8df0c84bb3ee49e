"""The recall of retrieved public facts is measured against the true reply, and the sets against their definition."""

from __future__ import annotations

import numpy as np
import pytest

from app.llm.embeddings.embedder import Embedder
from evaluation.demands.dialogues import DialoguePair
from evaluation.demands.matching import HardMatcher
from evaluation.demands.retrieval import (
    T_RAG,
    WHOLE,
    FactRetrieval,
    RetrievalFigures,
    measure_retrieval,
    sets_that_differ,
)
from evaluation.demands.run import retrieval_measures, retrieval_table
from evaluation.demands.topic_fitting import fit_topic_weights

TRIPLES = [
    ("tennis", "IsA", "game"),
    ("racket", "UsedFor", "tennis"),
    ("lemon", "HasProperty", "sour"),
    *((f"lemon cake number {word}", "IsA", "tennis") for word in ("green", "blue", "yellow", "purple")),
]
PAIRS = [
    DialoguePair("1", ("I love tennis.",), "A fine game."),
    DialoguePair("2", ("Have a lemon.",), "It is sour."),
    DialoguePair("3", ("Hm.",), "Hm."),
]


@pytest.mark.model
def test_every_method_is_measured_on_the_pairs_that_a_fact_joins() -> None:
    figures = measure_retrieval(FactRetrieval(TRIPLES, Embedder()), HardMatcher(TRIPLES), PAIRS, lambda *_: None)
    assert figures.joining.tolist() == [1, 1]
    assert figures.recall(WHOLE) == figures.recall(T_RAG) == 1
    assert figures.curve[WHOLE][-1] == figures.curve[T_RAG][-1] == 1
    assert figures.empty_foreseen == pytest.approx(1 / 3)
    assert figures.interval(WHOLE) == (1, 1)
    assert len(figures.processor_ms) == 3
    assert T_RAG in retrieval_table(figures)


@pytest.mark.model
def test_the_fact_sets_are_those_of_the_definition() -> None:
    triples = [(f"a{at % 7}", "r", f"a{at * 3 % 11}") for at in range(77)]
    assert sets_that_differ(FactRetrieval(triples, Embedder()).graph.facts, seed=1, count=50) == 0


@pytest.mark.model
def test_weights_are_fitted_on_what_replies_say() -> None:
    weights = fit_topic_weights(FactRetrieval(TRIPLES, Embedder()).graph, PAIRS)
    assert weights["words"] < 0 or weights["is_one_word"] > 0


def figures_of(whole: int, peer: int, part: int) -> RetrievalFigures:
    found = {name: np.array([hits]) for name, hits in ((WHOLE, whole), (T_RAG, peer), ("a part", part))}
    return RetrievalFigures(found, np.array([10]), 1, 0, 0, (20.0,))


@pytest.mark.parametrize(
    ("figures", "differ", "missed"),
    [
        (figures_of(6, 5, 4), 0, ["processor time of retrieval, ms, median"]),
        (figures_of(5, 5, 4), 0, ["recall among 20 facts against T-RAG's", "processor time of retrieval, ms, median"]),
        (
            figures_of(6, 5, 6),
            1,
            [
                "fact sets that differ from their definition",
                "best recall without a part, below the whole",
                "processor time of retrieval, ms, median",
            ],
        ),
    ],
)
def test_a_missed_bound_is_told(figures: RetrievalFigures, differ: int, missed: list[str]) -> None:
    assert [each.name for each in retrieval_measures(figures, differ) if not each.passed] == missed
