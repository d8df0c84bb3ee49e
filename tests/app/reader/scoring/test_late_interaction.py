"""Questions are compared with hops token by token, in context."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from app.llm.embeddings.embedder import Embedder
from app.reader.scoring.late_interaction import MAX_SCHEMAS, LateInteraction, LateScores

HOPS = ["treats | doctor to patient", "works at | doctor to clinic", "birth date | patient to date"]


@pytest.fixture(scope="module")
def late(embedder: Embedder) -> LateInteraction:
    return LateInteraction(embedder)


def scores(late: LateInteraction, words: str, texts: Sequence[str]) -> LateScores:
    told = late.of(words.split(), texts)
    assert told is not None
    return told


def test_the_hop_that_is_meant_is_nearest(late: LateInteraction) -> None:
    for words, at in (("who looks after the patient", 0), ("which clinic employs the doctor", 1)):
        assert int(np.argmax(scores(late, words, HOPS).whole)) == at


def test_each_word_has_a_likeness_to_each_text(late: LateInteraction) -> None:
    told = scores(late, "who employs the doctor", HOPS)
    assert told.by_word.shape == (4, 3)
    assert told.by_word[3, 0] > told.by_word[3, 2]  # "doctor" stands in the first text, but not in the last one


def test_texts_are_compared_alike_in_any_company(late: LateInteraction) -> None:
    words = "who looks after the patient"
    alone = [float(scores(late, words, [hop]).whole[0]) for hop in HOPS]
    assert scores(late, words, HOPS).whole.tolist() == pytest.approx(alone, abs=1e-4)


def test_nothing_to_compare_gives_nothing(late: LateInteraction) -> None:
    assert late.of(["who"], []) is None
    assert late.of([], HOPS) is None
    assert late.of([""], HOPS) is None


def test_a_model_that_does_not_tell_where_its_tokens_stand_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    def tokens(_self: Embedder, _texts: Sequence[str]) -> list[object]:
        raise NotImplementedError

    monkeypatch.setattr(Embedder, "tokens", tokens)
    assert LateInteraction(Embedder()).of(["who"], HOPS) is None


def test_few_schemas_are_kept(late: LateInteraction) -> None:
    for number in range(MAX_SCHEMAS + 3):
        late.of(["who"], [f"relation {number} | thing to thing"])
    assert late.kept == MAX_SCHEMAS
