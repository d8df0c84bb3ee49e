"""The dates that names are, and the years that stand in them."""

from __future__ import annotations

import pytest

from kg_store.text.literals import date_in_name, named_date


@pytest.mark.parametrize(
    ("name", "whole", "within"),
    [
        ("2012", "2012", "2012"),
        ("2005-05-10", "2005-05-10", "2005-05-10"),
        ("1990s", "1990s", "1990s"),
        ("1994 Umbrathal Finals", None, "1994"),
        ("Class of 1975!", None, "1975"),
        ("From 1960 to 1969", None, None),
        ("Rm. A-1204", None, None),
        ("Invoice 20121", None, None),
        ("Boeing 747", None, None),
        ("", None, None),
        ("In 1984 " + "x" * 80, None, None),
    ],
)
def test_dates_of_names(name: str, whole: str | None, within: str | None) -> None:
    assert (named_date(name), date_in_name(name)) == (whole, within)
