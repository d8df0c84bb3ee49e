"""Numerals of any script: circled, raised, Arabic-Indic and Chinese figures, Roman numerals, as ASCII digits."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

_MULTIPLIERS: Final = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1_000, "仟": 1_000}
_MYRIADS: Final = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8, "兆": 10**12}
_POWERS: Final = frozenset((*_MULTIPLIERS, *_MYRIADS, *"廿卅"))
_CHINESE_DIGITS: Final = (
    "〇零一二两兩三四五六七八九壹貳贰叁參肆伍陸陆柒捌玖弌弍弎" + "".join((*_MULTIPLIERS, *_MYRIADS)) + "廿卅"
)
_CHINESE: Final = re.compile(rf"[{_CHINESE_DIGITS}]+")
MAX_CHINESE: Final = 40
_ROMAN: Final = re.compile(r"(?=[MDCLXVI])M{0,4}(?:CM|CD|D?C{0,4})(?:XC|XL|L?X{0,4})(?:IX|IV|V?I{0,4})")
_ROMAN_VALUES: Final = {"M": 1_000, "D": 500, "C": 100, "L": 50, "X": 10, "V": 5, "I": 1}
_ROMAN_STEPS: Final = (
    ("M", 1000), ("CM", 900), ("D", 500), ("CD", 400), ("C", 100), ("XC", 90), ("L", 50), ("XL", 40), ("X", 10),
    ("IX", 9), ("V", 5), ("IV", 4), ("I", 1),
)  # fmt: skip
MAX_ROMAN: Final = 5000
"""The first number that Roman numerals don't reach."""

_FRACTION: Final = re.compile(r"(\d?)([¼-¾⅐-⅞↉])")
_NUMERALS_OF_ROME: Final = re.compile("[\u2160-\u2188]+")


_LAST_FIGURE: Final = 0x1FC00


def _all_figures() -> Iterator[str]:
    """Every figure outside of ASCII that a number says, and the letters that China and Japan count with."""
    yield from _CHINESE_DIGITS
    for character in map(chr, range(0x80, _LAST_FIGURE)):
        if unicodedata.category(character)[0] == "N" and unicodedata.numeric(character, None) is not None:
            yield character


_OTHER: Final = frozenset(_all_figures())
OTHER_FIGURES: Final = "".join(sorted(_OTHER))
"""For a class of a pattern: every figure that is no ASCII digit."""


def has_other_figures(text: str) -> bool:
    """True where a figure that is no ASCII digit stands in `text`."""
    return not text.isascii() and not _OTHER.isdisjoint(text)


def undo_digits(text: str) -> str:
    """`text` with ASCII digits for every figure of another script or shape: ①⑨⑥⓪, ¹⁹⁶⁰, 一九六〇, ١٩٦٠, Ⅷ, 2½ as 2.5.

    A run of Chinese figures is read as a number, by places (一九六〇) or by powers (千九百六十). Lengths
    change; a text without such figures comes back as it is.
    """
    if not has_other_figures(text):
        return text
    text = _FRACTION.sub(lambda match: _plain_fraction(match[1], match[2]), text)
    text = _NUMERALS_OF_ROME.sub(lambda run: _code_points_of_rome(run.group()), text)
    text = _CHINESE.sub(lambda run: chinese_figures(run.group()), text)
    return text.translate(_FIGURES)


def roman_value(word: str) -> int:
    """The number that a Roman numeral says, in either case; 0 where it is none. IIII is read, IC is not."""
    upper = word.upper()
    if not _ROMAN.fullmatch(upper):
        return 0
    values = [_ROMAN_VALUES[letter] for letter in upper]
    return sum(-one if one < after else one for one, after in zip(values, [*values[1:], 0], strict=True))


def roman_of(number: int) -> str:
    """The Roman numeral for 1 to 4999, in capitals."""
    numeral = ""
    for letters, value in _ROMAN_STEPS:
        count, number = divmod(number, value)
        numeral += letters * count
    return numeral


def chinese_figures(run: str) -> str:
    """A run of Chinese figures in ASCII: by powers where it names them, else, and where it is too long, by places."""
    if len(run) > MAX_CHINESE or not any(letter in _POWERS for letter in run):
        return "".join(str(_figure(letter)) for letter in run)
    total = section = figure = 0
    for letter in run:
        if letter in _MULTIPLIERS:
            section, figure = section + (figure or 1) * _MULTIPLIERS[letter], 0
        elif letter in _MYRIADS:
            total, section, figure = total + (section + figure or 1) * _MYRIADS[letter], 0, 0
        elif letter in "廿卅":
            section, figure = section + _figure(letter), 0
        else:
            figure = figure * 10 + _figure(letter)
    return str(total + section + figure)


def _figure(letter: str) -> int:
    return 2 if letter in "两兩" else int(unicodedata.numeric(letter, 0))


def _plain_fraction(before: str, fraction: str) -> str:
    """Behind a digit what comes after the point; thirds and the like have no end, and stand with a slash."""
    digits = f"{unicodedata.numeric(fraction):g}"
    if len(digits) <= len("0.125"):
        return before + digits.removeprefix("0") if before else digits
    slashed = unicodedata.normalize("NFKC", fraction).replace("\u2044", "/")
    return f"{before} {slashed}" if before else slashed


def _code_points_of_rome(run: str) -> str:
    letters = unicodedata.normalize("NFKC", run)
    value = roman_value(letters)
    return str(value) if value else "".join(_plain_figure(letter) for letter in run)


def _plain_figure(character: str) -> str:
    """The figure in ASCII; any other character, and a fraction, as it is."""
    number = unicodedata.numeric(character, None)
    if character.isascii() or number is None or not number.is_integer():
        return character
    return str(int(number))


class _Figures(dict[int, str]):
    """One plain figure per code point; filled as text is met."""

    def __missing__(self, code: int) -> str:
        self[code] = _plain_figure(chr(code))
        return self[code]


_FIGURES: Final = _Figures()
