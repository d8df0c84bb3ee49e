"""The confidence rises with what speaks for a reading and falls with what speaks against it; it is never certain."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.llm.confidence import (
    MAX_CONFIDENCE,
    MIN_CONFIDENCE,
    confidence_of,
    is_likely,
)
from app.llm.in_house import ReadingScores

PLAIN = ReadingScores("meaning", 2.0, 0.5, 0.9, steps=1)
PATH = ReadingScores("path", 0.6, 0.3, steps=1)
WHOLE = ReadingScores("whole", 1.0, 0.1, steps=1, likeness=0.7, pull=0.02, fits=True, accounted=True)
FIGURES = st.floats(-1e6, 1e6)


def sure(scores: ReadingScores, *, doubtful_names: bool = False) -> float:
    return confidence_of(scores, doubtful_names=doubtful_names)


@given(
    FIGURES,
    FIGURES,
    FIGURES,
    st.integers(0, 50),
    st.floats(0, 1),
    st.booleans(),
    st.sampled_from(["meaning", "whole", "path"]),
)
def test_it_is_a_chance_that_is_never_certain(
    score: float, margin: float, weakest: float, silent: int, likeness: float, doubt: bool, road: str
) -> None:
    scores = ReadingScores(road, score, margin, weakest, silent=silent, likeness=likeness)  # type: ignore[arg-type]
    told = sure(scores, doubtful_names=doubt)
    assert MIN_CONFIDENCE <= told <= MAX_CONFIDENCE
    assert told == round(told, 2)


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (replace(PLAIN, margin=1.0), replace(PLAIN, margin=0.15)),
        (replace(PLAIN, weakest=1.0), replace(PLAIN, weakest=0.65)),
        (PLAIN, replace(PLAIN, steps=3)),
        (replace(PATH, score=0.9), replace(PATH, score=0.2)),
        (replace(PATH, margin=0.6), replace(PATH, margin=0.0)),
        (WHOLE, replace(WHOLE, likeness=0.5)),
        (WHOLE, replace(WHOLE, pull=0.1)),
        (WHOLE, replace(WHOLE, fits=False)),
        (WHOLE, replace(WHOLE, accounted=False)),
        (WHOLE, replace(WHOLE, steps=3)),
    ],
)
def test_what_speaks_for_a_reading_raises_it(better: ReadingScores, worse: ReadingScores) -> None:
    assert sure(better) > sure(worse)


def test_a_long_way_that_few_words_say_is_not_likely_and_a_short_one_that_all_say_is() -> None:
    assert is_likely(ReadingScores("meaning", score=1.9, margin=1.0, weakest=1.0, steps=1))
    assert not is_likely(ReadingScores("meaning", score=0.8, margin=0.2, weakest=0.7, steps=4, silent=3))


def test_a_chain_is_as_sure_as_one_step_that_is_said_as_well() -> None:
    one = ReadingScores("meaning", score=1.5, margin=0.3, weakest=1.0, steps=1)
    assert sure(one) == sure(replace(one, score=6.0, steps=4))
    assert is_likely(one)
