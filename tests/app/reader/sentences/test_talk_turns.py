"""Turns that ask what was talked about, the days that they mean, and the replies."""

from __future__ import annotations

import datetime as dt

import pytest

from app.language.readings import DatedStatement, MemoryReply, MemoryTurn
from app.reader.sentences.memory_turns import EnglishMemory

TODAY = dt.date(2026, 12, 1)
"""A Tuesday."""
READ = EnglishMemory()


@pytest.mark.parametrize(
    ("text", "turn"),
    [
        ("What did we talk about last Tuesday?", MemoryTurn("talk", when="last Tuesday")),
        ("what did we last talk about?", MemoryTurn("talk")),
        ("Who did we speak of yesterday?", MemoryTurn("talk", when="yesterday")),
        ("When did we last speak of Rose?", MemoryTurn("talk", about="Rose")),
        ("When have we spoken about Rose last?", MemoryTurn("talk", about="Rose")),
        ("When did Rose speak?", None),
        ("What did Rose talk about last Tuesday?", None),
        ("When did we sell the boat?", None),
        ("Who did we speak to in Ghent?", None),
    ],
)
def test_a_turn_is_read(text: str, turn: MemoryTurn | None) -> None:
    assert READ.read_turn(text) == turn


@pytest.mark.parametrize(
    ("when", "first", "last"),
    [
        ("last Tuesday", "2026-11-24", "2026-11-24"),
        ("on Monday", "2026-11-30", "2026-11-30"),
        ("yesterday", "2026-11-30", "2026-11-30"),
        ("last week", "2026-11-23", "2026-11-29"),
        ("last month", "2026-11-01", "2026-11-30"),
        ("on 24 November", "2026-11-24", "2026-11-24"),
        ("on the 24th of December", "2025-12-24", "2025-12-24"),
    ],
)
def test_words_of_time_mean_past_days(when: str, first: str, last: str) -> None:
    assert READ.days_of(when, TODAY) == (dt.date.fromisoformat(first), dt.date.fromisoformat(last))


def test_words_that_mean_no_day_mean_none() -> None:
    assert READ.days_of("in the garden", TODAY) is None
    assert READ.days_of("on 31 November", TODAY) is None


def test_a_reply_tells_days() -> None:
    told = (DatedStatement("Rose and Bo", TODAY), DatedStatement("Ann", dt.date(2025, 11, 24)))
    said = READ.word_reply(MemoryReply("talked", TODAY, told, 3))
    assert said == (
        "Today we spoke of Rose and Bo. On 24 November 2025 we spoke of Ann. These are the latest 2 of 3 days."
    )
    last = READ.word_reply(MemoryReply("talked", TODAY, told[1:], 1, "Rose"))
    assert last == "We last spoke of Rose on 24 November 2025."
    assert READ.word_reply(MemoryReply("talked", TODAY)) == "I do not remember that we spoke of anything then."
