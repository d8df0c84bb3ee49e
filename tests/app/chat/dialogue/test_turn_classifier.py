"""The kind of a turn, by a model of words and meaning that ships with the service."""

from __future__ import annotations

import json

import pytest

from app.chat.dialogue.turn_classifier import KINDS, TurnClassifier, read_turn_model
from app.chat.dialogue.turn_features import lengths, word_groups
from app.evaluation.dialogue.turns_run import SETS
from app.llm.embeddings.embedder import Embedder
from app.llm.embeddings.model_files import BOXED_MODEL, weights_digest_of
from app.training.turns import read_labelled, train_turns


@pytest.fixture(scope="module")
def classifier(embedder: Embedder) -> TurnClassifier:
    model = read_turn_model(model_digest=weights_digest_of(BOXED_MODEL))
    return TurnClassifier(model, lambda text: embedder.sentences([text])[0])


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


def test_training_gives_the_same_file_twice_and_learns(embedder: Embedder) -> None:
    turns = read_labelled(SETS / "turns_training.jsonl")[::20]
    first = train_turns(turns, embedder, BOXED_MODEL)
    assert first == train_turns(turns, embedder, BOXED_MODEL)


def test_a_line_that_is_no_labelled_turn_is_named() -> None:
    file = SETS / "turns_seen.jsonl"
    assert json.loads(file.read_text("utf-8").splitlines()[0])["kind"] in KINDS
    with pytest.raises(ValueError, match="line 1"):
        read_labelled(file)
