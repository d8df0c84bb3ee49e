"""Literals: numbers as Decimal and dates with their precision, as people type them, alone or in a running text."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final

from kg_store.terms import ValueKind
from kg_store.text.dates import (
    MONTH,
    ORDINAL,
    PartialDate,
    YearlyDate,
    is_yearly,
    month_of,
    read_iso_date,
    read_yearly_date,
)
from kg_store.text.normalise import normalise
from kg_store.text.words import longest_spans

DIGITS = (
    r"(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?"  # 1,250.50
    r"|\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:\.\d{3}){2,}"  # 1.250,50
    r"|\d{1,3}(?:[\u00a0\u202f\u2009'’]\d{3})+(?:[.,]\d+)?"  # 1 250.50 with narrow spaces
    r"|\d+,\d+(?!,\d)|\d+(?:\.\d+)?(?:[eE][+-]?\d{1,4})?|\.\d+)"
)
CURRENCY = r"[$€£¥₹₽₩]"
CODE_OF_CURRENCY = r"(?<![^\W_])(?:usd|eur|gbp|chf)\b"
UNITS = (
    r"(?:%|‰|percent|µg|μg|mcg|mg|kg|g|ml|cl|dl|l|mm|cm|km|m|°\s?[cf]|bpm|mmhg|iu|kcal|kb|mb|gb|tb|kwh|kw|mph|kmh"
    r"|usd|eur|gbp|chf|dollars?|euros?|pounds?|years?|months?|weeks?|days?|hours?|minutes?|seconds?|hrs?|min|ms)"
)
SCALE = r"(?:thousand|million|billion|trillion)"
_SCALES = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}

_WRITTEN_NUMBER = re.compile(
    rf"([+-]?)\s?(?:(?:{CURRENCY}|{CODE_OF_CURRENCY})\s?)?([+-]?)({DIGITS})({ORDINAL})?(?:\s?({SCALE}))?(?:\s?(?:{CURRENCY}|{UNITS}))?",
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

MAX_EXPONENT: Final = 400
"""A number has fewer digits before its point, and fewer zeros behind it."""


def read_number(text: str) -> Decimal:
    """Returns a number written with separators, sign, currency, unit, ordinal ending or scale. Raises ValueError.

    12 % is 12. A single comma before three digits groups thousands (1,250); a single point is a decimal point (1.250).
    """
    # Most cells of tables are plain digits, which need no pattern.
    if len(text) < MAX_EXPONENT and text.isascii() and text.isdigit():
        return Decimal(text)
    match = _WRITTEN_NUMBER.fullmatch(plain_digits(text))
    if match is None:
        raise ValueError("not a number")
    outer, inner, digits, _, scale = match.groups()
    number = Decimal(_without_separators(digits))
    if not -MAX_EXPONENT < number.adjusted() < MAX_EXPONENT:
        raise ValueError("a number out of range")
    number = number.scaleb(_SCALES[scale.lower()]) if scale else number
    return number.copy_negate() if "-" in (outer, inner) else number


def read_date(text: str) -> PartialDate:
    """Returns a date in digits or with a month's name. Raises ValueError, also if day and month might swap."""
    text = plain_digits(text)
    for pattern in _DATES:
        match = pattern.fullmatch(text)
        if match is not None:
            return _date_of(match.groupdict())
    return read_iso_date(text)


def plain_digits(text: str) -> str:
    """Returns stripped text with ASCII digits, minus signs and hyphens in place of those of other scripts."""
    if text.isascii():
        return text.strip()
    signs = str.maketrans("−‐‑–", "----")
    return "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in text.strip()).translate(signs)


def _date_of(parts: dict[str, str | None]) -> PartialDate:
    year = int(parts["y"] or 0)
    if parts.get("name"):
        day = parts.get("d")
        return PartialDate(year, month_of(parts["name"] or ""), int(day) if day else None)
    if parts.get("m"):
        return PartialDate(year, int(parts["m"] or 0), int(parts["d"] or 0))
    first, second = int(parts["a"] or 0), int(parts["b"] or 0)
    if first <= 12 and second <= 12 and first != second:
        raise ValueError("day and month could be either way round")
    return PartialDate(year, second, first) if first > 12 else PartialDate(year, first, second)


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


Parsed = Decimal | PartialDate | str | bool

