"""Numbers and dates as people type them: 1,250.50, 12 %, 5 mg, 12 March 2020, 13/12/2020."""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal

from kg_store.text.dates import PartialDate, read_iso_date

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
ORDINAL = r"(?:st|nd|rd|th)"
DIGITS = (
    r"(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?"  # 1,250.50
    r"|\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:\.\d{3}){2,}"  # 1.250,50
    r"|\d{1,3}(?:[\u00a0\u202f\u2009'’]\d{3})+(?:[.,]\d+)?"  # 1 250.50 with narrow spaces
    r"|\d+,\d+(?!,\d)|\d+(?:\.\d+)?(?:[eE][+-]?\d{1,4})?|\.\d+)"
)
CURRENCY = r"[$€£¥₹₽₩]"
UNITS = (
    r"(?:%|‰|percent|µg|μg|mcg|mg|kg|g|ml|cl|dl|l|mm|cm|km|m|°\s?[cf]|bpm|mmhg|iu|kcal|kb|mb|gb|tb|kwh|kw|mph|kmh"
    r"|usd|eur|gbp|chf|dollars?|euros?|pounds?|years?|months?|weeks?|days?|hours?|minutes?|seconds?|hrs?|min|ms)"
)
SCALE = r"(?:thousand|million|billion|trillion)"
_SCALES = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}

_NUMBER = re.compile(
    rf"([+-]?)\s?(?:{CURRENCY}\s?)?([+-]?)({DIGITS})({ORDINAL})?(?:\s?({SCALE}))?(?:\s?(?:{CURRENCY}|{UNITS}))?",
    re.IGNORECASE,
)
_DATES = tuple(
    re.compile(pattern, re.IGNORECASE | re.ASCII)
    for pattern in (
        rf"(?P<d>\d{{1,2}}){ORDINAL}?(?:\s+of)?[\s-]+(?P<name>{MONTH}),?[\s-]+(?P<y>\d{{4}})",
        rf"(?P<name>{MONTH})[\s-]+(?P<d>\d{{1,2}}){ORDINAL}?,?\s+(?P<y>\d{{4}})",
        rf"(?P<name>{MONTH}),?[\s-]+(?:of\s+)?(?P<y>\d{{4}})",
        r"(?P<y>\d{4})(?P<sep>[/.])(?P<m>\d{1,2})(?P=sep)(?P<d>\d{1,2})",
        r"(?P<a>\d{1,2})(?P<sep>[/.-])(?P<b>\d{1,2})(?P=sep)(?P<y>\d{4})",
    )
)


def read_number(text: str) -> Decimal:
    """Returns a number written with separators, sign, currency, unit, ordinal ending or scale. Raises ValueError.

    12 % is 12. A single comma before three digits groups thousands (1,250); a single point is a decimal point (1.250).
    """
    match = _NUMBER.fullmatch(plain_digits(text))
    if match is None:
        raise ValueError("not a number")
    outer, inner, digits, _, scale = match.groups()
    number = Decimal(_without_separators(digits))
    if not -400 < number.adjusted() < 400:
        raise ValueError("a number out of range")
    number = number.scaleb(_SCALES[scale.lower()]) if scale else number
    return number.copy_negate() if "-" in (outer, inner) else number


def read_date(text: str) -> PartialDate:
    """Returns a date with a month's English name or in digits. Raises ValueError, also if day and month could be
    swapped.
    """
    text = plain_digits(text)
    for pattern in _DATES:
        match = pattern.fullmatch(text)
        if match is not None:
            return _date_of(match.groupdict())
    return read_iso_date(text)


def plain_digits(text: str) -> str:
    """Returns stripped text with ASCII digits, minus signs and hyphens in place of those of other scripts."""
    signs = str.maketrans("−‐‑–", "----")
    return "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in text.strip()).translate(signs)


def _date_of(parts: dict[str, str | None]) -> PartialDate:
    year = int(parts["y"] or 0)
    if parts.get("name"):
        day = parts.get("d")
        return PartialDate(year, _month_of(parts["name"] or ""), int(day) if day else None)
    if parts.get("m"):
        return PartialDate(year, int(parts["m"] or 0), int(parts["d"] or 0))
    return _day_and_month(year, int(parts["a"] or 0), int(parts["b"] or 0))


def _day_and_month(year: int, first: int, second: int) -> PartialDate:
    if first <= 12 and second <= 12 and first != second:
        raise ValueError("day and month could be either way round")
    month, day = (second, first) if first > 12 else (first, second)
    return PartialDate(year, month, day)


def _month_of(name: str) -> int:
    return _MONTHS.index(name.lower()[:3]) + 1


def _without_separators(digits: str) -> str:
    digits = re.sub(r"[\u00a0\u202f\u2009'’]", "", digits)
    point, comma = digits.rfind("."), digits.rfind(",")
    if comma < 0:
        return digits.replace(".", "") if digits.count(".") > 1 else digits
    if point < 0:
        grouped = re.fullmatch(r"\d{1,3}(?:,\d{3})+", digits)
        return digits.replace(",", "" if grouped else ".")
    if point > comma:
        return digits.replace(",", "")
    return digits.replace(".", "").replace(",", ".")
