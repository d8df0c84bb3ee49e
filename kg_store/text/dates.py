"""Dates as precise as they were written, from a decade to a time of day, and how to compare them."""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass, field
from decimal import Decimal
from enum import IntEnum

_ISO = re.compile(
    r"(-?\d{4,9})(?:-(\d\d)(?:-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d(?:[.,]\d{1,12})?))?)?)?)?"
    r"(Z|z|[+-](?:0\d|1[0-4]):[0-5]\d)?",
    re.ASCII,
)
_DECADE = re.compile(r"(\d{3}0)['’]?s", re.ASCII)
_DAY_S = 86_400
_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


class Precision(IntEnum):
    """The precision of a date, from least to most."""

    DECADE = 0
    YEAR = 1
    MONTH = 2
    DAY = 3
    TIME = 4


@dataclass(frozen=True, slots=True)
class PartialDate:
    """A date of the proleptic Gregorian calendar; `seconds` counts from local midnight, `offset_min` is the UTC
    offset.

    `==` compares the fields exactly; questions use `compare`, which uses the precision that both dates share.
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
        """Seconds from year 0 to the start of the date, in UTC if the offset is known; orders dates of mixed
        precision.
        """
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


def read_iso_date(text: str) -> PartialDate:
    """Reads xsd:date, dateTime, gYear, gYearMonth, and decades (`1990s`). Raises ValueError on anything else."""
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
    return PartialDate(int(year), _int(month), _int(day), seconds, _offset(zone))


def days_in(year: int, month: int) -> int:
    """Returns the number of days of a month, with Gregorian leap years in every year; 0 if there is no such month."""
    if not 1 <= month <= 12:
        return 0
    return _DAYS[month - 1] + (month == 2 and calendar.isleap(year))


def _int(digits: str | None) -> int | None:
    return None if digits is None else int(digits)


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
    """The number of days from 1 January of year 0 to a date; unlike datetime it works for any year."""
    before = year - 1
    leap_days = before // 4 - before // 100 + before // 400
    in_year = sum(days_in(year, earlier) for earlier in range(1, month))
    return Decimal(365 * year + leap_days + in_year + day)
