"""The kind of a turn, by a model of words and meaning that ships with the service."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from app.chat.dialogue.turn_classifier import KINDS, WEIGHTS, TurnClassifier, read_turn_model
from app.chat.dialogue.turn_features import lengths, word_groups
from app.llm.embeddings.embedder import Embedder
from app.llm.embeddings.model_files import BOXED_MODEL, weights_digest_of
from evaluation.dialogue.labelled import TRAINING, read_labelled, train_turns


def classifier_of(weights: Path, embedder: Embedder) -> TurnClassifier:
    model = read_turn_model(weights, weights_digest_of(BOXED_MODEL))
    return TurnClassifier(model, lambda text: embedder.sentences([text])[0])


@pytest.fixture(scope="module")
def classifier(embedder: Embedder) -> TurnClassifier:
    return classifier_of(WEIGHTS, embedder)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Which doctor treats X?", "question"),
        ("tell me everything about X please", "tell"),
        ("I have always loved X, what a voice", "talk"),
        ("thank you, bye", "neither"),
    ],
)
def test_plain_turns_of_each_kind(classifier: TurnClassifier, text: str, kind: str) -> None:
    chances = classifier.chances(text)
    assert max(chances, key=lambda each: chances[each]) == kind
    assert sum(chances.values()) == pytest.approx(1)


def test_another_sentence_model_leaves_the_words() -> None:
    model = read_turn_model(model_digest="another")
    assert model.vector is None
    assert set(TurnClassifier(model).chances("Which doctor treats X?")) == set(KINDS)


def test_words_pairs_and_lengths() -> None:
    assert word_groups("Who is X?") >= {"who", "X", "?", "< who", "is X", "? >"}
    assert lengths("one two")[1:] == [0.1, 1.0, 0.0, 0.0]


def test_training_gives_the_same_file_twice_and_learns(embedder: Embedder, tmp_path: Path) -> None:
    every = read_labelled(TRAINING)
    turns = every[::20]
    weights = train_turns(turns, embedder, BOXED_MODEL)
    assert weights == train_turns(turns, embedder, BOXED_MODEL)
    file = tmp_path / "weights.npz"
    file.write_bytes(weights)
    trained = classifier_of(file, embedder)
    unseen = [turn for turn in every[10::20] if turn not in turns]
    read = [max(KINDS, key=trained.chances(turn.text).__getitem__) for turn in unseen]
    right = sum(kind == turn.kind for kind, turn in zip(read, unseen, strict=True)) / len(unseen)
    commonest = max(Counter(turn.kind for turn in unseen).values()) / len(unseen)
    assert right > 0.8 > 0.7 > commonest
    assert set(read) == set(KINDS)


@pytest.mark.parametrize(
    "line",
    ["no json", "[]", '{"text": "Who is X?"}', '{"kind": "question"}', '{"text": "Who is X?", "kind": "another"}'],
)
def test_a_line_that_is_no_labelled_turn_is_named(tmp_path: Path, line: str) -> None:
    file = tmp_path / "turns.jsonl"
    file.write_text(f'{{"text": "Who is X?", "kind": "question"}}\n{line}\n', "utf-8")
    with pytest.raises(ValueError, match="line 2"):
        read_labelled(file)
