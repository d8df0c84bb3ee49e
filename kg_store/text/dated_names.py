"""Dates in names: "2012-04-06" is a date, "1994 NBA Finals" contains one."""

from __future__ import annotations

import re
from typing import Final

from kg_store.terms import ValueKind
from kg_store.text.literals import read_literal

MAX_NAME_CHARS: Final = 80
"""The greatest length of a name in which a year is looked for; longer ones are titles and sentences. Chosen by hand.
"""
_YEAR: Final = re.compile(r"(?<![\w.,:/#$€£])(?<![A-Za-z]-)(1\d{3}|20\d\d)(?![\w%/]|[.,:]\d)")


def named_date(name: str) -> str | None:
    """Returns the date in canonical spelling if `name` is a date and nothing else; otherwise None."""
    read = read_literal(name)
    return read[1] if read is not None and read[0] is ValueKind.DATE else None


def date_in_name(name: str) -> str | None:
    """Returns the date that `name` is, or the only year in it; None if there is no year or several."""
    whole = named_date(name)
    if whole is not None or len(name) > MAX_NAME_CHARS:
        return whole
    years = set(_YEAR.findall(name))
    return years.pop() if len(years) == 1 else None
