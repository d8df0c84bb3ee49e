"""Names as people type them: what is read as what, what stays a word, and which of several readings counts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kg_store.names.fuzzy_search import InexactNames
from kg_store.names.linker import EntityLinker
from kg_store.names.name_table import NameTable
from kg_store.names.name_words import EmphasisMarks
from kg_store.text.english import PublicWords, is_ordinary, stems
from kg_store.text.normalise import normalise
from kg_store.text.words import NearWords
from tests.support.corpus import Corpus
from tests.support.linking import index_of

NAMES: list[str] = Corpus.beside(__file__).sections["names"]["typed"]
PUBLIC = PublicWords.of(["date of birth", "lives in", "patient"])
INDEX = index_of(NAMES, ["date of birth", "lives in", "patient"])
LINKER = EntityLinker(INDEX)
READ_BEFORE = InexactNames(
    NameTable.of((normalise(name).text, (mid,)) for mid, name in enumerate(NAMES, start=1)), PUBLIC
)


def test_exact_beats_inexact_and_says_so() -> None:
    (mention,) = LINKER.find_mentions("who is Quillfeather")
    assert (mention.mids, mention.inexact) == ((12,), False)
    (mention,) = LINKER.find_mentions("who is Quilfeather")
    assert (mention.mids, mention.inexact) == ((12,), True)


def test_the_content_of_quotes_is_not_grown_out_of() -> None:
    text = 'what is in "Los Angeles" dodgers'
    assert [(m.mids, m.inexact) for m in LINKER.find_mentions(text)] == [((7,), False)]


def test_rare_words_of_a_name_are_found_on_request_where_nothing_is_named() -> None:
    assert LINKER.find_mentions("when did the dodgers win") == []
    assert [m.mids for m in LINKER.find_unmarked("when did the dodgers win", PUBLIC)] == [(8,)]
    assert LINKER.find_unmarked("when did friends win", PUBLIC) == []


def test_words_that_stand_for_nothing_end_a_name() -> None:
    assert [hit.mids for hit in INDEX.find_inexact("Thaddeus Eq7f2k Brockhurst", ["Eq7f2k"])] == [(1,), (1,)]
    assert INDEX.find_inexact("Brockhurst", ["Brockhurst"]) == []


def test_a_pseudonym_stands_for_no_initial() -> None:
    kings = index_of(("Tharold V",))
    assert [hit.end for hit in kings.find_inexact("is tharold vincent in")] == [18]
    hits = kings.find_inexact("is tharold Vq7f2k in", {"Vq7f2k"})
    assert [hit.end for hit in hits] == [10]


WORDS = ["brockhurst", "osterfurt", "quill", "anna", "ann", "x9yz1"]


@given(st.sampled_from(WORDS[:3]), st.data())
def test_every_word_with_one_slip_is_found(word: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(word) - 2))
    letter = data.draw(st.sampled_from("abcxyzé"))
    swapped = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    for written in (word[:at] + word[at + 1 :], word[:at] + letter + word[at:], swapped):
        assert NearWords.of(WORDS).near(written).get(WORDS.index(word), 9) <= 1


def test_ordinary_words_are_those_that_a_dictionary_writes_small() -> None:
    assert all(map(is_ordinary, ("house", "has", "patients", "married", "smith", "cities")))
    assert not any(map(is_ordinary, ("jamaica", "steelers", "obama", "brockhurst", "peter")))
    assert "stop" in stems("stopping")


PIECES = [
    "lives in", "Brockhurst", "is Brockhurst in", ":3,", "Eq7f2k", "what of Eq7f2k", "m smith", "M Smith",
    "\u201cnqtu\u201d", "\u200bx", "a  b", "Eq7f2k (person)", "Eq7f2k (Brockhurst)", "Eq7f2k (m. smith) Brockhurst",
    "Brockhurst (person)", "Eq7f2k Brockhurst (person)",
]  # fmt: skip


@given(st.lists(st.lists(st.sampled_from(PIECES), max_size=8).map('"'.join), max_size=4))
def test_what_was_read_before_changes_nothing_of_what_is_found(texts: list[str]) -> None:
    """Pieces between quotes are remembered where they hold no name, however they meet in other texts."""
    for text in texts:
        fresh = InexactNames(
            NameTable.of((normalise(name).text, (mid,)) for mid, name in enumerate(NAMES, start=1)), PUBLIC
        )
        assert READ_BEFORE.find(text, ["Eq7f2k"]) == fresh.find(text, ["Eq7f2k"])
        assert READ_BEFORE.find(text) == fresh.find(text)


# --- other scripts ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    ["who leads the house", 'is "the house" here', "The House has patients.", "st. smith's 12 houses", "m smith"],
)
def test_passing_over_everyday_words_changes_nothing(text: str) -> None:
    marks = EmphasisMarks.of(text)
    whole = INDEX.find_inexact(text, (), marks.is_marked)
    assert INDEX.find_inexact(text, (), marks.is_marked, marks.may_mark) == whole


@given(st.text("aB .'\"[]", max_size=30), st.integers(0, 30), st.integers(0, 30))
def test_what_is_marked_may_be_marked(text: str, start: int, end: int) -> None:
    marks = EmphasisMarks.of(text)
    if start < end <= len(text) and marks.is_marked(start, end):
        assert marks.may_mark(start, end)


def test_nothing_but_everyday_words_is_remembered_of_what_was_typed() -> None:
    names = InexactNames(NameTable.of([("brockhurst", (1,))]), PUBLIC)
    text = "has the house 843-48-1389 or b7 x9"
    names.find(text, (), lambda _start, _end: False, lambda _start, _end: False)
    assert names._dull
    assert all(map(str.isalpha, names._dull))
