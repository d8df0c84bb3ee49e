"""Reads numbers and dates by the notation of a place: 41.000 or 41,000; 5/10/2022 as October or May; 24/08/17."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from kg_store.terms import ValueKind
from kg_store.text.dates import MONTH, days_in
from kg_store.text.literals import plain_digits
from kg_store.text.number_expressions import find_number_expressions
from kg_store.text.quantities import Rewording

DecimalMark = Literal[".", ","]
FirstPart = Literal["day", "month"]

_SPACES: Final = " \u00a0\u202f\u2009"
_FEW: Final = 3
"""Digits of a group of thousands."""
_CORE: Final = re.compile(rf"\d(?:[\d.,'’{_SPACES}]*\d)?")
_GROUPED: Final = {
    ",": re.compile(rf"\d{{1,3}}(?:[.'’{_SPACES}]\d{{3}})+(?:,\d+)?|\d+(?:,\d+)?"),
    ".": re.compile(rf"\d{{1,3}}(?:[,'’{_SPACES}]\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?"),
}
_BEFORE_DECIMALS: Final = re.compile(r"([.,])(\d+)$")
_MONEY_MARK: Final = re.compile(r"[€£]|\beur\b|\bchf\b", re.IGNORECASE)
CENTURY_FROM: Final = 40
"""Years of two digits from this one on belong to the 20th century, lower ones to the 21st."""


@dataclass(frozen=True, slots=True)
class Notation:
    """The notation in which the owner of some files writes. Each part is None where the files do not show it.

    `decimal`: the mark before decimals. `first`: the part with which dates like 5/10/2022 begin.
    """

    decimal: DecimalMark | None = None
    first: FirstPart | None = None


UNKNOWN: Final = Notation()


def plain_number_in(cell: str, decimal: DecimalMark) -> str:
    """Returns the cell with its number in plain digits ("41.000,50 €" -> "41000.50 €"); other cells as they are."""
    core = _CORE.search(cell)
    if core is None or _GROUPED[decimal].fullmatch(core[0]) is None:
        return cell
    digits = re.sub(rf"[{'.' if decimal == ',' else ','}'’{_SPACES}]", "", core[0]).replace(",", ".")
    return cell[: core.start()] + digits + cell[core.end() :]


def decimal_mark(cells: Iterable[str], *, is_money: bool) -> DecimalMark | None:
    """Returns the mark before decimals in a column of numbers; None if no cell shows it.

    A mark before three digits may part thousands. It does so for money, and if other cells hold up to three digits
    without a mark. `is_money`: the column's name says that it holds money.
    """
    marks: set[str] = set()
    grouped: set[str] = set()
    short = long = 0
    for cell in cells:
        core = _CORE.search(plain_digits(cell))
        if core is None:
            continue
        is_money = is_money or _MONEY_MARK.search(cell) is not None
        digits = re.sub(rf"['’{_SPACES}]", "", core[0])
        found = _BEFORE_DECIMALS.search(digits)
        if found is None:
            short, long = short + (len(digits) <= _FEW), long + (len(digits) > _FEW)
        elif len({*digits} & {".", ","}) == 2:
            marks.add(found[1])
        elif digits.count(found[1]) > 1:
            marks.add("." if found[1] == "," else ",")
        elif len(found[2]) != _FEW or found.start() > _FEW or digits.startswith("0"):
            marks.add(found[1])
        else:
            grouped.add(found[1])
    if not marks and grouped == {"."} and (is_money or (short and not long)):
        marks = {","}
    return "," if marks == {","} else "." if marks == {"."} else None


_IN_PARTS: Final = re.compile(
    r"(?<![\w./-])(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})(?![\w/-]|[.,]\d)((?:[ T]\d{1,2}:\d\d\S*)?)"
)


def first_parts(cell: str) -> tuple[int, int] | None:
    """Returns the first two numbers of a date like 05/03/1980 or 5.3.80; None for any other text."""
    match = _IN_PARTS.fullmatch(cell)
    return (int(match[1]), int(match[3])) if match else None


MIN_MONTHS: Final = 6
"""Of so many different dates, all within twelve days of one month are chance. Chosen by hand."""


def first_part_of(cells: Iterable[str]) -> FirstPart | None:
    """Returns the part that dates like 05/03/1980 begin with in a column; None if its cells do not show it."""
    dates = {cell: pair for cell in cells if (pair := first_parts(cell)) is not None}
    if not dates or all(first == second for first, second in dates.values()):
        return None
    ones, others = ({*each} for each in zip(*dates.values(), strict=True))
    if 1 in (len(ones), len(others)) and len(ones | others) >= MIN_MONTHS and max(ones | others) <= 12:
        # The first day of every month; a month of so many days has one after the 12th.
        return "day" if ones == {1} else "month" if others == {1} else None
    if max(ones) > 12 or any("." in cell for cell in cells):
        return "day"
    return "month" if max(others) > 12 else None


def iso_date(cell: str, first: FirstPart | None) -> str | None:
    """Returns a date like 24/08/17 in ISO form, with the time behind it; None for other texts, or if it is unclear."""
    match = _IN_PARTS.fullmatch(cell)
    return None if match is None else _iso(match, first)


def _iso(match: re.Match[str], first: FirstPart | None) -> str | None:
    one, other, year = int(match[1]), int(match[3]), _year_of(match[4])
    days_first = {(one, other)} if days_in(year, other) >= one > 0 else set()
    months_first = {(other, one)} if days_in(year, one) >= other > 0 else set()
    # Nobody writes the month first with points between.
    if first == "day" or (match[2] == "." and first is None):
        found = days_first
    else:
        found = months_first if first == "month" else days_first | months_first
    if len(found) != 1:
        return None
    day, month = found.pop()
    return f"{year:04d}-{month:02d}-{day:02d}{match[5]}"


def _year_of(digits: str) -> int:
    year = int(digits)
    return year if len(digits) > 2 else year + (1900 if year >= CENTURY_FROM else 2000)


def worded_date(cell: str) -> str | None:
    """Returns a date with a month's name, in any language that is read ("3 de marzo de 2020"), in ISO form."""
    found = find_number_expressions(cell) if any(map(str.isalpha, cell)) else []
    is_whole = len(found) == 1 and not cell[: found[0].start].strip() and not cell[found[0].end :].strip()
    return found[0].lexical if is_whole and found[0].kind is ValueKind.DATE else None


