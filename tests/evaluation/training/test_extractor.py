"""The extractor's training on made-up texts: it learns, and the same input gives the same bytes."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from app.extractor.extractor import (
    Extractor,
    ExtractorConfig,
    ExtractorWeights,
    padded,
    read_weights,
    scores_of,
    shapes_of,
    write_weights,
)
from app.extractor.features import SpanFeatureMaker
from app.llm.embeddings.embedder import Embedder
from app.llm.embeddings.model_files import BOXED_MODEL, TokenVectors
from evaluation import cli_training
from evaluation.cli import app as evaluation
from evaluation.dialogue import extractor_run
from evaluation.dialogue.extractor_run import figures
from evaluation.training.extractor import (
    ExtractorNetwork,
    ExtractorTraining,
    LabelledQuestion,
    fit_extractor,
    targets,
)
from evaluation.training.network_fitting import FittingProgress
from tests.support.small_graphs import write_graphs
from tests.support.trainings import Training, check_others_refused, check_resumed, check_same_bytes

SMALL = ExtractorConfig(width=64, layers=1, heads=4)
SHORT = ExtractorTraining(epochs=20, batch=8, warm_up=5, rate=3e-3, dropout=0.0, block=40, saved=1)
SYLLABLES = ("bra", "dol", "fen", "gor", "kri", "lum", "mosk", "nar", "pell", "quin", "tarv", "vost", "wex", "zilm")


def questions(count: int, seed: int) -> list[LabelledQuestion]:
    """Of each text: who wrote it, and, of every other one, a thing that it does not name."""
    draw = random.Random(seed)  # names that nobody has
    found = []
    for number in range(count):
        film, writer, other = ("".join(draw.choices(SYLLABLES, k=3)).capitalize() for _ in range(3))
        text = f"{film} was written by {writer}."
        start = text.index(writer, len(film))
        found.append(LabelledQuestion(text, film, "written_by", False, ((start, start + len(writer)),)))
        if number % 2:
            found.append(LabelledQuestion(text, other, "written_by", False, ()))
    return found


class Remembering:
    """Reads every text once: the training reads it anew in each epoch."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, TokenVectors] = {}

    def tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        if new := [text for text in texts if text not in self._known]:
            self._known |= zip(new, self._embedder.tokens(new), strict=True)
        return [self._known[text] for text in texts]


@pytest.fixture(scope="module")
def reader(embedder: Embedder) -> Remembering:
    return Remembering(embedder)


@pytest.fixture(scope="module")
def learnt() -> list[LabelledQuestion]:
    return questions(80, seed=0)


def training(
    asked: Sequence[LabelledQuestion], reader: Remembering, folder: Path, how: ExtractorTraining
) -> Training[ExtractorWeights]:
    return Training(partial(fit_extractor, asked, SpanFeatureMaker(reader), SMALL, how=how), write_weights, folder)


def test_it_learns_to_find_names_that_it_never_saw(learnt: list[LabelledQuestion], reader: Remembering) -> None:
    told: list[FittingProgress] = []
    extractor = Extractor(fit_extractor(learnt, SpanFeatureMaker(reader), SMALL, 0, SHORT, told.append), reader)
    assert told[-1].done == told[-1].total == len(told)
    assert told[-1].loss < 0.2 * told[0].loss
    unseen = questions(60, seed=1)
    found = figures(unseen, extractor.answers_to(unseen))
    assert found.answered is not None
    assert found.flagged is not None
    assert min(found.answered, found.flagged) > 0.9
    one = unseen[0]
    assert extractor.answers(one.context, one.known, one.relation, one.unknown_is_head) == one.answers
    assert extractor.answers("", "Wexdol", "written by", unknown_is_head=False) == ()
    assert extractor.answers_to([]) == []


def test_the_same_seed_gives_the_same_bytes(
    learnt: list[LabelledQuestion], reader: Remembering, tmp_path: Path
) -> None:
    check_same_bytes(training(learnt, reader, tmp_path, replace(SHORT, epochs=1)))


def test_resumed_after_an_interruption_it_ends_the_same(
    learnt: list[LabelledQuestion], reader: Remembering, tmp_path: Path
) -> None:
    check_resumed(training(learnt, reader, tmp_path, replace(SHORT, epochs=2)), interrupted_at=0.7)


def test_a_checkpoint_of_another_training_is_refused(
    learnt: list[LabelledQuestion], reader: Remembering, tmp_path: Path
) -> None:
    few, how = learnt[:20], replace(SHORT, epochs=1)
    others = training(few, reader, tmp_path, replace(how, rate=1e-3)), training(few[1:], reader, tmp_path, how)
    check_others_refused(training(few, reader, tmp_path, how), others)


def test_the_network_gives_the_same_scores_with_torch_and_without(reader: Remembering) -> None:
    torch.manual_seed(0)
    asked = [
        *questions(3, seed=2),
        LabelledQuestion("Yes! It was made in 1999, by Wexdol of Gorfen.", "Gorfen", "place of birth", True, ()),
    ]
    features = SpanFeatureMaker(reader).make(asked)
    config = replace(SMALL, layers=2)
    network = ExtractorNetwork(config).eval()
    weights = network.weights()
    assert {name: array.shape for name, array in weights.arrays.items()} == shapes_of(config)
    with torch.no_grad():
        spans, none = (each.numpy() for each in network(padded(features)))
    for row, scores in enumerate(scores_of(weights, features)):
        count = len(features[row].context.texts)
        assert np.allclose(scores.starts, spans[row, :count, 0], atol=1e-5)
        assert np.allclose(scores.ends, spans[row, :count, 1], atol=1e-5)
        assert scores.impossible == pytest.approx(none[row], abs=1e-5)
    assert spans.std() > 1e-3


def test_each_answer_of_a_list_begins_and_ends_at_its_own_words(reader: Remembering) -> None:
    text = "Ann Lee and Bo wrote it."
    question = LabelledQuestion(text, "it", "written by", False, ((0, 7), (12, 14)))
    (features,) = SpanFeatureMaker(reader).make([question])
    wanted, is_word = targets([(features, question)], 9)
    assert np.flatnonzero(wanted[0, :, 0]).tolist() == [0, 3]
    assert np.flatnonzero(wanted[0, :, 1]).tolist() == [1, 3]
    assert is_word[0].tolist() == [1] * 7 + [0] * 2
    assert question.answers == ("Ann Lee", "Bo")


@pytest.mark.slow
def test_the_commands_train_a_file_and_measure_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AROG_DATA_DIR", str(tmp_path / "service"))
    monkeypatch.setattr(extractor_run, "TEST_PAIRS", 10)
    data, file, out = write_graphs(tmp_path / "data"), tmp_path / "extractor.safetensors", tmp_path / "out"
    runner = CliRunner()
    words = ["extractor", "--data", str(data), "--out", str(file), "--pairs", "20"]
    done = runner.invoke(cli_training.app, words)
    assert done.exit_code == 0, done.output
    assert read_weights(file, BOXED_MODEL).config == ExtractorConfig()
    table = runner.invoke(evaluation, ["extractor", "--data", str(data), "--extractor", str(file), "--out", str(out)])
    assert table.exit_code == 1, table.output
    text = (out / "extractor.md").read_text("utf-8")
    assert all(name in text for name in ("unseen relations", "PathQuestion", "unseen carriers", "0.88", "0.95"))
