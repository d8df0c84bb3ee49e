"""Figures of every script as ASCII digits, and what Roman and Chinese numerals say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_store.text.number_words import MAX_CHINESE, MAX_ROMAN, chinese_figures, roman_of, roman_value, undo_digits

FIGURES = {
    "①⑨⑥⓪": "1960",
    "❶⓽⒍⑽": "19610",
    "¹⁹⁶⁰ and ₁₂": "1960 and 12",
    "１９６０": "1960",
    "𝟏𝟗𝟔𝟎 𝟙𝟡": "1960 19",
    "١٩٦٠ ۱۹۶۰": "1960 1960",
    "१९६० ১৯৬০ ๑๙๖๐": "1960 1960 1960",
    "一九六〇年九月八日": "1960年9月8日",
    "千九百六十": "1960",
    "两万五千": "25000",
    "三億二千万": "320000000",
    "廿五": "25",
    "ⅯⅭⅯⅬⅩ Ⅷ": "1960 8",
    "½ 2½ 3¾ 5⅛": "0.5 2.5 3.75 5.125",
    "⅓ 1⅔": "1/3 1 2/3",
    "19⑥0": "1960",
    "no figure: Zoë, 山田": "no figure: Zoë, 山田",
}


@pytest.mark.parametrize("text", FIGURES)
def test_every_figure_becomes_ascii_digits(text: str) -> None:
    assert undo_digits(text) == FIGURES[text]


def test_ascii_text_is_the_same_object() -> None:
    text = "born in 1960"
    assert undo_digits(text) is text


@given(st.text(max_size=60))
def test_no_decimal_of_another_script_is_left(text: str) -> None:
    assert all(letter.isascii() for letter in undo_digits(text) if letter.isdecimal())


@given(st.integers(1, MAX_ROMAN - 1))
def test_a_roman_numeral_says_its_number(number: int) -> None:
    assert roman_value(roman_of(number)) == roman_value(roman_of(number).lower()) == number


@pytest.mark.parametrize("word", ["IC", "IIX", "VX", "LIVID", "MILD", "", "ABC"])
def test_other_words_are_no_roman_numerals(word: str) -> None:
    assert roman_value(word) == 0


def test_a_long_run_of_chinese_figures_is_read_by_places() -> None:
    assert chinese_figures("一" * (MAX_CHINESE + 1)) == "1" * (MAX_CHINESE + 1)
    assert chinese_figures("一" * 9_999) == "1" * 9_999