_NUMBER: Final = re.compile(
    rf"(?<![\w.,'’:/-])\d{{1,3}}(?:\.\d{{3}}|,\d{{3}}|(?:[{_SPACES}]\d{{3}})+(?:[.,]\d+)?)(?![\w'’]|[.,:/-]\d)"
)
_DIGIT: Final = re.compile(r"\d")
_EURO: Final = re.compile(r"\s?(?:€|eur\b|euros?\b)", re.IGNORECASE)
_EURO_BEFORE: Final = re.compile(r"(?:€|\beur|\beuros?)\s?\Z", re.IGNORECASE)

Unclear = Literal["number", "date"]
_MONTH_OF_YEAR: Final = re.compile(
    rf"\b(?:in|during)\s+(?:early\s+|late\s+)?(?P<said>(?P<month>{MONTH})[\s-]*['’]?(?P<year>\d\d))(?![\w/]|[.:-]\d)",
    re.IGNORECASE,
)
"""A month and two digits behind "in" is a month of a year: days take "on"."""


def in_plain_notation(text: str, notation: Notation) -> Iterator[Rewording]:
    """Yields rewordings of the numbers and dates in a question that the graph's notation or its words make clear."""
    for match, meant, _ in _typed(text, notation):
        if meant is not None and meant != match[0]:
            yield Rewording(match.start(), match.end(), meant)
    for match in _MONTH_OF_YEAR.finditer(text):
        century = "19" if int(match["year"]) >= CENTURY_FROM else "20"
        yield Rewording(*match.span("said"), f"{match['month']} {century}{match['year']}")


def unclear_in(text: str, notation: Notation) -> Iterator[tuple[int, int, Unclear]]:
    """Yields (start, end, kind) of each number and date in a question that could be read in two ways."""
    for match, meant, kind in _typed(text, notation):
        if meant is None:
            yield *match.span(), kind


def _typed(text: str, notation: Notation) -> Iterator[tuple[re.Match[str], str | None, Unclear]]:
    if not _DIGIT.search(text):
        return
    for match in _IN_PARTS.finditer(text):
        one, other = int(match[1]), int(match[3])
        if 0 < min(one, other) <= 12 and max(one, other) <= 31:
            yield match, _iso(match, notation.first) or _iso(match, None), "date"
    for match in _NUMBER.finditer(text):
        # A point in an amount of euros parts thousands; a comma does in English.
        is_euro = _EURO.match(text, match.end()) or _EURO_BEFORE.search(text, 0, match.start())
        decimal: DecimalMark | None = "," if is_euro and "." in match[0] else notation.decimal
        yield match, _number(match[0], decimal), "number"


def _number(typed: str, decimal: DecimalMark | None) -> str | None:
    """Returns a typed number in plain digits; None if the mark in it may part thousands or stand before decimals."""
    if any(space in typed for space in _SPACES):
        return re.sub(rf"[{_SPACES}]", "", typed).replace(",", ".")
    mark = "." if "." in typed else ","
    if typed.startswith("0") or (mark == "." and decimal == "."):
        return typed
    if mark == "." and decimal == ",":
        return typed.replace(".", "")
    return None if mark == "." or decimal == "," else typed


_FIRST_SERIAL, _LAST_SERIAL = 20_000, 60_000
_DAY_ZERO: Final = 25_569
"""The number that spreadsheets have for 1 January 1970."""


def is_serial(cell: str) -> bool:
    """Returns True if the cell may be a day's number in a spreadsheet, of the years 1954 to 2064."""
    whole = cell.partition(".")[0]
    return whole.isdecimal() and _FIRST_SERIAL <= int(whole) <= _LAST_SERIAL


def date_of_serial(cell: str) -> str:
    """Returns the ISO date of a day's number in a spreadsheet."""
    days = int(cell.partition(".")[0]) - _DAY_ZERO
    return str(dt.date(1970, 1, 1) + dt.timedelta(days=days))


_FIRST_COMPACT, _LAST_COMPACT = 1800, 2099


def compact_date(cell: str) -> str | None:
    """Returns a date of eight digits, 20180820, in ISO form; None for other texts, and for years far from today's."""
    if len(cell) != 8 or not (cell.isascii() and cell.isdecimal()):
        return None
    year, month, day = int(cell[:4]), int(cell[4:6]), int(cell[6:])
    is_date = _FIRST_COMPACT <= year <= _LAST_COMPACT and 1 <= month <= 12 and 1 <= day <= days_in(year, month)
    return f"{cell[:4]}-{cell[4:6]}-{cell[6:]}" if is_date else None
