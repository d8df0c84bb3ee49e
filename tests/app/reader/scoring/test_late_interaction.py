"""Questions are compared with hops token by token, in context."""

from __future__ import annotations

import numpy as np
import pytest

from app.llm.embeddings.embedder import Embedder
from app.reader.scoring.late_interaction import MAX_SCHEMAS, LateInteraction

HOPS = ["treats | doctor to patient", "works at | doctor to clinic", "birth date | patient to date"]


@pytest.fixture(scope="module")
def late(embedder: Embedder) -> LateInteraction:
    return LateInteraction(embedder)


def test_the_hop_that_is_meant_is_nearest(late: LateInteraction) -> None:
    for words, at in (("who looks after the patient", 0), ("which clinic employs the doctor", 1)):
        assert int(np.argmax(late.of(words.split(), HOPS).whole)) == at


def test_each_word_has_a_likeness_to_each_text(late: LateInteraction) -> None:
    scores = late.of("who employs the doctor".split(), HOPS)
    assert scores.by_word.shape == (4, 3)
    assert scores.by_word[3, 0] > scores.by_word[3, 2]  # "doctor" stands in the first text, but not in the last one


def test_texts_are_compared_alike_in_any_company(late: LateInteraction) -> None:
    words = "who looks after the patient".split()
    alone = [float(late.of(words, [hop]).whole[0]) for hop in HOPS]
    assert late.of(words, HOPS).whole.tolist() == pytest.approx(alone, abs=1e-4)


def test_nothing_to_compare_gives_nothing(late: LateInteraction) -> None:
    assert late.of(["who"], []).whole.shape == (0,)
    assert late.of(["who"], []).by_word.shape == (1, 0)


def test_few_schemas_are_kept(late: LateInteraction) -> None:
    for number in range(MAX_SCHEMAS + 3):
        late.of(["who"], [f"relation {number} | thing to thing"])
    assert late.kept == MAX_SCHEMAS
