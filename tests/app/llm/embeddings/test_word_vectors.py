"""Phrases are compared by the word vectors of the sentence model, without running it."""

from __future__ import annotations

import numpy as np
import pytest

from app.llm.embeddings.word_vectors import likeness, word_vectors

pytestmark = pytest.mark.model


def test_a_phrase_is_most_like_a_text_on_the_same_matter() -> None:
    words = word_vectors()
    phrases = words.phrases(["soccer match", "interest rate", ""])
    like = likeness(phrases, np.arange(3, dtype=np.int32), words.products(["Who won the football game yesterday?"]))
    assert like[0] > like[1]
    assert like[2] == 0


def test_a_phrase_is_wholly_like_itself() -> None:
    words = word_vectors()
    phrases = words.phrases(["a red vase"])
    assert likeness(phrases, np.zeros(1, np.int32), words.products(["a red vase"]))[0] == pytest.approx(1, abs=1e-4)
