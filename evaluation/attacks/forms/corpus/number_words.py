"""Numbers and dates in the words of four languages, and in digits of other scripts."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from pathlib import Path

_FILE = Path(__file__).with_name("number_words.toml")
_ROMAN = (
    (1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"),
    (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
)  # fmt: skip
MAX_ROMAN = 3999


@dataclass(frozen=True, slots=True)
class _Words:
    units: tuple[str, ...] = field(repr=False)
    tens: tuple[str, ...] = field(repr=False)
    days: tuple[str, ...] = field(repr=False)
    months: tuple[str, ...] = field(repr=False)
    hundred: str
    thousand: str
    date: str


@cache
def _tables() -> Mapping[str, _Words]:
    tables = tomllib.loads(_FILE.read_text("utf-8"))
    return {language: _words(table) for language, table in tables.items()}


def _words(table: Mapping[str, str]) -> _Words:
    lists = {key: tuple(word.replace("_", " ") for word in table[key].split()) for key in _LISTS}
    return _Words(**lists, hundred=table["hundred"], thousand=table["thousand"], date=table["date"])


_LISTS = ("units", "tens", "days", "months")
LANGUAGES = ("en", "de", "es", "fr")


def in_words(number: int, language: str) -> str:
    """A number below a million as it is read out; a hostile tester's grammar, not an academy's."""
    words = _tables()[language]
    glue = "" if language == "de" else " "
    parts: list[str] = []
    thousands, rest = divmod(number, 1000)
    if thousands:
        parts += [*([in_words(thousands, language)] if thousands > 1 else []), words.thousand]
    hundreds, rest = divmod(rest, 100)
    if hundreds:
        parts += [*([words.units[hundreds]] if hundreds > 1 else []), words.hundred]
    if rest or not parts:
        parts.append(_below_hundred(rest, words, language))
    return glue.join(parts)


def _below_hundred(number: int, words: _Words, language: str) -> str:
    if number < len(words.units):
        return words.units[number]
    tens, unit = divmod(number, 10)
    if not unit:
        return words.tens[tens - 2]
    if language == "de":
        return f"{words.units[unit].removesuffix('s') if unit == 1 else words.units[unit]}und{words.tens[tens - 2]}"
    joint = " y " if language == "es" else "-"
    return f"{words.tens[tens - 2]}{joint}{words.units[unit]}"


def year_in_words(year: int, language: str) -> str:
    """As people say years: "nineteen sixty", "neunzehnhundertsechzig"."""
    century, rest = divmod(year, 100)
    if language not in ("en", "de") or not 11 <= century <= 19:
        return in_words(year, language)
    if language == "de":
        return f"{in_words(century, 'de')}hundert{in_words(rest, 'de') if rest else ''}"
    return f"{in_words(century, 'en')} {in_words(rest, 'en') if rest else 'hundred'}"


def date_in_words(day: date, language: str) -> str:
    words = _tables()[language]
    year = year_in_words(day.year, language)
    return words.date.format(day=words.days[day.day - 1], month=words.months[day.month - 1], year=year)


def month_in(language: str, number: int) -> str:
    return _tables()[language].months[number - 1]


def roman(number: int) -> str:
    """In capitals; of 1 to 3999."""
    text = ""
    for value, letters in _ROMAN:
        count, number = divmod(number, value)
        text += letters * count
    return text


def _shifted(zero: int) -> Callable[[str], str]:
    table = {ord("0") + digit: zero + digit for digit in range(10)}
    return lambda text: text.translate(table)


def _listed(digits: str) -> Callable[[str], str]:
    table = {ord("0") + digit: sign for digit, sign in enumerate(digits)}
    return lambda text: text.translate(table)


DIGITS: Mapping[str, Callable[[str], str]] = {
    "circled": _listed("⓪①②③④⑤⑥⑦⑧⑨"),
    "negative circled": _listed("⓿❶❷❸❹❺❻❼❽❾"),
    "in brackets": _listed("0⑴⑵⑶⑷⑸⑹⑺⑻⑼"),
    "superscript": _listed("⁰¹²³⁴⁵⁶⁷⁸⁹"),
    "subscript": _shifted(0x2080),
    "full width": _shifted(0xFF10),
    "Arabic-Indic": _shifted(0x0660),
    "Persian": _shifted(0x06F0),
    "Devanagari": _shifted(0x0966),
    "Thai": _shifted(0x0E50),
    "Bengali": _shifted(0x09E6),
    "mathematical bold": _shifted(0x1D7CE),
    "double-struck": _shifted(0x1D7D8),
    "Chinese": _listed("〇一二三四五六七八九"),
    "Chinese, financial": _listed("零壹贰叁肆伍陆柒捌玖"),
    "segments": _shifted(0x1FBF0),
    "keycaps": lambda text: "".join(f"{sign}\ufe0f\u20e3" if sign.isdigit() else sign for sign in text),
}
