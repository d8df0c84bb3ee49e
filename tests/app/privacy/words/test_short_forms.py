"""Tests of short forms that people type in a hurry."""

from __future__ import annotations

import pytest

from app.privacy.plain_wording import PlainWording, leads_nowhere, utc_today, words_of
from app.privacy.words.lexicon import Lexicon
from app.privacy.words.short_forms import in_full
from kg_store.names.index import NameEntry, NameIndex
from kg_store.names.name_words import NameWords
from kg_store.terms import ValueKind
from kg_store.text.english import PublicWords
from kg_store.text.literals import read_literal
from kg_store.text.notation import UNKNOWN, in_plain_notation, unclear_in


def reworded(text: str) -> str:
    found = [*in_full(text, words_of(text)), *in_plain_notation(text, UNKNOWN)]
    for each in sorted(found, key=lambda each: -each.start):
        text = text[: each.start] + each.instead + text[each.end :]
    return text


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("whats una's phone no", "what's una's phone number"),
        ("Whos got robe 41", "Who's got robe 41"),
        ("i cant see, and it wont do", "i can't see, and it won't do"),
        ("who havent we paid", "who haven't we paid"),
        ("job no for the pump", "job number for the pump"),
        ("who has member no M-170?", "who has member number M-170?"),
        ("what weve sent", "what we've sent"),
        ("who came in feb 25", "who came in feb 2025"),
        ("born in Nov 84", "born in Nov 1984"),
    ],
)
def test_short_forms_are_written_in_full(typed: str, read: str) -> None:
    assert reworded(typed) == read
    assert list(unclear_in(typed, UNKNOWN)) == []


@pytest.mark.parametrize(
    "typed",
    [
        "is there no boat",
        "boats with no engine",
        "yes or no?",
        "members no longer here",
        "boats with no engine in 2024",
        "is there no doctor no Eab3d5",
        "the Whoswood club",
        "on nov 24",
        "is lunch at the ward noon or one",
    ],
)
def test_other_words_stay_as_they_are(typed: str) -> None:
    assert reworded(typed) == typed


def test_a_day_of_no_year_is_one() -> None:
    assert read_literal("nov 24") == (ValueKind.DATE, "24 November")


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("who has six or more boats", "who has 6 or more boats"),
        ("who has a dozen boats", "who has 12 boats"),
        ("who lives at twelve wilows", "who lives at twelve wilows"),  # A name has the word: it may be misspelt here.
        ("who wrote Seven Hills", "who wrote Seven Hills"),
        ("who has two boats", "who has two boats"),
    ],
)
def test_numbers_in_words_are_figures_where_no_name_has_them(typed: str, read: str) -> None:
    names = NameIndex.build([NameEntry(1, "Twelve Willows", "name", None, True, True)]).with_public(PublicWords.of(()))
    lexicon = Lexicon(PublicWords.of(()), NameWords(parts=frozenset({"twelve", "willows"})))
    assert PlainWording(names, lexicon, utc_today, leads_nowhere).visible(typed).text == read
