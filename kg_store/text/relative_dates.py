"""Finds dates that depend on the current day or are shortened, and writes them in full.

Examples: "last year" -> "in 2025"; "March" in "between March and June 2023"; "the 50s".
"""

from __future__ import annotations

import calendar
import datetime as dt
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from kg_store.terms import ValueKind
from kg_store.text.literals import LiteralSpan, read_literal
from kg_store.text.number_expressions import value_of
from kg_store.text.quantities import Rewording

_UNITS: Final = "day|week|month|quarter|year|decade"
_NUMBER: Final = r"\d{1,3}|[a-z]+(?:-[a-z]+)?"
_BEHIND: Final = r"(?![\w'’-])(?!\s+(?:of|before|after|until|till|prior|that|when|where|which|ago)\b)"
"""Requires that the date stands alone: matches neither "the last week of March" nor "last year's orders"."""

_EXPRESSION: Final = re.compile(
    rf"\b(?:(?P<day>the\s+day\s+before\s+yesterday|the\s+day\s+after\s+tomorrow|yesterday|today|tomorrow)"
    rf"|(?P<ago>{_NUMBER})\s+(?P<ago_unit>{_UNITS})s?\s+ago"
    rf"|(?P<span>(?:(?:the|this|these)\s+)?(?:last|past|next|coming)\s+)(?:(?P<count>{_NUMBER})\s+)?(?P<unit>{_UNITS})(?P<s>s?)"
    rf"|(?P<period>this|last|next|(?:the\s+)?current)\s+(?P<whole>week|month|quarter|year)){_BEHIND}",
    re.IGNORECASE,
)
_HINTS: Final = ("yesterday", "today", "tomorrow", "ago", "last", "past", "next", "coming", "this", "these", "current")
"""One of these words stands in every relative date. Beyond ASCII other letters may stand for theirs."""

_BEFORE: Final = re.compile(r"(?:(?P<second>[\w'’]+)\s+)?(?P<first>[\w'’]+)(?P<gap>\s+)\Z")
_MAX_LOOK_BACK: Final = 48
_DAYS: Final = {
    "the day before yesterday": -2, "yesterday": -1, "today": 0, "tomorrow": 1, "the day after tomorrow": 2,
}  # fmt: skip
_MONTHS: Final = frozenset(name.lower() for name in (*calendar.month_name, *calendar.month_abbr) if name)
_ORDINAL: Final = re.compile(r"first|second|third|.*th", re.IGNORECASE)
_MONTHS_IN: Final = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
_DAYS_IN: Final = {"day": 1, "week": 7}

_DURING: Final = frozenset("in on during within throughout from for".split())
_AROUND_TODAY: Final = frozenset("in over within during throughout through from".split())
_FROM_THE_END: Final = frozenset("after until till by to through".split())
_EDGES: Final = frozenset("since before starting".split()) | _FROM_THE_END
_JOINING: Final = frozenset("between and or".split())
_COMPARING: Final = {"later": True, "newer": True, "earlier": False, "older": False, "sooner": False}
_GOES_ON: Final = re.compile(r"\s+(?:to|till|until|through|on|onwards?|upwards?)\b", re.IGNORECASE)
_DISTANCES: Final[dict[tuple[str, ...], str]] = {
    ("more", "than"): "before {0}", ("longer", "than"): "before {0}", ("over",): "before {0}",
    ("less", "than"): "between {0} and {1}", ("fewer", "than"): "between {0} and {1}",
    ("under",): "between {0} and {1}", ("within",): "between {0} and {1}",
    ("at", "least"): "until {0}", ("at", "most"): "between {0} and {1}",
    ("exactly",): "on {0}", ("precisely",): "on {0}",
}  # fmt: skip
"""Words before "two years ago" with their replacement, where {0} is that day and {1} is today."""

_OF_ANOTHER: Final = frozenset(
    "a an the every each any my your his her its our their whose time about around roughly nearly almost as like "
    "first second third with versus vs under above below beyond per against over compared is are was were be "
    "been".split()
)
"""Words after which a date depends on another date: his last year, this time last year, compared with last year."""

_EVENT: Final = re.compile(r"\b(?:was|were|did|came|went|got|due|dated|expir(?:es?|ing))\b", re.IGNORECASE)
_ENDED: Final = re.compile(r"[a-z]ed\b", re.IGNORECASE)
_IS: Final = re.compile(r"\b(?:is|are|am|be|been|who['’]s)\b", re.IGNORECASE)
_NOT_ALONE: Final = _OF_ANOTHER | _DURING | _EDGES | _JOINING | {"of", "than"}


@dataclass(frozen=True, slots=True)
class _Period:
    """A period from its first day to its last. `name`: the year, month or day that it is; empty for other periods."""

    first: dt.date
    last: dt.date
    name: str = ""

    def worded(self) -> str:
        if self.name:
            return f"on {self.name}" if self.first == self.last else f"in {self.name}"
        return f"between {self.first} and {self.last}"


