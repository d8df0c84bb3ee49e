"""What a literal's text looks like: a number, a date, a truth value, or plain text."""

from __future__ import annotations

import re

from kg_store.terms import ValueKind

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
    """Whether the text reads as a value of `kind`."""
    return _FORMS[kind].fullmatch(lexical.strip()) is not None


def is_year(lexical: str) -> bool:
    """Whether the text is a year between 1000 and 2099."""
    return _YEAR.fullmatch(lexical.strip()) is not None
