"""Finds the words of time in a story, and reckons by how many days they lead on."""

from __future__ import annotations

import re
from typing import Final

from kg_store.text.dates import WEEKDAYS
from kg_store.text.number_expressions import value_of

_MONTHS: Final = (
    "january|february|march|april|may|june|july|august|september|october|november|december"  # "may" only with a day
)
_PART: Final = (
    "dawn|sunrise|morning|noon|midday|afternoon|dusk|sunset|evening|night|midnight|breakfast|lunch|dinner|supper"
)
_DAY: Final = "|".join(WEEKDAYS)
_LONG: Final = r"(?:day|weekend|week|fortnight|month|year|spring|summer|autumn|winter|hour|minute|moment)s?"
_COUNT: Final = (
    r"(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|several|some|many|a few|half an|\d+)"
)
_DATE: Final = r"\d{1,2}(?:st|nd|rd|th)?"
_HOUR: Final = r"(?:\d{1,2}(?:[:.]\d\d)?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_NAMED_MONTH: Final = _MONTHS.replace("|may", "")
_TIME: Final = re.compile(
    "|".join(
        (
            rf"\b{_COUNT} (?:{_LONG}|(?:{_PART}|{_DAY})s?) (?:later|afterwards?|after|before|earlier|ago)\b",
            r"\b(?:on )?(?:(?:the|that|this|early|late|very) )*"
            r"(?:next|following|same|previous|last|first|second|third) "
            rf"(?:very )?(?:{_LONG}|{_PART}|{_DAY}|{_MONTHS})\b(?: (?:{_PART})\b| of (?:{_MONTHS})\b)?",
            r"\bthe (?:day|morning|evening|night|week) (?:after|before)\b",
            rf"\b(?:(?:on|by|until|before|after|that|early|late|the|one) )*(?:{_DAY})\b(?: (?:{_PART})\b)?"
            rf"(?:,? (?:the )?{_DATE}\b)?",
            rf"\b(?:on |in |by |early |late |mid-)*(?:the )?{_DATE} (?:of )?(?:{_MONTHS})\b(?:,? \d{{4}}\b)?",
            rf"\b(?:on |in |by |early |late |mid-)*(?:{_NAMED_MONTH})\b(?: {_DATE}\b)?(?:,? \d{{4}}\b)?",
            r"\b(?:that|this|one|in the|by|at|towards?|around|before|after|(?:late|early) in the"
            r"|(?:later|early|late) that) "
            rf"(?:(?:same|early|late) )*(?:{_PART}|day|week|month|spring|summer|autumn|winter)\b",
            rf"\b(?:at|by|around|about|after|before|towards) (?:half past |(?:a )?quarter (?:past|to) )?{_HOUR}"
            r"(?: o['’]clock)?(?: (?:in the (?:morning|afternoon|evening)|at night|am|pm))?(?=[\s,.;])",
            r"\bin \d{4}\b|\b(?:yesterday|tomorrow)\b",
        )
    ),
    re.IGNORECASE,
)
_MOVES: Final = re.compile(
    rf"\b(?:next|following|later|after|afterwards|before|earlier|ago|{_DAY}|that (?:{_PART})|same (?:{_PART}|day)"
    rf"|{_MONTHS}|in \d{{4}}|by (?:{_PART}))\b",
    re.IGNORECASE,
)
_DAYS_IN: Final = {"day": 1, "week": 7, "month": 30, "year": 365}
_FEW: Final = 3
"""The days, weeks or months that "several" or "a few" are taken for. Chosen by hand."""


def times_in(text: str) -> list[re.Match[str]]:
    """Returns the words of time in a text, in its order."""
    return list(_TIME.finditer(text))


def moves_time(words: str) -> bool:
    """Returns True if words of time name another time than the one before: "the next day", not "at night"."""
    return _MOVES.search(words) is not None


def weekday_in(words: str) -> int | None:
    """Returns the day of the week that words of time name, Monday as 0; None if they name none."""
    return next((number for number, day in enumerate(WEEKDAYS) if day in words.lower()), None)


def days_on(when: str, before: str) -> int:
    """Returns by how many days words of time lead on from the ones before, as far as both tell."""
    said = when.lower()
    if counted := re.search(rf"({_COUNT}) (day|week|month|year)s? (later|after|before|earlier|ago)", said):
        number = value_of(counted[1].replace("a few", ""))
        days = int(number if number is not None else 1 if counted[1] in ("a", "an") else _FEW) * _DAYS_IN[counted[2]]
        return days if counted[3] in ("later", "after") else -days
    for word, days in _DAYS_IN.items():
        if re.search(rf"(?:next|following) {word}\b|the {word} after", said):
            return days
    if re.search(rf"(?:next|following) (?:{_PART})|tomorrow|the (?:morning|evening|night) after", said):
        return 1
    if re.search(r"the (?:day|night|evening|morning) before|previous|yesterday", said):
        return -1
    here, there = weekday_in(said), weekday_in(before)
    return 0 if here is None else 1 if there is None else (here - there) % 7
