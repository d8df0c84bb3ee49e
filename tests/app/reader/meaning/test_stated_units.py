"""Units and periods behind values: taken off where a relation has them, and what such a value may be compared with."""

from __future__ import annotations

import pytest

from app.reader.meaning.question.stated_units import StatedUnit, is_foreign_unit, without_units

LABELS = ("weight kg", "monthly salary eur", "valid months", "unit price")


@pytest.mark.parametrize(
    ("said", "kept", "symbol", "period"),
    [
        ("over Vab1cd kg", "over Vab1cd", "kg", ""),
        ("heavier than Vab1cd kilograms", "more than Vab1cd", "kg", ""),
        ("between Vxy1cd and Vab1cd euros a month", "between Vxy1cd and Vab1cd a month", "eur", "month"),
        ("less than Vab1cd a year", "less than Vab1cd a year", "", "year"),
        ("valid for Vab1cd months", "valid for Vab1cd", "mo", ""),
    ],
)
def test_a_unit_of_the_schema_is_taken_off_its_value(said: str, kept: str, symbol: str, period: str) -> None:
    words, units = without_units(said.split(), LABELS, ())
    assert " ".join(words) == kept
    assert (units["Vab1cd"].symbol, units["Vab1cd"].period) == (symbol, period)


@pytest.mark.parametrize(
    "said",
    [
        "over Vab1cd grams",
        "over Vab1cd dollars",
        "in the last Vab1cd months",
        "orders in Vab1cd per month",
        "Vab1cd beds",
    ],
)
def test_what_no_relation_is_in_stays_behind_its_value(said: str) -> None:
    words, units = without_units(said.split(), LABELS, ())
    assert (" ".join(words), units) == (said, {})


def test_a_value_with_a_unit_is_compared_with_its_own_kind_alone() -> None:
    kilograms = StatedUnit("kg", "mass")
    assert kilograms.fits("weight kg", "number")
    assert not any(kilograms.fits(label, "number") for label in ("dose in mg", "unit price", "salary eur"))
    assert not kilograms.fits("weighed on", "date")
    euros = StatedUnit("eur", "money")
    assert all(euros.fits(label, "number") for label in ("salary eur", "unit price"))
    assert not any(euros.fits(label, "number") for label in ("salary usd", "weight kg"))


def test_a_value_for_a_period_is_compared_with_none_for_another_and_no_date() -> None:
    yearly = StatedUnit(period="year")
    assert all(yearly.fits(label, "number") for label in ("salary eur", "annual budget eur"))
    assert not any(yearly.fits(label, "number") for label in ("monthly salary eur", "weight kg"))
    assert not yearly.fits("hired on", "date")


def test_a_unit_that_no_relation_has_is_foreign_and_a_time_may_say_when() -> None:
    assert [is_foreign_unit(word) for word in ("tonnes", "dollars", "years", "beds")] == [True, True, False, False]
