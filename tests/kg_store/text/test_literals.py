"""Numbers, dates and other literals as people type them, and in a running text."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_store.terms import ValueKind
from kg_store.text.dates import PartialDate
from kg_store.text.literals import canonical, find_literals, parse_value, plain_number, read_number


def test_a_year_is_a_number_too_when_the_graph_says_so() -> None:
    assert parse_value("1990", ValueKind.NUMBER) == Decimal(1990)
    assert parse_value("1990", ValueKind.DATE) == PartialDate(1990)


@pytest.mark.parametrize(("text", "truth"), [("true", True), ("1", True), ("False", False), ("0", False)])
def test_truth_values_are_read(text: str, truth: bool) -> None:
    assert parse_value(text, ValueKind.TRUTH) is truth
    assert canonical(text, ValueKind.TRUTH) == str(truth).lower()


@pytest.mark.parametrize("kind", [ValueKind.NUMBER, ValueKind.DATE, ValueKind.TRUTH])
def test_malformed_value_raises_without_its_text(kind: ValueKind) -> None:
    with pytest.raises(ValueError, match=r"^(?!.*Anna).*$"):
        parse_value("Anna", kind)


@pytest.mark.parametrize(
    "parts", [(2020, 13), (2020, 0), (2020, 2, 30), (1900, 2, 29), (2020, 1, 1, Decimal(90_000)), (2020, 1, 0)]
)
def test_impossible_dates_are_refused(parts: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="no such"):
        PartialDate(*parts)


def test_no_value_shows_in_a_repr() -> None:
    assert "1990" not in repr(PartialDate(1990, 5, 1))
    assert "1990" not in repr(find_literals("in 1990"))


WHOLE_DATES = st.builds(
    lambda day, second, offset: PartialDate(day.year, day.month, day.day, second, offset),
    st.dates(),
    st.none() | st.integers(0, 86_399).map(Decimal),
    st.none(),
)


@given(WHOLE_DATES)
def test_a_dates_spelling_reads_back(date: PartialDate) -> None:
    assert parse_value(date.lexical, ValueKind.DATE) == date


@given(WHOLE_DATES, WHOLE_DATES)
def test_instants_order_days_as_comparing_does(first: PartialDate, second: PartialDate) -> None:
    if first.compare(second):
        assert (first.instant > second.instant) == (first.compare(second) > 0)


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**15), max_value=10**15))
def test_a_numbers_plain_spelling_reads_back(number: Decimal) -> None:
    assert parse_value(plain_number(number), ValueKind.NUMBER) == number


@given(st.integers(1, 410).flatmap(lambda n: st.text("0123456789", min_size=n, max_size=n)))
def test_plain_digits_are_read_as_digits_with_a_point_behind_them(digits: str) -> None:
    def read(text: str) -> Decimal | None:
        try:
            return read_number(text)
        except ValueError:
            return None

    assert read(digits) == read(f"{digits}.0")


def test_found_literals_carry_their_meaning() -> None:
    spans = find_literals("since 12 March 2020 at least 1,250 in room 007")
    assert [(span.kind, span.lexical) for span in spans] == [
        (ValueKind.DATE, "2020-03-12"),
        (ValueKind.NUMBER, "1250"),
        (ValueKind.TEXT, "007"),
    ]


PIECES = st.sampled_from([*"0123456789-./:, '’_aBTZx年€%+eE\u00a0٣²(\n", "March", "May ", "1990", "Jan. "])


@given(st.lists(PIECES, max_size=30).map("".join))
def test_every_digit_is_inside_exactly_one_literal(text: str) -> None:
    covered = [0] * len(text)
    for span in find_literals(text):
        for position in range(span.start, span.end):
            covered[position] += 1
    assert max(covered, default=0) <= 1
    assert all(covered[position] for position, character in enumerate(text) if character.isdecimal())
