"""Numbers, dates and other literals as people type them, and in a running text."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_store.terms import ValueKind
from kg_store.text.literals import (
    PartialDate,
    canonical,
    date_in_name,
    find_literals,
    named_date,
    parse_value,
    plain_number,
    read_literal,
)

DATES = {
    "1990": "1990| 1990 ",
    "2020-03-12": (
        "2020-03-12|2020/3/12|2020.03.12|12 March 2020|12 march 2020|12th of March 2020|12-Mar-2020|March 12, 2020|"
        "March 12th 2020|Mar. 12, 2020"
    ),
    "2020-03": "2020-03|March 2020|March of 2020",
    "2020-03-01": "1st March, 2020",
    "2020-09": "Sept 2020",
    "2020-12-13": "13/12/2020|12/13/2020|13.12.2020",
    "2020-05-05": "5/5/2020",
    "2020-02-29": "29 February 2020",
    "2020-03-12T10:30:00": "2020-03-12T10:30:00|2020-03-12 10:30",
    "2020-03-12T10:30:05.25Z": "2020-03-12T10:30:05.250Z",
    "1990s": "1990s|1990's",
}
DATES_IN_DIGITS = "2020-03-12T10:30:00-05:30|2020-03-12T10:30:00+05:30|-0044-03-15"
NUMBERS = {
    "-5": "-5|-$5",
    "-7.5": "−7.5",
    "3": "+3|3rd",
    "0.5": "0.50|.5",
    "1250": "1,250",
    "1250.5": "1,250.50|1.250,50|$1,250.50",
    "1250000": "1.250.000|1\u202f250\u202f000|1'250'000",
    "12.5": "12,5",
    "1.25": "1.250",
    "1000": "1e3",
    "0.0025": "2.5E-3",
    "12": "12%|12 %",
    "5": "5 mg|5mg",
    "37.5": "37.5 °C",
    "20": "20 €",
    "2500000": "2.5 million",
    "34": "٣٤",
}
NUMBERS_IN_DIGITS = "0|7|42|250|2500|999999"
NEITHER = (
    "march|3/12/2020|03.12.2020|2020-02-30|29 February 2021|2020-13|13/13/2020|007|1 250|12 apples|12:30|MRN-00123|"
    "1e999999|NaN|12 March"
)


READ = [
    *((ValueKind.DATE, date, text) for date, texts in DATES.items() for text in texts.split("|")),
    *((ValueKind.DATE, date, date) for date in DATES_IN_DIGITS.split("|")),
    *((ValueKind.NUMBER, number, text) for number, texts in NUMBERS.items() for text in texts.split("|")),
    *((ValueKind.NUMBER, number, number) for number in NUMBERS_IN_DIGITS.split("|")),
]


@pytest.mark.parametrize(("kind", "lexical", "text"), READ)
def test_dates_and_numbers_are_read_as_written(kind: ValueKind, lexical: str, text: str) -> None:
    assert read_literal(text) == (kind, lexical)


@pytest.mark.parametrize("text", ["", *NEITHER.split("|")])
def test_what_is_not_clearly_a_number_or_a_date_is_neither(text: str) -> None:
    assert read_literal(text) is None


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
    ("left", "right", "sign"),
    [
        ("1990", "1990-05-01", 0),
        ("1990-05-01", "1990", 0),
        ("1989", "1990-05-01", -1),
        ("1990-05", "1990-05-31", 0),
        ("1990s", "1995-01-01", 0),
        ("1990s", "1989", 1),
        ("2020-03-12", "2020-03-12T23:59:59", 0),
        ("2020-03-12T10:00:00", "2020-03-12T10:00:00.5", -1),
        ("2020-03-12T12:00:00+02:00", "2020-03-12T10:00:00Z", 0),
        ("2020-03-12T23:30:00-02:00", "2020-03-13T00:30:00Z", 1),
        ("-0044", "0010", -1),
    ],
)
def test_dates_compare_at_the_precision_they_share(left: str, right: str, sign: int) -> None:
    first, second = parse_value(left, ValueKind.DATE), parse_value(right, ValueKind.DATE)
    assert isinstance(first, PartialDate)
    assert isinstance(second, PartialDate)
    assert first.compare(second) == sign
    assert second.compare(first) == -sign


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


FOUND = {
    "Patients older than 45 in 1990.": ["45", "1990"],
    "born 12 March 2020, or 3/12/2020?": ["12 March 2020", "3/12/2020"],
    "in March 2020 and in may 2021": ["March 2020", "may 2021"],
    "in the 1990s it cost $1,250.50 or 12% of it": ["1990s", "$1,250.50", "12%"],
    "5mg, 5 mg and 2.5 million": ["5mg", "5", "2.5 million"],
    "MRN-00123 in room B12, SSN 123-45-6789": ["MRN-00123", "B12", "123-45-6789"],
    "from 1990-1995 or 10–20": ["1990", "1995", "10", "20"],
    "at 10:30 pm": ["10:30 pm"],
    "2020-03-12T10:30:00Z": ["2020-03-12T10:30:00Z"],
    "-5 and a-5": ["-5", "5"],
    "a 5-year-old": ["5"],
    "2020年3月": ["2020", "3"],
    "on May 5, but may 5 come": ["May 5", "5"],
    "the 3rd of 7": ["3rd", "7"],
    "1,2,3": ["1", "2", "3"],
    "a1 _12_ x_5": ["a1", "12", "5"],
    "192.168.0.1": ["192.168.0.1"],
    "nothing here": [],
    "": [],
}


@pytest.mark.parametrize("text", FOUND)
def test_literals_of_a_running_text_are_found(text: str) -> None:
    assert [text[span.start : span.end] for span in find_literals(text)] == FOUND[text]


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
