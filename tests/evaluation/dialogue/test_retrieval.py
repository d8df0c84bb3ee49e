"""Ranks of gold facts, and the rankings that need no training."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from app.llm.embeddings.embedder import Embedder
from evaluation.dialogue.dialogue_sets import DialogueTurn, graph_of
from evaluation.dialogue.retrieval import (
    CUTS,
    LEARNED,
    METAQA,
    OPENDIALKG,
    PLAIN,
    ExampleMaker,
    RankingFigures,
    RetrievalExample,
    RetrievalRow,
    bi_encoder_scores,
    bm25_scores,
    figures,
    retrieval_markdown,
    retrieval_measures,
)


def test_the_best_placed_gold_fact_counts() -> None:
    found = figures([np.array([3.0, 2.0, 1.0])], [np.array([False, True, True])])
    assert found == RankingFigures(1, 0.5, (0.0, 1.0, 1.0, 1.0, 1.0))


@pytest.mark.parametrize(("scores", "gold"), [([1, 1, 1, 1], [1, 0, 0, 0]), ([2, 1, 1, 1, 1], [0, 1, 1, 0, 0])])
def test_equal_scores_count_as_the_mean_over_their_orders(scores: list[float], gold: list[int]) -> None:
    ranks = []
    for order in itertools.permutations(range(len(scores))):
        ranked = sorted(order, key=lambda at: -scores[at])
        ranks.append(1 + min(place for place, at in enumerate(ranked) if gold[at]))
    found = figures([np.array(scores, float)], [np.array(gold, bool)])
    assert found.mrr == pytest.approx(np.mean([1 / rank for rank in ranks]))
    assert found.hits == pytest.approx([np.mean([rank <= cut for rank in ranks]) for cut in CUTS])


def test_scores_that_differ_by_rounding_are_equal() -> None:
    gold = [np.array([True, False])]
    assert figures([np.array([1.0, 1.0 + 1e-9])], gold) == figures([np.array([1.0, 1.0])], gold)


@pytest.fixture
def example() -> RetrievalExample:
    triples = {("Wexdol", "written by", "Gorfen"), ("Wexdol", "release year", "1950"), ("Wexdol", "is a", "Film")}
    turn = DialogueTurn(
        "1",
        "1",
        (("user", "I read Gorfen's letters"), ("assistant", "Good."), ("user", "What year is Wexdol's release?")),
        (("Wexdol", "release year", "1950"),),
    )
    (found,) = ExampleMaker(graph_of(triples)).examples([turn])
    return found


def test_words_of_the_relation_bring_it_up(example: RetrievalExample) -> None:
    right = int(np.flatnonzero(example.gold)[0])
    scores = bm25_scores(example)
    assert scores[right] > 0
    assert scores.argmax() == right


def test_bm25_reads_no_name(example: RetrievalExample) -> None:
    turn = DialogueTurn("1", "1", (("user", "release year"),), (("Release Year", "is a", "Film"),))
    (named,) = ExampleMaker(
        graph_of({("Release Year", "is a", "Film"), ("A", "release year", "Release Year")})
    ).examples([turn])
    shown = [mention.is_name for mention in named.query.history[0].mentions]
    assert shown == [False]
    assert bm25_scores(named).max() > 0


def test_the_bi_encoder_takes_names_only_where_it_may(example: RetrievalExample, embedder: Embedder) -> None:
    right = int(np.flatnonzero(example.gold)[0])
    hidden = bi_encoder_scores(embedder, example, with_names=False, turns=1)
    shown = bi_encoder_scores(embedder, example, with_names=True, turns=1)
    assert hidden.argmax() == shown.argmax() == right
    assert not np.allclose(hidden, shown)


def test_the_table_holds_the_learned_ranking_to_its_bounds() -> None:
    rows = [
        row("encoder", 0.3, is_encoder=True),
        row(LEARNED, 0.39),
        row(PLAIN, 0.395),
        row("encoder", 0.7, METAQA, is_encoder=True),
        row(LEARNED, 0.71, METAQA),
    ]
    assert all(line.passed for line in retrieval_measures(rows))
    assert "| OpenDialKG | encoder | 9 | 30.0 | 28.0 | 45.0 |" in retrieval_markdown(rows)
    gain, names, transfer = (line.name for line in retrieval_measures(rows)[3:])
    for at, missed, spoiled in (
        (0, gain, row("encoder", 0.33, is_encoder=True)),
        (2, names, row(PLAIN, 0.41)),
        (3, transfer, row("encoder", 0.72, METAQA, is_encoder=True)),
    ):
        others = [*rows[:at], spoiled, *rows[at + 1 :]]
        assert [line.name for line in retrieval_measures(others) if not line.passed] == [missed]


def row(name: str, mrr: float, source: str = OPENDIALKG, *, is_encoder: bool = False) -> RetrievalRow:
    return RetrievalRow(source, name, RankingFigures(9, mrr, (0.28, 0.45, 0.5, 0.6, 0.9)), is_encoder)