_TRUTHS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
TRUE_WORDS = frozenset({"true", "t", "yes", "y", "1", "ja", "j", "oui", "si", "sí", "wahr", "x"})
FALSE_WORDS = frozenset({"false", "f", "no", "n", "0", "nein", "non", "falsch"})
_YEAR = re.compile(r"(?:1[0-9]|20)\d\d")
_PADDED = re.compile(r"0\d+", re.ASCII)

# A literal ends where a word ends, but characters of scripts without spaces may follow directly, as in 2020年.
_WORD = r"[^\W_\u0e00-\u0fff\u2e80-\u9fff\uac00-\ud7ff]"
_OPEN, _CLOSE = rf"(?<!{_WORD})(?<!{_WORD}[.,])", rf"(?!{_WORD})"
_DIGIT_PART = r"[^\W\d_]*+\d(?:(?!_)\w)*+"
_CAPITAL_MONTH = (
    r"(?:J[au]n|Feb|Mar|Apr|May|Jul|Aug|Sep|Oct|Nov|Dec"
    r"|J[AU]N|FEB|MAR|APR|MAY|JUL|AUG|SEP|OCT|NOV|DEC)[A-Za-z]*\b\.?"
)
_IN_TEXT = tuple(
    re.compile(_OPEN + pattern + _CLOSE, flags)
    for pattern, flags in (
        (rf"\d{{1,2}}{ORDINAL}?(?:\s+of)?[\s-]+{MONTH},?[\s-]+\d{{4}}", re.IGNORECASE),
        (rf"{MONTH}[\s-]+\d{{1,2}}{ORDINAL}?,?\s+\d{{4}}", re.IGNORECASE),
        (rf"{MONTH},?[\s-]+(?:of\s+)?\d{{4}}", re.IGNORECASE),
        (
            rf"(?:\d{{1,2}}{ORDINAL}?(?:\s+of)?[\s-]+{_CAPITAL_MONTH}|{_CAPITAL_MONTH}[\s-]+\d{{1,2}}{ORDINAL}?)",
            re.NOFLAG,
        ),
        (r"\d{4,}-\d\d(?:-\d\d(?:[Tt ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?(?:Z|[+-]\d\d:\d\d)?)?", re.NOFLAG),
        (r"\d{3}0['’]?s", re.NOFLAG),
        (r"\d{1,2}(?::\d\d){1,2}(?:\s?[ap]\.?m\b)?", re.IGNORECASE),
        (r"\d+(?:[-./]\d+){2,}", re.NOFLAG),
        # Codes: MRN-00123, A1-B2, 12-34-X. Quantifiers are possessive, so that long runs take linear time.
        (rf"(?:[A-Z]{{1,8}}[-/.]){_DIGIT_PART}(?:[-/.](?:{_DIGIT_PART}|[A-Z]{{1,8}}))*+", re.NOFLAG),
        (rf"(?=[\d./-]*+[A-Za-z]){_DIGIT_PART}(?:[-/.](?:{_DIGIT_PART}|[A-Z]{{1,8}}))++", re.NOFLAG),
    )
)
_NUMBER_IN_TEXT = re.compile(
    rf"(?:(?<![\w)\]'’-])[+−-])?(?:(?:{CURRENCY}|{CODE_OF_CURRENCY})\s?)?{_OPEN}{DIGITS}"
    rf"(?:{ORDINAL}{_CLOSE}|\s?{SCALE}{_CLOSE})?(?:\s?{CURRENCY}|\s?%|{UNITS}{_CLOSE}|{_CLOSE})",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\d")
_DIGIT_WORD = re.compile(rf"(?<!{_WORD})(?:(?!\d){_WORD})*+\d{_WORD}*+")


@dataclass(frozen=True, slots=True)
class LiteralSpan:
    """A literal at text[start:end]. Its kind is TEXT for digits that are neither a number nor a date."""

    start: int
    end: int
    kind: ValueKind
    lexical: str = field(repr=False)


def parse_value(lexical: str, kind: ValueKind) -> Parsed:
    """Returns the value in a form for comparisons; text is normalised. Raises ValueError."""
    if kind is ValueKind.NUMBER:
        return read_number(lexical)
    if kind is ValueKind.DATE:
        return read_date(lexical)
    if kind is ValueKind.TRUTH:
        if lexical.strip().lower() not in _TRUTHS:
            raise ValueError("not a truth value")
        return _TRUTHS[lexical.strip().lower()]
    return normalise(lexical).text.strip()


def read_asked(text: str, kind: ValueKind) -> Parsed | YearlyDate:
    """Returns a value as a question says it: a date may lack its year, a truth value may be a cell's mark ("n").

    Raises ValueError.
    """
    try:
        return parse_value(text, kind)
    except ValueError:
        if kind is ValueKind.TRUTH and text.strip().lower() in TRUE_WORDS | FALSE_WORDS:
            return text.strip().lower() in TRUE_WORDS
        if kind is not ValueKind.DATE:
            raise
        return read_yearly_date(text)


def read_literal(text: str) -> tuple[ValueKind, str] | None:
    """Returns the kind and canonical spelling of a number or date as people type it; None for any other text.

    1990 is read as a year; `parse_value` can also read it as a number. A date may lack its year ("18 April"). A date
    whose day and month could be swapped, and digits with a leading zero (a code), give None.
    """
    plain = plain_digits(text)
    if _PADDED.fullmatch(plain):
        return None
    for kind in (ValueKind.DATE, ValueKind.NUMBER):
        if kind is ValueKind.DATE and plain.lstrip("-").isdigit() and not is_year(plain):
            continue
        try:
            return kind, canonical(text, kind)
        except ValueError:
            continue
    try:
        return ValueKind.DATE, read_yearly_date(plain).lexical
    except ValueError:
        return None


def canonical(lexical: str, kind: ValueKind) -> str:
    """Returns one spelling for each value: 1,250.50 and 1250.5 give the same.

    Raises ValueError as parse_value does.
    """
    value = parse_value(lexical, kind)
    if isinstance(value, PartialDate):
        return value.lexical
    if isinstance(value, Decimal):
        return plain_number(value)
    return str(value).lower() if isinstance(value, bool) else value


def plain_number(number: Decimal) -> str:
    """Returns the digits without exponent and trailing zeros: 1250.5."""
    text = f"{number:f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text


def find_literals(text: str) -> list[LiteralSpan]:
    """Returns every number, date and run of digits in a text, in order; of overlapping ones the longest.

    Every decimal digit of `text` lies in a returned span. That includes the digits of pseudonyms, which the caller has
    to exclude.
    """
    if not _DIGIT.search(text):
        return []
    spans = [match.span() for pattern in (*_IN_TEXT, _NUMBER_IN_TEXT, _DIGIT_WORD) for match in pattern.finditer(text)]
    read = ((start, end, read_literal(text[start:end])) for start, end in longest_spans(set(spans), len(text)))
    return [LiteralSpan(start, end, *(found or (ValueKind.TEXT, text[start:end]))) for start, end, found in read]


_PLAIN_NUMBER = re.compile(r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?(?<=\d)(?:[eE][+-]?\d+)?")
_PLAIN_DATE = re.compile(
    r"-?\d{4}(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01])"
    r"(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?)?)?(?:Z|[+-]\d\d:\d\d)?"
)
_FORMS = {
    ValueKind.NUMBER: _PLAIN_NUMBER,
    ValueKind.DATE: _PLAIN_DATE,
    ValueKind.TRUTH: re.compile(r"true|false|0|1"),
    ValueKind.TEXT: re.compile(r".*", re.DOTALL),
}


def fits(lexical: str, kind: ValueKind) -> bool:
    """Returns True if the text can be read as a value of `kind`."""
    return _FORMS[kind].fullmatch(lexical.strip()) is not None


def is_year(lexical: str) -> bool:
    """Returns True if the text is a year from 1000 to 2099."""
    return _YEAR.fullmatch(lexical.strip()) is not None


MAX_NAME_CHARS: Final = 80
"""The longest name in which a year is looked for; longer ones are titles and sentences. Chosen by hand."""
_YEAR_IN_NAME: Final = re.compile(r"(?<![\w.,:/#$€£])(?<![A-Za-z]-)(1\d{3}|20\d\d)(?![\w%/]|[.,:]\d)")


def named_date(name: str) -> str | None:
    """Returns the date in canonical spelling if `name` is a date with a year and nothing else; otherwise None."""
    read = read_literal(name)
    return read[1] if read is not None and read[0] is ValueKind.DATE and not is_yearly(read[1]) else None


def date_in_name(name: str) -> str | None:
    """Returns the date that `name` is, or else the year in it; None if it holds no year, or two different ones."""
    whole = named_date(name)
    if whole is not None or len(name) > MAX_NAME_CHARS:
        return whole
    years = set(_YEAR_IN_NAME.findall(name))
    return years.pop() if len(years) == 1 else None
