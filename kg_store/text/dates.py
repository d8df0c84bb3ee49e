"""Dates with their precision, and months and days without a year."""

from __future__ import annotations

import calendar
import re
from collections.abc import Collection
from dataclasses import dataclass, field
from decimal import Decimal
from enum import IntEnum

_ISO = re.compile(
    r"(-?\d{4,9})(?:-(\d\d)(?:-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d(?:[.,]\d{1,12})?))?)?)?)?"
    r"(Z|z|[+-](?:0\d|1[0-4]):[0-5]\d)?",
    re.ASCII,
)
_DECADE = re.compile(r"(\d{3}0)['’]?s", re.ASCII)
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
"""The English days of the week in lower case, in the order of `date.weekday`."""
_DAY_S = 86_400
_LEAP_YEAR = 2000
_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


class Precision(IntEnum):
    """The precision of a date, from the least to the greatest."""

    DECADE = 0
    YEAR = 1
    MONTH = 2
    DAY = 3
    TIME = 4


@dataclass(frozen=True, slots=True)
class PartialDate:
    """A date of the proleptic Gregorian calendar.

    `seconds` counts from local midnight, `offset_min` is the UTC offset in minutes. `==` compares the fields exactly;
    questions use `compare`, which compares at the precision that both dates share.
    """

    year: int = field(repr=False)
    month: int | None = field(default=None, repr=False)
    day: int | None = field(default=None, repr=False)
    seconds: Decimal | None = field(default=None, repr=False)
    offset_min: int | None = field(default=None, repr=False)
    is_decade: bool = field(default=False, repr=False)

    def __post_init__(self) -> None:
        if self.month is not None and not 1 <= self.month <= 12:
            raise ValueError("no such month")
        if self.day is not None and not 1 <= self.day <= days_in(self.year, self.month or 0):
            raise ValueError("no such day")
        if self.seconds is not None and not 0 <= self.seconds <= _DAY_S:
            raise ValueError("no such time of day")

    @property
    def precision(self) -> Precision:
        if self.is_decade:
            return Precision.DECADE
        known = (self.month, self.day, self.seconds)
        return Precision(1 + next((index for index, part in enumerate(known) if part is None), 3))

    @property
    def instant(self) -> Decimal:
        """Seconds from year 0 to the start of the date, in UTC if the offset is known."""
        seconds = self.seconds or Decimal(0)
        return _days_before(self.year, self.month or 1, self.day or 1) * _DAY_S + seconds - 60 * (self.offset_min or 0)

    @property
    def lexical(self) -> str:
        """The canonical spelling: `1990s`, `1990`, `2020-03`, `2020-03-12`, `2020-03-12T10:30:00`."""
        sign = "-" if self.year < 0 else ""
        text = f"{sign}{abs(self.year):04d}" + ("s" if self.is_decade else "")
        text += "".join(f"-{part:02d}" for part in (self.month, self.day) if part is not None)
        if self.seconds is None:
            return text
        minutes, seconds = divmod(self.seconds, 60)
        padded = ("0" if seconds < 10 else "") + f"{seconds.normalize():f}"
        return f"{text}T{int(minutes) // 60:02d}:{int(minutes) % 60:02d}:{padded}{self._zone()}"

    def compare(self, other: PartialDate) -> int:
        """Returns -1, 0 or 1 for earlier, same or later, at the precision that both share: 1990 equals 1990-05-01."""
        shared = min(self.precision, other.precision)
        if shared is Precision.TIME and self.offset_min is not None and other.offset_min is not None:
            return _sign(self.instant - other.instant)
        mine, theirs = self._parts(shared), other._parts(shared)
        return (mine > theirs) - (mine < theirs)

    def _parts(self, precision: Precision) -> tuple[Decimal, ...]:
        if precision is Precision.DECADE:
            return (Decimal(self.year // 10),)
        known = (self.year, self.month, self.day, self.seconds)
        return tuple(Decimal(part or 0) for part in known[: int(precision)])

    def _zone(self) -> str:
        if self.offset_min is None:
            return ""
        if self.offset_min == 0:
            return "Z"
        hours, minutes = divmod(abs(self.offset_min), 60)
        return f"{'-' if self.offset_min < 0 else '+'}{hours:02d}:{minutes:02d}"


@dataclass(frozen=True, slots=True)
class YearlyDate:
    """A month, or a day of a month, of no stated year: "April", "18 April"."""

    month: int = field(repr=False)
    day: int | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.day is not None and not 1 <= self.day <= days_in(_LEAP_YEAR, self.month):
            raise ValueError("no such day")

    @property
    def lexical(self) -> str:
        """The canonical spelling: `April`, `18 April`."""
        return ("" if self.day is None else f"{self.day} ") + calendar.month_name[self.month]

    def compare(self, other: PartialDate) -> int:
        """Returns 0 if `other` is such a month or day in any year, else 1; dates without a month are unlike."""
        is_same = other.month == self.month and (self.day is None or other.day in (None, self.day))
        return 0 if is_same else 1

    def among(self, dates: Collection[PartialDate]) -> PartialDate | None:
        """Returns this date in the only year in which it lies among `dates`; None if it could be of several years.

        It lies among them from the first month of `dates` to the last. If it never does and all `dates` are of one
        year, it is of that year.
        """
        known = [(each.year, each.month or 1) for each in dates]
        if not known:
            return None
        first, last = min(known), max(known)
        years = [year for year in range(first[0], last[0] + 1) if first <= (year, self.month) <= last]
        years = years or list({first[0], last[0]})
        return self.of_year(years[0]) if len(years) == 1 else None

    def of_year(self, year: int) -> PartialDate | None:
        """Returns the date in that year; None for 29 February of another than a leap year."""
        return None if (self.day or 1) > days_in(year, self.month) else PartialDate(year, self.month, self.day)


def read_iso_date(text: str) -> PartialDate:
    """Returns the date in xsd:date, dateTime, gYear, gYearMonth or a decade (`1990s`). Raises ValueError."""
    decade = _DECADE.fullmatch(text)
    if decade:
        return PartialDate(int(decade[1]), is_decade=True)
    match = _ISO.fullmatch(text)
    if match is None:
        raise ValueError("not a date")
    year, month, day, hour, minute, second, zone = match.groups()
    seconds = None
    if hour is not None:
        if int(hour) > 24 or int(minute) > 59:
            raise ValueError("no such time of day")
        seconds = Decimal(int(hour) * 3600 + int(minute) * 60) + Decimal((second or "0").replace(",", "."))
    return PartialDate(int(year), int(month) if month else None, int(day) if day else None, seconds, _offset(zone))


def days_in(year: int, month: int) -> int:
    """Returns the number of days of a month; 0 if there is no such month.

    Leap years are those of the Gregorian calendar, also before it began.
    """
    if not 1 <= month <= 12:
        return 0
    return _DAYS[month - 1] + (month == 2 and calendar.isleap(year))


def _offset(zone: str | None) -> int | None:
    if zone is None:
        return None
    if zone in "Zz":
        return 0
    minutes = int(zone[1:3]) * 60 + int(zone[-2:])
    return -minutes if zone[0] == "-" else minutes


def _sign(number: Decimal) -> int:
    return (number > 0) - (number < 0)


def _days_before(year: int, month: int, day: int) -> Decimal:
    """Returns the number of days from 1 January of year 0 to a date; unlike datetime it works for any year."""
    before = year - 1
    leap_days = before // 4 - before // 100 + before // 400
    in_year = sum(days_in(year, earlier) for earlier in range(1, month))
    return Decimal(365 * year + leap_days + in_year + day)


def days_between(early: PartialDate, late: PartialDate) -> Decimal:
    """Returns the days from `early` to `late`, with four decimals if both have a time; negative if `late` is earlier.

    Both need a day (Precision.DAY).
    """
    if early.seconds is not None and late.seconds is not None:
        return round((late.instant - early.instant) / _DAY_S, 4)
    first, last = (_days_before(each.year, each.month or 1, each.day or 1) for each in (early, late))
    return last - first


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
ORDINAL = r"(?:st|nd|rd|th)"
_YEARLY = tuple(
    re.compile(pattern, re.IGNORECASE | re.ASCII)
    for pattern in (
        rf"(?P<d>\d{{1,2}}){ORDINAL}?(?:\s+of)?[\s-]+(?P<name>{MONTH})",
        rf"(?P<name>{MONTH})[\s-]+(?P<d>\d{{1,2}}){ORDINAL}?",
        rf"(?P<name>{MONTH})",
    )
)


def read_yearly_date(text: str) -> YearlyDate:
    """Returns a month, or a day of a month, without a year. Raises ValueError."""
    match = next((found for each in _YEARLY if (found := each.fullmatch(text.strip()))), None)
    if match is None:
        raise ValueError("not a date without a year")
    day = match.groupdict().get("d")
    return YearlyDate(month_of(match["name"]), int(day) if day else None)


def is_yearly(lexical: str) -> bool:
    """Returns True for a month, or a day of a month, without a year."""
    try:
        read_yearly_date(lexical)
    except ValueError:
        return False
    return True


def month_of(name: str) -> int:
    return _MONTHS.index(name.lower()[:3]) + 1
