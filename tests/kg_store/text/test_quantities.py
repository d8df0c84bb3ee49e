"""Amounts are said in the unit that a schema has for them, and in none that is not of their kind."""

from __future__ import annotations

import pytest

from kg_store.text.quantities import Unit, in_schema_units, unit_of_label, units_called

LABELS = ("weight kg", "salary eur", "duration (min)", "distance km", "storage area sqm", "valid months", "city")


def units(*labels: str) -> list[Unit]:
    return [unit for label in labels if (unit := unit_of_label(label)) is not None]


def said(text: str, *labels: str) -> str:
    for each in reversed(in_schema_units(text, units(*(labels or LABELS)))):
        text = text[: each.start] + each.instead + text[each.end :]
    return text


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("machines over 25 kilos", "machines over 25 kg"),
        ("a 25-kilo machine", "a 25 kg machine"),
        ("heavier than a ton", "heavier than 1000 kg"),
        ("over 500g", "over 0.5 kg"),
        ("1,5 tonnes", "1500 kg"),
        ("between 1 and 2 tonnes", "between 1000 and 2000 kg"),
        ("10-20 kilos", "10-20 kg"),
        ("at least 2 kilos and at most 5 kilos", "at least 2 kg and at most 5 kg"),
        ("1.5 hours", "90 min"),
        ("1 hour 30 minutes", "90 min"),
        ("valid for 1 year", "valid for 12 months"),
        ("about 300 miles", "about 482.8032 km"),
        ("500 pounds", "226.796185 kg"),
        ("over 5,000 € please", "over 5000 eur please"),
        ("€5k", "5000 eur"),
        ("3k a month", "3000 a month"),
    ],
)
def test_an_amount_is_said_in_the_unit_of_the_schema(typed: str, meant: str) -> None:
    assert said(typed) == meant


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("$5000", "5000 dollars"), ("2l", "2 litres"), ("fifty acres", "50 acres"), ("10 m", "0.01 km")],
)
def test_an_amount_of_another_kind_keeps_its_unit_in_sight(typed: str, meant: str) -> None:
    assert said(typed, "salary eur", "weight km") == meant


@pytest.mark.parametrize(
    "text",
    [
        "in the last 12 months",
        "animals 2 years old",
        "30000 a year",
        "5 kg or 2 tonnes",
        "1990s movies",
        "10 patients per day",
        "on 3 may 2024",
        "Is it 25?",
    ],
)
def test_what_is_no_amount_or_no_clear_one_stays_as_it_is(text: str) -> None:
    assert said(text) == text


def test_a_schema_without_units_leaves_amounts_as_they_are() -> None:
    assert said("over 500g, or $5", "price") == "over 500g, or $5"


def test_of_two_units_of_a_kind_the_one_that_was_typed_is_meant_and_none_else() -> None:
    both = ("weight kg", "dose in mg")
    assert said("over 25 kilos", *both) == "over 25 kg"
    assert said("over 25 grams", *both) == "over 25 grams"


@pytest.mark.parametrize(
    ("label", "symbol"),
    [("dose in mg", "mg"), ("^has stay|stay days", "d"), ("max load (kg)", "kg"), ("storage area sqm", "sqm")]
    + [(label, "") for label in ("year built", "birth year", "kg", "price", "weight pounds")],
)
def test_a_label_ends_with_the_unit_of_its_values(label: str, symbol: str) -> None:
    unit = unit_of_label(label)
    assert (unit.symbol if unit else "") == symbol


def test_pounds_are_of_two_kinds_and_no_euros_are_dollars() -> None:
    assert {unit.kind for unit in units_called("Pounds")} == {"mass", "money"}
    (euro,), (dollar,) = units_called("euro"), units_called("$")
    assert not euro.converts_to(dollar)
