"""Says amounts in the units of the schema, and dates by the calendar, before anything else reads a question."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator

from app.privacy.visible_text import Visible
from app.privacy.words.lexicon import Lexicon
from kg_store.names.index import NameIndex
from kg_store.names.name_markup import EmphasisMarks
from kg_store.terms import ValueKind
from kg_store.text.numbers.quantities import Rewording, in_schema_units
from kg_store.text.numbers.relative_dates import by_calendar

Today = Callable[[], dt.date]
"""Gives the day by which dates such as "last week" are said."""


def utc_today() -> dt.date:
    return dt.datetime.now(dt.UTC).date()


class PlainWording:
    """Nothing that a name or text value of the graph holds is said in other words."""

    def __init__(self, names: NameIndex, lexicon: Lexicon, today: Today) -> None:
        self._names, self._lexicon, self._today = names, lexicon, today

    def visible(self, typed: str) -> Visible:
        """The typed text in plain words."""
        visible = Visible.of_typed(typed)
        text = visible.text
        said = [*self._dates(text), *in_schema_units(text, self._lexicon.units)]
        hits = self._names.find(text) if said else ()
        taken = [(hit.start, hit.end) for hit in hits if hit.kind == "name" or hit.value_kind is ValueKind.TEXT]
        kept: list[Rewording] = []
        for each in said:
            if not _is_over(each, taken):
                kept.append(each)
                taken.append((each.start, each.end))
        kept.sort(key=lambda each: each.start)
        return visible.reworded((each.start, each.end, each.instead) for each in kept) if kept else visible

    def _dates(self, text: str) -> list[Rewording]:
        """Without those that the text marks as names, and those that are words of the schema."""
        said = by_calendar(text, self._today())
        if not said:
            return []
        marks = EmphasisMarks.of(text)
        own = [place for words in self._lexicon.periods for place in _places_of(words, text)]
        return [each for each in said if not (marks.may_mark(each.start, each.end) or _is_over(each, own))]


def _is_over(said: Rewording, spans: list[tuple[int, int]]) -> bool:
    return any(said.start < end and start < said.end for start, end in spans)


def _places_of(words: str, text: str) -> Iterator[tuple[int, int]]:
    return (match.span() for match in re.finditer(rf"\b{re.escape(words)}\b", text, re.IGNORECASE))