def by_calendar(text: str, today: dt.date) -> list[Rewording]:
    """Returns replacements of dates in `text` that depend on `today` by calendar dates, in order, without overlaps.

    A week runs from Monday to Sunday; "the last six months" begin on the day six months ago. Phrases that only look
    like a date ("her last year", "more than last year") are not replaced.
    """
    if text.isascii() and not any(map(text.lower().__contains__, _HINTS)):
        return []
    found = list(_EXPRESSION.finditer(text))
    pairs = [
        (one.start(), other.start()) for one, other in pairwise(found) if text[one.end() : other.start()].isspace()
    ]
    joined = {start for pair in pairs for start in pair}  # Two in a row, such as "a year ago today", are left alone.
    return [said for match in found if match.start() not in joined for said in _said(text, match, today)]


def relative_dates_in(phrase: str) -> Iterator[str]:
    """Yields the parts of a phrase that would be read as relative dates: "last year" in "revenue last year"."""
    yield from (match[0].lower() for match in _EXPRESSION.finditer(phrase))


def _said(text: str, match: re.Match[str], today: dt.date) -> Iterator[Rewording]:
    before = _BEFORE.search(text, max(0, match.start() - _MAX_LOOK_BACK), match.start())
    words = tuple(word.lower() for word in (before["second"], before["first"]) if word) if before else ()
    try:
        said = _worded(text, match, words, today)
    except (ValueError, OverflowError):
        return  # The year is out of range.
    if said is None:
        return
    instead, consumed = said
    start = match.start()
    if consumed and before is not None:
        start = before.start("first" if consumed == 1 else "second")
    yield Rewording(start, match.end(), instead)


def _worded(text: str, match: re.Match[str], before: tuple[str, ...], today: dt.date) -> tuple[str, int] | None:
    """Returns (replacement, number of words before the date that go too); None if no date is to be replaced."""
    if match["day"]:
        period = _day(today + dt.timedelta(_DAYS[" ".join(match["day"].lower().split())]))
    elif match["ago"]:
        return _ago(match, before, today)
    elif match["span"] and _is_around_today(match, before):
        return _around(match, today).worded(), int(before[-1:] != () and before[-1] in _AROUND_TODAY)
    elif match["span"] and not _is_calendar(match):
        return None
    else:
        period = _calendar((match["period"] or match["span"]).split()[-1].lower(), _unit(match), today)
    said = _in_place(period, before, _GOES_ON.match(text, match.end()) is not None)
    is_now = said is not None and said[0].startswith("on ") and period.first == today and not _tells_events(text)
    return None if is_now else said


def _tells_events(text: str) -> bool:
    """Returns True if the text asks what happens on a day; False for the present state ("who works here today")."""
    return _EVENT.search(text) is not None or (_ENDED.search(text) is not None and _IS.search(text) is None)


def _unit(match: re.Match[str]) -> str:
    return str(match["whole"] or match["unit"] or match["ago_unit"]).lower()


def _is_calendar(match: re.Match[str]) -> bool:
    """Returns True for "last week" and "next month", without an article or a number."""
    is_bare = match["span"].lower().strip() in ("last", "next") and not (match["count"] or match["s"])
    return is_bare and _unit(match) in ("week", "month", "quarter", "year")


def _is_around_today(match: re.Match[str], before: tuple[str, ...]) -> bool:
    """Returns True for a period that ends or begins today: in the last six months, the past 10 days."""
    if (
        _is_calendar(match)
        or (match["count"] and _count(match["count"]) is None)
        or bool(match["s"]) > bool(match["count"])
    ):
        return False
    if before[-1:] and before[-1] in _AROUND_TODAY:
        return True
    is_plain = not (before[-1:] and (before[-1] in _NOT_ALONE or _is_possessive(before[-1])))
    return is_plain and match["count"] is not None and len(match["span"].split()) == 1


def _count(word: str) -> int | None:
    if word.lower() in ("a", "an"):
        return 1
    value = value_of(word.lower()) if not word.isdecimal() and not _ORDINAL.fullmatch(word) else None
    number = int(word) if word.isdecimal() else int(value) if value is not None else 0
    return number or None


def _around(match: re.Match[str], today: dt.date) -> _Period:
    number = _count(match["count"]) or 1 if match["count"] else 1
    if match["span"].lower().split()[-1] in ("last", "past"):
        return _Period(_moved(today, _unit(match), -number), today)
    return _Period(today, _moved(today, _unit(match), number))


def _ago(match: re.Match[str], before: tuple[str, ...], today: dt.date) -> tuple[str, int] | None:
    number = _count(match["ago"])
    if number is None:
        return None
    day = _moved(today, _unit(match), -number)
    for words, instead in _DISTANCES.items():
        if before[-len(words) :] == words:
            return instead.format(day, today), len(words)
    if before[-1:] and (before[-1] in _EDGES or before[-1] == "from"):
        return _in_place(_day(day), before, goes_on=True)
    unit = _unit(match)
    return None if unit == "decade" else _in_place(_calendar("this", unit, day), before, goes_on=False)


