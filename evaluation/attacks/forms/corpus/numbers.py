"""Numbers and dates in the words of four languages, and in digits of other scripts (`number_words.toml`)."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from datetime import date
from functools import cache
from pathlib import Path

from evaluation.attacks.forms.corpus.writing import Write, letters

LANGUAGES = ("en", "de", "es", "fr")
MAX_ROMAN = 3999
_ROMAN = dict(
    zip((1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1), "M CM D CD C XC L XL X IX V IV I".split(), strict=True)
)
_TOLD = tomllib.loads(Path(__file__).with_name("number_words.toml").read_text("utf-8"))


@cache
def _words(language: str, kind: str) -> Sequence[str]:
    return [word.replace("_", " ") for word in _TOLD[language][kind].split()]


def in_words(number: int, language: str) -> str:
    """A number below a million as it is read out; a hostile tester's grammar, not an academy's."""
    parts: list[str] = []
    thousands, rest = divmod(number, 1000)
    if thousands:
        parts += [*([in_words(thousands, language)] if thousands > 1 else []), _TOLD[language]["thousand"]]
    hundreds, rest = divmod(rest, 100)
    if hundreds:
        parts += [*([_words(language, "units")[hundreds]] if hundreds > 1 else []), _TOLD[language]["hundred"]]
    if rest or not parts:
        parts.append(_below_hundred(rest, language))
    return ("" if language == "de" else " ").join(parts)


def _below_hundred(number: int, language: str) -> str:
    units, (tens, unit) = _words(language, "units"), divmod(number, 10)
    if number < len(units):
        return units[number]
    ten = _words(language, "tens")[tens - 2]
    if not unit:
        return ten
    if language == "de":
        return f"{units[unit].removesuffix('s') if unit == 1 else units[unit]}und{ten}"
    return f"{ten}{' y ' if language == 'es' else '-'}{units[unit]}"


def year_in_words(year: int, language: str) -> str:
    """As people say years: "nineteen sixty", "neunzehnhundertsechzig"."""
    century, rest = divmod(year, 100)
    if language not in ("en", "de") or not 11 <= century <= 19:
        return in_words(year, language)
    if language == "de":
        return f"{in_words(century, 'de')}hundert{in_words(rest, 'de') if rest else ''}"
    return f"{in_words(century, 'en')} {in_words(rest, 'en') if rest else 'hundred'}"


def date_in_words(day: date, language: str) -> str:
    spoken, written = _words(language, "days")[day.day - 1], month_in(language, day.month)
    text: str = _TOLD[language]["date"]
    return text.format(day=spoken, month=written, year=year_in_words(day.year, language))


def month_in(language: str, number: int) -> str:
    return _words(language, "months")[number - 1]


def roman(number: int) -> str:
    """In capitals; of 1 to 3999."""
    text = ""
    for value, sign in _ROMAN.items():
        count, number = divmod(number, value)
        text += sign * count
    return text


DIGITS: Mapping[str, Write] = {
    **{kind: letters("0123456789", ten) for kind, ten in _TOLD["digits"].items()},
    "keycaps": lambda text: "".join(f"{sign}\ufe0f\u20e3" if sign.isdigit() else sign for sign in text),
}
