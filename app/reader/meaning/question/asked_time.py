"""Reads the time that a question asks about: in 1957, since 1999, now, first, when X was born."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Final

from app.llm.in_house import AskedTime, TimeRelation

_PART: Final = (
    r"(?:(?:the|early|late|mid|middle|end|beginning|start|course|year|years|season|summer|winter|spring|autumn|fall"
    r"|month|day|decade|date|period|of)\s+)*"
)
_IN: Final = r"(?:as\s+of|back\s+in|in|during|on|at|for|by|around|throughout|within)\s+"
_NOW: Final = re.compile(
    r"\b(?:right\s+now|as\s+of\s+(?:now|today)|now|currently|today|nowadays|these\s+days|at\s+present"
    r"|at\s+the\s+moment|presently|present[- ]day|still|current)\b(?!['’])",
    re.IGNORECASE,
)
_PAST: Final = re.compile(r"\b(?:former|formerly|previous|previously|ex)\b[ -]", re.IGNORECASE)
_OF_FIRST: Final = (
    r"(?!\s+(?:names?|lad(?:y|ies)|aid|class|language|nations?|degree|minister|part|year|years|month|months|weeks?"
    r"|days?|decade|quarter|season|night|century)\b|(?:\s+\w+){1,2}\s+(?:years?|dates?|days?|months?)\b)"
)
_FIRST: Final = re.compile(
    rf"\b(?:very\s+)?(?:first|earliest)\b{_OF_FIRST}(?:\s+times?(?:\s+that)?\b)?", re.IGNORECASE
)
_LAST: Final = re.compile(
    rf"\b(?:very\s+)?(?:most\s+recent|last|latest|newest)\b{_OF_FIRST}(?:\s+times?(?:\s+that)?\b)?", re.IGNORECASE
)
_OF_TIMES: Final = re.compile(r"(?:\b(?:is|was|'s)\s+|['’]s\s+)?(?:\bfor\s+)?\bthe\s+\Z", re.IGNORECASE)
_WHEN: Final = (
    r"(?:at\s+the\s+time|by\s+the\s+time|on\s+the\s+day|in\s+the\s+year|the\s+day|the\s+year|when|while)"
    r"(?:\s+(?:that|when|in\s+which))?\s+(?:the\s+)?"
)
_EVENT: Final = re.compile(
    rf"(?<=\s){_WHEN}(?P<thing>[ES]\w{{5}})\s+(?P<verb>(?:(?:was|were|is|got|first|had|has|been)\s+)*[a-z]+"
    r"(?:\s+(?:out|up|off|on|place|in))?)\s*\??\Z",
    re.IGNORECASE,
)
_DURING: Final = re.compile(r"(?<=\s)(?:during|throughout|at\s+the\s+time\s+of)\s+(?:the\s+)?(?P<thing>[ES]\w{5})\b")
_OF_ONE: Final = re.compile(
    r"\bwho(?:m)?(?:\s+(?:is|was)|['’]?s)\s+(?:(?:the|a|an|in|head|leader)\b|[ES]\w{5}\b)"
    r"|\b(?:is|was|['’]s)\s+the\s+(?!\w+s\b)\w+\s+of\b",
    re.IGNORECASE,
)
"""Wordings that ask for the one holder of an office, such as "who is the head of"."""
_OF_DATE: Final = re.compile(r"\b(?:when|date|day|month|year|season|since\s+when|how\s+long)\b", re.IGNORECASE)


def asked_time(question: str, dates: Collection[str]) -> AskedTime | None:
    """Returns the time that `question` asks about; None if it names no time, or several.

    `dates`: the pseudonyms in the question that stand for dates.
    """
    found = _read(question, dates)
    if found is None:
        return None
    is_of_date = not found.is_stated and _OF_DATE.search(question) is not None
    return replace(found, is_of_one=_OF_ONE.search(question) is not None, is_of_date=is_of_date)


def _read(question: str, dates: Collection[str]) -> AskedTime | None:
    dated = next(_at_dates(question, dates), None) or _of_things(question)
    now = tuple(match.span() for match in _NOW.finditer(question))
    if dated is not None:
        # "The current governor in 2010" means the governor of 2010.
        return replace(dated, parts=(*dated.parts, *(part for part in now if not _within(part, dated.parts))))
    if now:
        return AskedTime("now", parts=now)
    past = tuple((match.start(), match.end()) for match in _PAST.finditer(question))
    if past:
        return AskedTime("past", parts=past)
    found = [
        AskedTime(relation, parts=(_whole(question, match),))
        for relation, pattern in _ENDS
        for match in pattern.finditer(question)
    ]
    return found[0] if len(found) == 1 else None


_ENDS: Final[tuple[tuple[TimeRelation, re.Pattern[str]], ...]] = (("first", _FIRST), ("last", _LAST))


def _at_dates(question: str, dates: Collection[str]) -> Iterator[AskedTime]:
    if not dates:
        return
    one = "|".join(map(re.escape, dates))
    patterns: tuple[tuple[TimeRelation, str], ...] = (
        (
            "at",
            rf"\b(?:between|from)\s+{_PART}(?P<one>{one})\s+(?:and|to|until|till|through|-)\s+{_PART}(?P<two>{one})",
        ),
        ("since", rf"\bfrom\s+{_PART}(?P<one>{one})\s+(?:on|onwards?)\b"),
        ("since", rf"\b(?:ever\s+)?(?:since|starting\s+in)\s+{_PART}(?P<one>{one})"),
        ("before", rf"\b(?:before|prior\s+to|earlier\s+than)\s+{_PART}(?P<one>{one})"),
        ("after", rf"\b(?:after|later\s+than)\s+{_PART}(?P<one>{one})"),
        ("until", rf"\b(?:until|till|up\s+to)\s+{_PART}(?P<one>{one})"),
        ("at", rf",?\s*\b{_IN}{_PART}(?P<one>{one})(?:\s+(?:season|term)\b)?"),
        ("at", rf"(?:\s+|,\s*)\(?(?P<one>{one})\)?(?=\s*[?.]?\s*\Z)"),
    )
    for relation, pattern in patterns:
        match = re.search(pattern, question, re.IGNORECASE)
        if match is not None:
            groups = match.groupdict()
            said = tuple(name for name in (groups["one"], groups.get("two")) if name)
            yield AskedTime(relation, said, parts=(match.span(),))


def _of_things(question: str) -> AskedTime | None:
    for pattern in (_EVENT, _DURING):
        match = pattern.search(question)
        if match is not None:
            return AskedTime(
                "at", thing=match["thing"], verb=match.groupdict().get("verb") or "", parts=(match.span(),)
            )
    return None


def _whole(question: str, match: re.Match[str]) -> tuple[int, int]:
    """Start and end of the words to remove: all of "is the last time" in "when is the last time they won"."""
    before = _OF_TIMES.search(question, 0, match.start()) if "time" in match[0].lower() else None
    return (before.start() if before else match.start()), match.end()


def _within(part: tuple[int, int], parts: Collection[tuple[int, int]]) -> bool:
    return any(start <= part[0] and part[1] <= end for start, end in parts)
