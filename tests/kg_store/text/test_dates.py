"""Months and days without a year: how they are read, what they equal, and which year they get."""

from __future__ import annotations

import pytest

from kg_store.terms import ValueKind
from kg_store.text.dates import PartialDate, YearlyDate, is_yearly, read_iso_date, read_yearly_date
from kg_store.text.literals import named_date, parse_value, read_asked, read_literal


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("April", YearlyDate(4)),
        ("18 april", YearlyDate(4, 18)),
        ("Sept. 3rd", YearlyDate(9, 3)),
        ("29th of February", YearlyDate(2, 29)),
    ],
)
def test_read(text: str, date: YearlyDate) -> None:
    assert read_asked(text, ValueKind.DATE) == date
    assert read_literal(text) == (ValueKind.DATE, date.lexical)
    assert read_yearly_date(date.lexical) == date


def test_a_truth_value_is_read_as_cells_have_it() -> None:
    assert [read_asked(text, ValueKind.TRUTH) for text in ("n", "Y", "nein", "true")] == [False, True, False, True]
    with pytest.raises(ValueError, match="truth"):
        read_asked("maybe", ValueKind.TRUTH)


@pytest.mark.parametrize("text", ["31 June", "April 2024", "Aprilia", "", "18", "marching"])
def test_no_date_without_a_year(text: str) -> None:
    assert not is_yearly(text)


def test_no_cell_and_no_name_is_one() -> None:
    with pytest.raises(ValueError, match="not a date"):
        parse_value("18 April", ValueKind.DATE)
    assert named_date("April") is None


@pytest.mark.parametrize(
    ("date", "equal"),
    [("2024-04-18", True), ("1999-04-18T10:00:00", True), ("2024-04", True), ("2024-04-17", False), ("2024", False)],
)
def test_equals_the_day_of_any_year(date: str, equal: bool) -> None:
    assert (YearlyDate(4, 18).compare(read_iso_date(date)) == 0) is equal


@pytest.mark.parametrize(
    ("month", "dates", "year"),
    [
        (4, ("2024-09-01", "2025-05-30"), 2025),
        (10, ("2024-09-01", "2025-05-30"), 2024),
        (7, ("2025-01-01", "2025-03-01"), 2025),
        (7, ("2024-09-01", "2025-05-30"), None),
        (4, ("2023-01-01", "2025-05-30"), None),
        (4, (), None),
    ],
)
def test_the_only_year_in_which_it_lies_among_dates(month: int, dates: tuple[str, ...], year: int | None) -> None:
    found = YearlyDate(month).among([read_iso_date(each) for each in dates])
    assert found == (None if year is None else PartialDate(year, month))


def test_29_february_is_of_no_common_year() -> None:
    assert YearlyDate(2, 29).of_year(2023) is None
