"""Dates that lean on the date behind them, and decades without their century."""

from __future__ import annotations

import pytest

from kg_store.text.relative_dates import find_shortened_dates


@pytest.mark.parametrize(
    ("text", "said", "date"),
    [
        ("born in the 50s", "50s", "1950s"),
        ("born in the '80s", "80s", "1980s"),
        ("between March and June 2023", "March", "2023-03"),
        ("between November and February 2024", "November", "2023-11"),
        ("in march or april 2024", "march", "2024-03"),
        ("between 3 March and 5 June 2023", "3 March", "2023-03-03"),
        ("between 3 and 5 June 2023", "3", "2023-06-03"),
    ],
)
def test_what_a_date_leaves_out_is_put_in(text: str, said: str, date: str) -> None:
    (found,) = find_shortened_dates(text)
    assert (text[found.start : found.end], found.lexical) == (said, date)


@pytest.mark.parametrize(
    "text",
    [
        "she is in her 50s",
        "from 3 to 5 wards in June 2023",
        "between 3 and 5",
        "March and June 2023",
        "between March 2022 and June 2023",
        "between Anna and June 2023",
    ],
)
def test_other_texts_have_none(text: str) -> None:
    assert list(find_shortened_dates(text)) == []
