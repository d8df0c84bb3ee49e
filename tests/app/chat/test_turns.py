"""The kind of a turn: small talk, things to be described, questions that were offered; the rest by a model."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from app.chat.turn_forms import KINDS
from app.chat.turns import reply_to
from app.llm.embeddings.embedder import Embedder
from app.llm.embeddings.model_files import BOXED_MODEL
from evaluation.dialogue.labelled import TRAINING, read_labelled, train_turns
from tests.support.house import turn_classifier

OF_GRAPH = ("city", "clinic", "doctor", "ward")


def test_the_invitation_names_kinds_of_the_graph() -> None:
    assert "cities, clinics and doctors" in reply_to("help", OF_GRAPH)


def test_training_gives_the_same_file_twice_and_learns(embedder: Embedder, tmp_path: Path) -> None:
    every = read_labelled(TRAINING)
    turns = every[::20]
    weights = train_turns(turns, embedder, BOXED_MODEL)
    assert weights == train_turns(turns, embedder, BOXED_MODEL)
    file = tmp_path / "weights.npz"
    file.write_bytes(weights)
    trained = turn_classifier(embedder, file)
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
