"""Bounds that stand behind a value are put before it; what else a question says stays as it is."""

from __future__ import annotations

import pytest

from app.reader.language.stated_bounds import in_reading_order


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("branches with Vn4m44 or more seats", "branches with at least Vn4m44 seats"),
        ("two books or fewer", "at most two books"),
        ("Vn4m44 and above", "at least Vn4m44"),
        ("Vn4m44 plus", "at least Vn4m44"),
        ("published during the year Vn4m44", "published in the year Vn4m44"),
        ("only Eb1k11 and nothing else", "only Eb1k11"),
        ("nothing but books", "only books"),
        ("books by neither Ea2t22 nor Ea3t33", "books not by Ea2t22 or Ea3t33"),
        ("top three earners", "top three people earn"),
    ],
)
def test_bounds_are_put_before_what_they_bound(said: str, read: str) -> None:
    assert " ".join(in_reading_order(said.split())) == read


@pytest.mark.parametrize(
    "said",
    [
        "two or three books",
        "between Vn4m44 and Vd4t33",
        "at least two or more books",
        "neither of them",
        "during the war",
    ],
)
def test_other_words_keep_their_order(said: str) -> None:
    assert " ".join(in_reading_order(said.split())) == said
