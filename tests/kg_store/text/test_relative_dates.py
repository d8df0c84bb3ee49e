"""Dates that depend on the day, and dates that omit what a later one says."""

from __future__ import annotations

import datetime as dt

import pytest

from kg_store.text.relative_dates import by_calendar, find_shortened_dates, relative_dates_in

TODAY = dt.date(2026, 11, 23)


def said(text: str, today: dt.date = TODAY) -> str:
    for each in reversed(by_calendar(text, today)):
        text = text[: each.start] + each.instead + text[each.end :]
    return text


@pytest.mark.parametrize(
    ("text", "calendar"),
    [
        ("admitted today", "admitted on 2026-11-23"),
        ("since yesterday", "since 2026-11-22"),
        ("paid the day before yesterday", "paid on 2026-11-21"),
        ("admitted this week", "admitted between 2026-11-23 and 2026-11-29"),
        ("before this week", "before 2026-11-23"),
        ("due by next week", "due until 2026-12-06"),
        ("paid last month", "paid in 2026-10"),
        ("last quarter", "between 2026-07-01 and 2026-09-30"),
        ("since last year", "since 2025"),
        ("from last month to this month", "from 2026-10 to 2026-11"),
        ("last year or this year", "in 2025 or 2026"),
        ("in March last year", "in March 2025"),
        ("Last year, who came?", "in 2025, who came?"),
        ("in the last six months", "between 2026-05-23 and 2026-11-23"),
        ("in the past 10 days", "between 2026-11-13 and 2026-11-23"),
        ("in the past year", "between 2025-11-23 and 2026-11-23"),
        ("over the next 30 days", "between 2026-11-23 and 2026-12-23"),
        ("two years ago", "in 2024"),
        ("a week ago", "between 2026-11-16 and 2026-11-22"),
        ("5 days ago", "on 2026-11-18"),
        ("more than two years ago", "before 2024-11-23"),
        ("less than 3 weeks ago", "between 2026-11-02 and 2026-11-23"),
    ],
)
def test_a_date_by_today_is_said_by_the_calendar(text: str, calendar: str) -> None:
    assert said(text) == calendar


@pytest.mark.parametrize(
    ("text", "today", "calendar"),
    [
        ("in the last month", dt.date(2026, 3, 31), "between 2026-02-28 and 2026-03-31"),
        ("in the past year", dt.date(2024, 2, 29), "between 2023-02-28 and 2024-02-29"),
        ("last month", dt.date(2026, 1, 31), "in 2025-12"),
        ("last quarter", dt.date(2026, 2, 1), "between 2025-10-01 and 2025-12-31"),
        ("this week", dt.date(2027, 1, 1), "between 2026-12-28 and 2027-01-03"),
    ],
)
def test_ends_of_months_and_years_are_kept(text: str, today: dt.date, calendar: str) -> None:
    assert said(text, today) == calendar


@pytest.mark.parametrize(
    "text",
    [
        "last name", "the last film", "the next six films", "the last six", "this woman", "next of kin",
        "more than last year", "sales compared with last year", "her last year", "Ada's last year",
        "this time last year", "last year's orders", "last month’s salary", "the year before last",
        "in the last week of March", "what was the last year in which", "for the last two years",
        "in the last years", "in the last half year", "in the last N weeks", "a few years ago", "how many weeks ago",
        "the second last year", "a year ago today", "as of today", "9999 years ago", "within 30 days",
        "who works here today", "how many people are employed today", "Is she in today?",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_date_stays(text: str) -> None:
    assert said(text) == text


def test_words_of_a_relation_that_sound_like_a_date_are_found() -> None:
    assert list(relative_dates_in("revenue Last Year")) == ["last year"]
    assert list(relative_dates_in("last name")) == []


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
