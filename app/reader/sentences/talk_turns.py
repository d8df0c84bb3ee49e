"""Reads the turns that ask for what was talked about and when, and words the replies."""

from __future__ import annotations

import datetime as dt
import re
from typing import Final

from app.language.readings import DatedStatement, MemoryReply, MemoryTurn
from kg_store.text.dates import WEEKDAYS, month_of
from kg_store.text.relative_dates import by_calendar
from kg_store.text.words import is_pseudonym

_OPENING: Final = r"\W*(?:(?:ok|okay|please|and|also|so|can you tell me|do you remember)[ ,:]+)*"
_SPEAK: Final = r"(?:talk|speak|chat|discuss|talked|spoken|spoke)"
_OF: Final = r"(?: (?:of|about|on))?"
_WHAT: Final = re.compile(
    rf"{_OPENING}(?:what|who(?:m)?) (?:did|have|were) (?:we|i) (?:last )?(?:{_SPEAK}|talking|speaking){_OF}"
    r"(?:,? (?P<when>\S.*?))?\W*",
    re.IGNORECASE,
)
_WHEN: Final = re.compile(
    rf"{_OPENING}when (?:did|have) (?:we|i) (?:last )?{_SPEAK}{_OF} (?P<about>\S.*?)(?: last)?\W*", re.IGNORECASE
)
_WEEKDAY: Final = re.compile(rf"(?:(?:on|last|this|past) )*({'|'.join(WEEKDAYS)})", re.IGNORECASE)
_DATE: Final = re.compile(r"(?:on )?(?:the )?(\d{1,2})(?:st|nd|rd|th)?(?: of)? ([a-z]+)", re.IGNORECASE)
_ISO: Final = re.compile(r"\d{4}-\d\d(?:-\d\d)?")


def read_talk_turn(text: str) -> MemoryTurn | None:
    """Returns the turn if it asks for what was talked about, or when something last was; None otherwise."""
    if found := _WHEN.fullmatch(text):
        return MemoryTurn("talk", about=found["about"])
    found = _WHAT.fullmatch(text)
    return MemoryTurn("talk", when=found["when"] or "") if found and _may_be_time(found["when"] or "") else None


def _may_be_time(words: str) -> bool:
    """Returns True for words of time, also with a stand-in for a date; any day does as today."""
    return not words or days_of(words, dt.date(2000, 1, 1)) is not None or any(map(is_pseudonym, words.split()))


def days_of(when: str, today: dt.date) -> tuple[dt.date, dt.date] | None:
    """Returns the first and last day that words of time mean; None if they mean none. Weekdays are past ones."""
    if weekday := _WEEKDAY.fullmatch(when):
        back = (today.weekday() - WEEKDAYS.index(weekday[1].lower()) - 1) % 7 + 1
        return (today - dt.timedelta(days=back),) * 2
    if date := _DATE.fullmatch(when):
        return _past_day(int(date[1]), date[2], today)
    said = next((each.instead for each in by_calendar(f"we talked {when}", today)), when)
    days = _ISO.findall(said)
    if not days:
        return None
    first, last = (dt.date.fromisoformat(day if len(day) > 7 else f"{day}-01") for day in (days[0], days[-1]))
    if len(days[-1]) == 7:
        last = (last + dt.timedelta(days=31)).replace(day=1) - dt.timedelta(days=1)
    return first, last


def _past_day(day: int, month: str, today: dt.date) -> tuple[dt.date, dt.date] | None:
    try:
        found = dt.date(today.year, month_of(month.lower()), day)
        return (found if found <= today else found.replace(year=today.year - 1),) * 2
    except (KeyError, ValueError):
        return None


def word_talk(reply: MemoryReply) -> str:
    """Returns the sentences of a reply that says of what was spoken, by days; of `about` only the last day."""
    if reply.about:
        last = next(iter(reply.statements), None)
        named = reply.about
        return (
            f"We last spoke of {named} {_on(last, reply.today)}."
            if last
            else f"I do not remember speaking of {named}."
        )
    told = [f"{_capital(_on(each, reply.today))} we spoke of {each.text}." for each in reply.statements]
    more = [f"These are the latest {len(told)} of {reply.total} days."] if reply.total > len(told) > 0 else []
    return " ".join([*told, *more]) or "I do not remember that we spoke of anything then."


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _on(told: DatedStatement, today: dt.date) -> str:
    if told.day == today:
        return "today"
    year = "" if told.day.year == today.year else f" {told.day.year}"
    return f"on {told.day.day} {told.day:%B}{year}"
