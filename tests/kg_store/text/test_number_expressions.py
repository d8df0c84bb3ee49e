"""Numbers, amounts and dates in words and in figures of any script."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from num2words import num2words

from kg_store.terms import ValueKind
from kg_store.text.number_expressions import MAX_EVERYDAY, find_number_expressions, in_figures
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


DATES = {
    "the eighth of september nineteen sixty": ("eighth of september nineteen sixty", "1960-09-08"),
    "born on September the 8th, nineteen sixty": ("September the 8th, nineteen sixty", "1960-09-08"),
    "september eighth nineteen sixty-four": ("september eighth nineteen sixty-four", "1964-09-08"),
    "nineteen eighty four": ("nineteen eighty four", "1984"),
    "in nineteen oh five": ("nineteen oh five", "1905"),
    "ninteen sixty": ("ninteen sixty", "1960"),
    "one nine six zero": ("one nine six zero", "1960"),
    "one, nine, six, zero": ("one, nine, six, zero", "1960"),
    "twenty twenty": ("twenty twenty", "2020"),
    "two thousand and one": ("two thousand and one", "2001"),
    "the sixties": ("sixties", "1960s"),
    "in the nineteen sixties": ("nineteen sixties", "1960s"),
    "in May nineteen sixty": ("May nineteen sixty", "1960-05"),
    "am achten september neunzehnhundertsechzig": ("achten september neunzehnhundertsechzig", "1960-09-08"),
    "8. September 1960": ("8. September 1960", "1960-09-08"),
    "le 8 août 1960": ("8 août 1960", "1960-08-08"),
    "le premier mai mille neuf cent soixante": ("premier mai mille neuf cent soixante", "1960-05-01"),
    "el ocho de septiembre de mil novecientos sesenta": (
        "ocho de septiembre de mil novecientos sesenta",
        "1960-09-08",
    ),
    "l'otto settembre millenovecentosessanta": ("otto settembre millenovecentosessanta", "1960-09-08"),
    "oito de setembro de mil novecentos e sessenta": ("oito de setembro de mil novecentos e sessenta", "1960-09-08"),
    "一九六〇年九月八日": ("一九六〇年九月八日", "1960-09-08"),
    "二〇二〇年": ("二〇二〇年", "2020"),
    "in MCMLX": ("MCMLX", "1960"),
    "mcmlx and": ("mcmlx", "1960"),
    "NINETEEN SIXTY": ("NINETEEN SIXTY", "1960"),
    "in ①⑨⑥⓪": ("①⑨⑥⓪", "1960"),
    "in ¹⁹⁶⁰": ("¹⁹⁶⁰", "1960"),
    "in 19⑥0": ("19⑥0", "1960"),
    "in ١٩٦٠": ("١٩٦٠", "1960"),
    "in १९६०": ("१९६०", "1960"),
    "in １９６０": ("１９６０", "1960"),
    "in ⅯⅭⅯⅬⅩ": ("ⅯⅭⅯⅬⅩ", "1960"),
}
NUMBERS = {
    "two million and a half": ("two million and a half", "2500000"),
    "two and a half million dollars": ("two and a half million dollars", "2500000"),
    "half a million": ("half a million", "500000"),
    "a quarter of a million": ("quarter of a million", "250000"),
    "six million people": ("six million", "6000000"),
    "6 million people": ("6 million", "6000000"),
    "the twenty-first": ("twenty-first", "21"),
    "three quarters of them": ("three quarters", "0.75"),
    "one and a half": ("one and a half", "1.5"),
    "a hundred and five": ("a hundred and five", "105"),
    "two dozen actors": ("two dozen", "24"),
    "minus five point two": ("minus five point two", "-5.2"),
    "seventy five percent": ("seventy five percent", "75"),
    "forty years old": ("forty years", "40"),
    "three hundred and sixty-five days": ("three hundred and sixty-five days", "365"),
    "two thousand, three hundred and six": ("two thousand, three hundred and six", "2306"),
    "Henry VIII": ("VIII", "8"),
    "louis xiv": ("xiv", "14"),
    "einundzwanzig Leute": ("einundzwanzig", "21"),
    "fuenfundzwanzig": ("fuenfundzwanzig", "25"),
    "quatre-vingt-dix-neuf personnes": ("quatre-vingt-dix-neuf", "99"),
    "vingt et unième": ("vingt et unième", "21"),
    "veintitres": ("veintitres", "23"),
    "ventunesimo": ("ventunesimo", "21"),
    "vinte e três": ("vinte e três", "23"),
    "vierentwintig": ("vierentwintig", "24"),
    "二百三十人": ("二百三十人", "二百三十人"),
    "三万五千": ("三万五千", "35000"),
    "2½": ("2½", "2.5"),
}
UNCLEAR = {
    "the 3rd of may": "3rd of may",
    "in march": "march",
    "on Sunday": "Sunday",
    "Friday the thirteenth": "Friday the thirteenth",
    "in his thirties": "thirties",
    "hundreds of people": "hundreds",
    "昭和三十五年": "昭和三十五年",
    "anderthalb Jahre": "anderthalb Jahre",
    "los años sesenta": "sesenta",
    "born in nineteensixty": "nineteensixty",
    "at half past three": "half past three",
}
NOTHING = [
    "someone who may march on",
    "once upon a time due to the elf",
    "mark i and i",
    "is anyone often alone in a canteen of a fourteener",
    "who set out to see a mars rover",
    "seize the cent, prima donna",
    "did I mix it, or did you fill the mill",
    "who is the president of san marino",
    "Wer hat eine Tochter?",
    "Qui a une fille ?",
]
EVERYDAY = {
    "who directed the first two films": ["first", "two"],
    "tell me about the second one": ["second", "one"],
    "no one knows": ["one"],
    "between two and three": ["two", "three"],
    "wait one second": ["one", "second"],
    "half of them": ["half"],
    "one day": ["one"],
    "top three": ["three"],
    "a DC motor": ["DC"],
    "王一": ["一"],
}
LANGUAGES = {
    "en": "the value of it is {} there",
    "de": "der Wert ist {} und der Rest",
    "fr": "la valeur est {} et le reste",
    "es": "el valor es {} y los otros",
    "it": "il valore è {} nel resto",
    "pt": "o valor é {} os outros",
    "nl": "de waarde is {} van de rest",
}


def taken(text: str) -> list[tuple[str, str]]:
    return [(text[each.start : each.end], each.lexical) for each in find_number_expressions(text)]


@pytest.mark.parametrize("text", DATES)
def test_dates_and_years_are_found_whole_and_understood(text: str) -> None:
    assert taken(text) == [DATES[text]]
    assert find_number_expressions(text)[0].kind is ValueKind.DATE
    assert not find_number_expressions(text)[0].is_everyday


@pytest.mark.parametrize("text", NUMBERS)
def test_numbers_and_amounts_are_found_whole_and_understood(text: str) -> None:
    assert taken(text) == [NUMBERS[text]]
    assert not find_number_expressions(text)[0].is_everyday


@pytest.mark.parametrize("text", UNCLEAR)
def test_what_has_no_clear_meaning_is_found_all_the_same(text: str) -> None:
    assert [text[each.start : each.end] for each in find_number_expressions(text)] == [UNCLEAR[text]]
    assert not find_number_expressions(text)[0].is_everyday


@pytest.mark.parametrize("text", NOTHING)
def test_words_that_are_numbers_elsewhere_stay(text: str) -> None:
    assert taken(text) == []


@pytest.mark.parametrize("text", EVERYDAY)
def test_small_numbers_of_everyday_questions_are_told_apart(text: str) -> None:
    found = find_number_expressions(text)
    assert [text[each.start : each.end] for each in found] == EVERYDAY[text]
    assert all(each.is_everyday for each in found)


@settings(max_examples=30)
@given(st.sampled_from(sorted(LANGUAGES)), st.one_of(st.integers(0, 3000), st.integers(0, 10**9 - 1)))
def test_a_number_in_the_words_of_each_language_is_found_whole_and_means_it(language: str, number: int) -> None:
    words = num2words(number, lang=language).replace("einstausend", "eintausend")
    text = LANGUAGES[language].format(words)
    start = text.index(words)
    if number == 1 and language not in ("en", "de"):
        return  # An article.
    found = [each for each in find_number_expressions(text) if each.end > start and each.start < start + len(words)]
    # Two of its Italian spellings are wrong (centodicotto), and millions stand apart there.
    if language == "it":
        assert {*range(start, start + len(words))} - {at for each in found for at in range(each.start, each.end)} <= {
            at for at in range(start, start + len(words)) if text[at] in " e"
        }
        return
    assert [(each.start, each.end) for each in found] == [(start, start + len(words))]
    assert found[0].lexical == str(number)
    assert found[0].is_everyday == (number <= MAX_EVERYDAY)


@settings(max_examples=40)
@given(st.integers(1100, 2099))
def test_a_year_as_it_is_said_is_the_year(year: int) -> None:
    words = num2words(year, to="year")
    assert taken(f"born in {words} there") == [(words, str(year))]


@given(st.text(max_size=80))
def test_spans_stand_in_order_inside_the_text_and_none_over_another(text: str) -> None:
    found = find_number_expressions(text)
    stops = [stop for each in found for stop in (each.start, each.end)]
    assert stops == sorted(stops)
    assert all(0 <= each.start < each.end <= len(text) for each in found)


@given(st.text("〇一二三四五六七八九十百千万亿年月日 ①⑨½Ⅷ٣12345678,.", max_size=60))
def test_no_figure_of_another_script_is_left_outside(text: str) -> None:
    covered = {at for each in find_number_expressions(text) for at in range(each.start, each.end)}
    assert all(at in covered or letter in "年月日 12345678,.0٣" for at, letter in enumerate(text))


def test_a_text_in_figures_has_the_values_that_are_written_out() -> None:
    assert in_figures("born the eighth of may nineteen sixty, with ⑨ of them") == "born the 1960-05-08, with 9 of them"
    assert in_figures("the first two films") == "the first two films"


def test_no_expression_shows_what_it_says() -> None:
    assert "1960" not in repr(find_number_expressions("nineteen sixty"))