def _in_place(period: _Period, before: tuple[str, ...], goes_on: bool) -> tuple[str, int] | None:
    """Returns (replacement, number of words of `before` that it replaces too) for `period`; None for no date.

    `before` are the words in front of the period. `goes_on`: "to" or the like follows it.
    """
    word = before[-1] if before else ""
    if word == "than":
        if before[0] not in _COMPARING:
            return None
        return (period.name or str(period.last if _COMPARING[before[0]] else period.first)), 0
    if word in _EDGES:
        edge = period.name or str(period.last if word in _FROM_THE_END else period.first)
        return (f"until {edge}", 1) if word == "by" else (edge, 0)
    if word == "from" and goes_on:
        return (period.name or str(period.first)), 0
    if word in _JOINING:
        return (period.name, 0) if period.name else None
    if word in _MONTHS and len(before) == 2 and before[0] in _DURING | _EDGES | _JOINING | {"of"}:
        return (period.name, 0) if period.name.isdecimal() else None
    if word == "of":
        is_named = period.name and period.first != period.last and before[0] != "as"
        return (period.name, 0) if is_named else None
    if word in _OF_ANOTHER or _is_possessive(word):
        return None
    return period.worded(), int(word in _DURING)


def _is_possessive(word: str) -> bool:
    return word.endswith(("'s", "’s", "s'", "s’"))


def _day(day: dt.date) -> _Period:
    return _Period(day, day, str(day))


def _calendar(which: str, unit: str, today: dt.date) -> _Period:
    """Returns the week, month, quarter or year that holds `today`, or the one before or after it."""
    day = _moved(today, unit, {"last": -1, "next": 1}.get(which, 0))
    if unit == "day":
        return _day(day)
    if unit == "week":
        monday = day - dt.timedelta(day.weekday())
        return _Period(monday, monday + dt.timedelta(6))
    months = _MONTHS_IN[unit]
    first = dt.date(day.year, (day.month - 1) // months * months + 1, 1)
    last = _moved(first, "month", months) - dt.timedelta(1)
    return _Period(first, last, {"month": f"{first:%Y-%m}", "year": f"{first:%Y}"}.get(unit, ""))


def _moved(day: dt.date, unit: str, number: int) -> dt.date:
    """Returns `day` moved by a number of units; the last day of the month if that is too short.

    Raises ValueError or OverflowError if the year is out of range.
    """
    if unit in _DAYS_IN:
        return day + dt.timedelta(number * _DAYS_IN[unit])
    months = day.year * 12 + day.month - 1 + number * _MONTHS_IN[unit]
    year, month = months // 12, months % 12 + 1
    return dt.date(year, month, min(day.day, calendar.monthrange(year, month)[1]))


_DECADE: Final = re.compile(r"(?<=\bthe\s)['’]?([3-9]0)['’]?s\b", re.IGNORECASE)
_JOINED_BY: Final = re.compile(r"\s+(?:and|or|to|until|till|through)\s+", re.IGNORECASE)
_OPENING: Final = re.compile(r"\b(?:between|from|in|during|of)\s+(?:the\s+)?\Z", re.IGNORECASE)
_DATED: Final = re.compile(r"(\d{4})-(\d\d)(?:-\d\d)?")
MAX_BEFORE: Final = 16


def find_shortened_dates(text: str, found: Iterable[LiteralSpan]) -> Iterator[LiteralSpan]:
    """Yields, in digits, each date that a later date completes: "March" in "between March and June 2023".

    `found`: the numbers and dates of the text, in words or digits. A decade without a century belongs to the 20th
    ("the 50s"); "the 20s" is left alone.
    """
    for decade in _DECADE.finditer(text) if "0" in text else ():
        begin = decade.start(1)
        yield LiteralSpan(begin, decade.end(), ValueKind.DATE, f"19{decade[1]}s")
    if not _JOINED_BY.search(text):
        return
    spans = {span.start: span for span in found}
    for span in spans.values():
        joining = _JOINED_BY.match(text, span.end)
        behind = spans.get(joining.end()) if joining else None
        is_opened = _OPENING.search(text, max(0, span.start - MAX_BEFORE), span.start) is not None
        if is_opened and behind is not None and behind.kind is ValueKind.DATE:
            lexical = _completed(text[span.start : span.end], span.kind, behind.lexical)
            yield from [LiteralSpan(span.start, span.end, ValueKind.DATE, lexical)] if lexical else []


def _completed(said: str, kind: ValueKind, behind: str) -> str:
    """Returns the date `said` in digits, completed with the year (and month) of the date `behind` it.

    Empty if that gives no date.
    """
    dated = _DATED.fullmatch(behind)
    if dated is None:
        return ""
    if kind is ValueKind.NUMBER:
        return f"{dated[1]}-{dated[2]}-{int(said):02d}" if said.isdecimal() and 0 < int(said) <= 31 else ""
    for year in (int(dated[1]), int(dated[1]) - 1):
        read = read_literal(f"{said} {year}")
        if read is not None and read[0] is ValueKind.DATE and read[1] <= behind:
            return read[1]
    return ""
