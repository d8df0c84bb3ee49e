"""Reads literals: numbers as Decimal, dates at their precision, and all literals in a running text."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal

from kg_store.terms import ValueKind
from kg_store.text.dates import PartialDate
from kg_store.text.normalise import normalise
from kg_store.text.number_formats import (
    CURRENCY,
    DIGITS,
    MONTH,
    ORDINAL,
    SCALE,
    UNITS,
    plain_digits,
    read_date,
    read_number,
)

Parsed = Decimal | PartialDate | str | bool

_TRUTHS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
_LATEST_YEAR = 2100
_YEAR = re.compile(r"[12]\d{3}", re.ASCII)
_PADDED = re.compile(r"0\d+", re.ASCII)

# A literal ends where a word would, but scripts without spaces may follow directly, as in 2020年.
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
        # Codes: MRN-00123, A1-B2, 12-34-X; quantifiers are possessive, so that long runs stay linear.
        (rf"(?:[A-Z]{{1,8}}[-/.]){_DIGIT_PART}(?:[-/.](?:{_DIGIT_PART}|[A-Z]{{1,8}}))*+", re.NOFLAG),
        (rf"(?=[\d./-]*+[A-Za-z]){_DIGIT_PART}(?:[-/.](?:{_DIGIT_PART}|[A-Z]{{1,8}}))++", re.NOFLAG),
    )
)
_NUMBER_IN_TEXT = re.compile(
    rf"(?:(?<![\w)\]'’-])[+−-])?(?:{CURRENCY}\s?)?{_OPEN}{DIGITS}"
    rf"(?:{ORDINAL}{_CLOSE}|\s?{SCALE}{_CLOSE})?(?:\s?{CURRENCY}|\s?%|{UNITS}{_CLOSE}|{_CLOSE})",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\d")
_DIGIT_WORD = re.compile(rf"(?<!{_WORD})(?:(?!\d){_WORD})*+\d{_WORD}*+")


@dataclass(frozen=True, slots=True)
class LiteralSpan:
    """A literal at text[start:end]; the kind is TEXT for digits that are neither a number nor a date."""

    start: int
    end: int
    kind: ValueKind
    lexical: str = field(repr=False)


def parse_value(lexical: str, kind: ValueKind) -> Parsed:
    """Returns the value for comparisons; text is normalised. Raises ValueError if `lexical` is not of `kind`."""
    if kind is ValueKind.NUMBER:
        return read_number(lexical)
    if kind is ValueKind.DATE:
        return read_date(lexical)
    if kind is ValueKind.TRUTH:
        if lexical.strip().lower() not in _TRUTHS:
            raise ValueError("not a truth value")
        return _TRUTHS[lexical.strip().lower()]
    return normalise(lexical).text.strip()


def read_literal(text: str) -> tuple[ValueKind, str] | None:
    """Returns kind and canonical spelling of a number or date as people type it; None for any other text.

    1990 is read as a year; parse_value can also read it as a number. A date whose day and month could be swapped, and
    digits with a leading zero (a code), are neither.
    """
    plain = plain_digits(text)
    if _PADDED.fullmatch(plain):
        return None
    for kind in (ValueKind.DATE, ValueKind.NUMBER):
        if kind is ValueKind.DATE and plain.lstrip("-").isdigit() and not _is_year(plain):
            continue
        try:
            return kind, canonical(text, kind)
        except ValueError:
            continue
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
    """Returns every number, date and digit string of a running text, in order; of overlapping ones the longest.

    Every decimal digit of `text` lies in a span, including those of pseudonyms, which the caller has to exclude.
    """
    if not _DIGIT.search(text):
        return []
    spans = [match.span() for pattern in (*_IN_TEXT, _NUMBER_IN_TEXT, _DIGIT_WORD) for match in pattern.finditer(text)]
    taken: list[tuple[int, int]] = []
    covered = bytearray(len(text))
    for start, end in sorted(set(spans), key=lambda span: (span[0] - span[1], span[0])):
        if not any(covered[start:end]):
            covered[start:end] = b"\x01" * (end - start)
            taken.append((start, end))
    return [_literal(text, start, end) for start, end in sorted(taken)]


def _literal(text: str, start: int, end: int) -> LiteralSpan:
    written = text[start:end]
    kind, lexical = read_literal(written) or (ValueKind.TEXT, written)
    return LiteralSpan(start, end, kind, lexical)


def _is_year(digits: str) -> bool:
    return _YEAR.fullmatch(digits) is not None and int(digits) <= _LATEST_YEAR


_NUMBER = re.compile(r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?(?<=\d)(?:[eE][+-]?\d+)?")
_DATE = re.compile(
    r"-?\d{4}(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01])"
    r"(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?)?)?(?:Z|[+-]\d\d:\d\d)?"
)
_YEAR = re.compile(r"(?:1[0-9]|20)\d\d")
_FORMS = {
    ValueKind.NUMBER: _NUMBER,
    ValueKind.DATE: _DATE,
    ValueKind.TRUTH: re.compile(r"true|false|0|1"),
    ValueKind.TEXT: re.compile(r".*", re.DOTALL),
}


def fits(lexical: str, kind: ValueKind) -> bool:
    """True if the text can be read as a value of `kind`."""
    return _FORMS[kind].fullmatch(lexical.strip()) is not None


def is_year(lexical: str) -> bool:
    """True if the text is a year from 1000 to 2099."""
    return _YEAR.fullmatch(lexical.strip()) is not None
