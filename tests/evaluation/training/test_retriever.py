"""The retriever's training on made-up dialogues: it learns, and the same input gives the same bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from typer import Typer
from typer.testing import CliRunner

from app.llm.embeddings.embedder import Embedder
from app.llm.embeddings.model_files import BOXED_MODEL
from app.retriever.retriever import NetworkConfig, RetrieverWeights, read_weights, scores_of, shapes_of, write_weights
from evaluation import cli_training
from evaluation.cli import app as evaluation
from evaluation.dialogue.retrieval import DialogueSet, RankingFigures, features_of, figures, read_set, to_learn_from
from evaluation.training.network_fitting import FittingProgress
from evaluation.training.retriever import (
    RankedFacts,
    RepliedFacts,
    RetrieverNetwork,
    RetrieverTraining,
    batch_of,
    fit_retriever,
    reply_likelihood,
    thinned,
)
from tests.support.dialogues import write_dialogues
from tests.support.trainings import Training, check_others_refused, check_resumed, check_same_bytes

SMALL = NetworkConfig(width=32)
SHORT = RetrieverTraining(epochs=6, batch=4, warm_up=5, rate=5e-3, dropout=0.1)


@pytest.fixture(scope="module")
def dialogues(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> DialogueSet:
    return read_set(write_dialogues(tmp_path_factory.mktemp("data")), embedder)


@pytest.fixture(scope="module")
def facts(dialogues: DialogueSet, embedder: Embedder) -> list[RankedFacts]:
    return features_of(dialogues.train, embedder, dialogues.relations)


def training(
    dialogues: DialogueSet, facts: Sequence[RankedFacts], folder: Path, how: RetrieverTraining
) -> Training[RetrieverWeights]:
    return Training(
        partial(fit_retriever, facts, dialogues.relations.vectors(), SMALL, how=how), write_weights, folder
    )


def test_it_learns_what_is_asked_for_of_films_that_it_never_saw(
    dialogues: DialogueSet, facts: list[RankedFacts], embedder: Embedder
) -> None:
    told: list[FittingProgress] = []
    weights = fit_retriever(facts, dialogues.relations.vectors(), SMALL, 0, SHORT, told.append)
    per_epoch = len(told) // SHORT.epochs
    assert np.mean([each.loss for each in told[-per_epoch:]]) < 0.5 * np.mean([each.loss for each in told[:per_epoch]])
    assert told[-1].done == told[-1].total == len(told)

    test = features_of(dialogues.test, embedder, dialogues.relations)

    def measured(weights: RetrieverWeights) -> RankingFigures:
        scores = [scores_of(weights, each.features, dialogues.relations.vectors()) for each in test]
        return figures(scores, [each.gold for each in test])

    chance = figures([np.zeros(len(each.gold)) for each in test], [each.gold for each in test])
    assert measured(weights).mrr > 1.5 * chance.mrr
    assert measured(weights).hits[0] > 0.6 > chance.hits[0]


def test_the_same_seed_gives_the_same_bytes(dialogues: DialogueSet, facts: list[RankedFacts], tmp_path: Path) -> None:
    check_same_bytes(training(dialogues, facts, tmp_path, replace(SHORT, epochs=2)))


def test_resumed_after_an_interruption_it_ends_the_same(
    dialogues: DialogueSet, facts: list[RankedFacts], tmp_path: Path
) -> None:
    how = replace(SHORT, epochs=3, candidates=6)
    check_resumed(training(dialogues, facts, tmp_path, how), interrupted_at=0.8)


def test_a_checkpoint_of_another_training_is_refused(
    dialogues: DialogueSet, facts: list[RankedFacts], tmp_path: Path
) -> None:
    how = replace(SHORT, epochs=1)
    others = (
        training(dialogues, facts, tmp_path, replace(how, rate=1e-3)),
        training(dialogues, facts[1:], tmp_path, how),
    )
    check_others_refused(training(dialogues, facts, tmp_path, how), others)


def test_replies_alone_teach_it_too(dialogues: DialogueSet, embedder: Embedder) -> None:
    learnt = to_learn_from(dialogues, embedder, seed=0, known="replies")
    chat = [each for each in learnt if isinstance(each, RepliedFacts)]
    assert len(chat) == len(dialogues.train) < len(learnt)
    how = replace(SHORT, epochs=10)
    weights = fit_retriever(chat, dialogues.relations.vectors(), SMALL, 0, how)
    again = fit_retriever(chat, dialogues.relations.vectors(), SMALL, 0, how)
    assert all(np.array_equal(array, again.arrays[name]) for name, array in weights.arrays.items())
    test = features_of(dialogues.test, embedder, dialogues.relations)
    gold = [each.gold for each in test]
    scores = [scores_of(weights, each.features, dialogues.relations.vectors()) for each in test]
    assert figures(scores, gold).mrr > 1.3 * figures([np.zeros(len(each)) for each in gold], gold).mrr


def test_a_reply_is_likelier_by_the_facts_that_hold_its_words(facts: list[RankedFacts]) -> None:
    told = np.array([[0.5, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.25]], np.float32)
    example = RepliedFacts(facts[0].features, told, np.full(3, 0.01, np.float32))
    found = reply_likelihood(example, torch.tensor([[0, 2], [0, 0], [2, 0], [1, 1]])).exp()
    assert found[0] == found[2] == pytest.approx(0.5**3 * (0.25 + 0.01) * 0.01 * (0.125 + 0.01))
    assert found[1] == pytest.approx(0.5**3 * (0.5 + 0.01) * 0.01 * 0.01)
    assert found[3] == pytest.approx((0.5 * 0.01) ** 3)


def test_the_network_gives_the_same_scores_with_torch_and_without(
    dialogues: DialogueSet, facts: list[RankedFacts]
) -> None:
    torch.manual_seed(0)
    network = RetrieverNetwork(SMALL).eval()
    weights, relations = network.weights(), dialogues.relations.vectors()
    assert {name: array.shape for name, array in weights.arrays.items()} == shapes_of(SMALL)
    with torch.no_grad():
        together = network(batch_of([each.features for each in facts[:5]]), torch.from_numpy(relations)).numpy()
    alone = [scores_of(weights, each.features, relations) for each in facts[:5]]
    assert np.allclose(together, np.concatenate(alone), atol=1e-5)
    assert together.std() > 1e-3


def test_many_candidates_are_thinned_out_but_for_the_right_ones(facts: list[RankedFacts]) -> None:
    large = max(facts, key=lambda each: len(each.gold))
    most = int(large.gold.sum()) + 2
    assert len(large.gold) > most
    small = thinned(large, most, np.random.default_rng(0))
    assert (len(small.gold), small.gold.sum()) == (most, large.gold.sum())
    entities = len(small.features.entity_marks)
    assert {*small.features.heads, *small.features.tails} == set(range(entities))
    assert set(small.features.mentioned) <= set(range(entities))
    (right,) = np.flatnonzero(small.gold)[:1]
    (there,) = np.flatnonzero(large.gold)[:1]
    assert np.array_equal(
        small.features.entity_marks[small.features.heads[right]],
        large.features.entity_marks[large.features.heads[there]],
    )
    assert thinned(large, len(large.gold), np.random.default_rng(0)) is large


@pytest.mark.slow
def test_the_commands_train_a_file_and_measure_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AROG_DATA_DIR", str(tmp_path / "service"))
    data, file = write_dialogues(tmp_path / "data", films=8), tmp_path / "retriever.safetensors"
    runner = CliRunner()
    done = runner.invoke(cli_training.app, ["retriever", "--data", str(data), "--out", str(file)])
    assert done.exit_code == 0, done.output
    assert read_weights(file, BOXED_MODEL).config == NetworkConfig()
    table = runner.invoke(
        evaluation, ["dialogue", "--data", str(data), "--weights", str(file), "--out", str(tmp_path / "out")]
    )
    assert table.exit_code in (0, 1), table.output
    text = (tmp_path / "out" / "dialogue.md").read_text("utf-8")
    wanted = (
        "random",
        "BM25",
        "no gold facts",
        "no questions by relation words",
        "MetaQA",
        "SURGE, published: contrastive",
    )
    assert all(name in text for name in wanted)


@pytest.mark.parametrize(
    ("app", "words", "told"),
    [
        (cli_training.app, ["retriever", "--out", "x"], "triples.tsv can't be read"),
        (cli_training.app, ["extractor", "--out", "x"], "kb.txt can't be read"),
        (evaluation, ["dialogue"], "triples.tsv can't be read"),
    ],
)
def test_without_the_data_the_commands_say_so(tmp_path: Path, app: Typer, words: list[str], told: str) -> None:
    ended = CliRunner().invoke(app, [*words, "--data", str(tmp_path)])
    assert ended.exit_code == 2
    assert told in ended.output
