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
from tests.support.linking import index_of

NAMES = {
    1: "Thaddeus Brockhurst",
    2: "Jörg Fährmann",
    3: "Conan O'Brien",
    4: "Anne-Marie Vossberg",
    5: "John Robert Quillfeather",
    6: "Ilse Quillfeather",
    7: "Los Angeles",
    8: "Los Angeles Dodgers",
    9: "Osterfurt",
    10: "North Quandary Trade Union",
    11: "Zamundia",
    12: "Quillfeather",
    13: "Martha Smith",
    14: "Rose",
    15: "Rose Wimblethorpe",
    16: "Barnaby & Friends",
    17: "Lord Grizzelpuff (film)",
}
PUBLIC = PublicWords.of(["date of birth", "lives in", "patient"])
INDEX = index_of(NAMES.values(), ["date of birth", "lives in", "patient"])
LINKER = EntityLinker(INDEX)
READ_BEFORE = InexactNames(NameTable.of((normalise(name).text, (mid,)) for mid, name in NAMES.items()), PUBLIC)

FORMS = [
    ("where does Thaddeus Brokchurst live", "Thaddeus Brokchurst", (1,)),
    ("where does thadeus brockhurst live", "thadeus brockhurst", (1,)),
    ("Who is Thadeus Brockhorst?", "Thadeus Brockhorst", (1,)),
    ("Who is Joerg Faehrmann?", "Joerg Faehrmann", (2,)),
    ("Who is joerg faehrmann?", "joerg faehrmann", (2,)),
    ("what of T. Brockhurst", "T. Brockhurst", (1,)),
    ("what of T Brockhurst", "T Brockhurst", (1,)),
    ("what of J. R. Quillfeather", "J. R. Quillfeather", (5,)),
    ("what of John Quillfeather", "John Quillfeather", (5,)),
    ("what of John X. Quillfeather", "John X. Quillfeather", (5,)),
    ("is Brockhurst in", "Brockhurst", (1,)),
    ("is brockhurst in", "brockhurst", (1,)),
    ("is Thaddeus in", "Thaddeus", (1,)),
    ("is Brockhurst, Thaddeus in", "Brockhurst, Thaddeus", (1,)),
    ("is Brockhurst's car red", "Brockhurst", (1,)),
    ("ask conan obrien", "conan obrien", (3,)),
    ("ask Conan O Brien", "Conan O Brien", (3,)),
    ("ask annemarie vossberg", "annemarie vossberg", (4,)),
    ("ask thaddeusbrockhurst", "thaddeusbrockhurst", (1,)),
    ("ask thaddeus_brockhurst", "thaddeus_brockhurst", (1,)),
    ("the Los Angeles Dogers", "Los Angeles Dogers", (8,)),
    ("who lives in osterfrt", "osterfrt", (9,)),
    ("who leads the nqtu", "nqtu", (10,)),
    ("what do Zamundians eat", "Zamundians", (11,)),
    ("is M. Smith in", "M. Smith", (13,)),
    ("is Smith, Martha in", "Smith, Martha", (13,)),
    ("who plays in barnaby and friends", "barnaby and friends", (16,)),
    ("who is in lord grizzelpuff", "lord grizzelpuff", (17,)),
]


@pytest.mark.parametrize(("text", "written", "mids"), FORMS)
def test_a_name_is_found_as_people_type_it(text: str, written: str, mids: tuple[int, ...]) -> None:
    assert [(text[m.start : m.end], m.mids) for m in LINKER.find_mentions(text)] == [(written, mids)]


@pytest.mark.parametrize(("text", "written", "mids"), FORMS)
def test_what_is_linked_is_seen_without_its_sentence(text: str, written: str, mids: tuple[int, ...]) -> None:
    """The guard has no capitals or neighbours to go by: the words themselves must be enough."""
    protected = [hit for hit in INDEX.find(written) if hit.protected and not hit.public]
    assert protected or [hit for hit in INDEX.find_inexact(written) if not hit.public and set(mids) <= set(hit.mids)]


@pytest.mark.parametrize(
    "text",
    [
        "what is the date of birth of the oldest patient",
        "who trades with friends of the north",
        "Jennifer Smith is not here",
        "Waldemar Brockhurst is a stranger",
        "is the smith there",
        "a rose is a rose",
        "he has a brother in the house",
        "Please show me the highest value in March.",
        "whcih one of tehm is the oldst",
        "osfurt",
    ],
)
def test_words_and_strangers_are_no_mentions(text: str) -> None:
    assert LINKER.find_mentions(text) == []


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


def test_an_index_without_public_words_guesses_nothing() -> None:
    assert index_of(("Osterfurt",), public=None).find_inexact("osterfrt") == []


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
        fresh = InexactNames(NameTable.of((normalise(name).text, (mid,)) for mid, name in NAMES.items()), PUBLIC)
        assert READ_BEFORE.find(text, ["Eq7f2k"]) == fresh.find(text, ["Eq7f2k"])
        assert READ_BEFORE.find(text) == fresh.find(text)


# --- other scripts ---------------------------------------------------------------------------------------------

FOREIGN = {
    1: "राजेश खन्ना",
    2: "นภาพร แก้วมณี",
    3: "عبد الرحمن الصوفي",
    4: "דוד לוינסקי",
    5: "Анна Каренина",
    6: "王小明",
    7: "Zorban Field",
    8: "Smilla Sandvik",
}
FOREIGN_INDEX = index_of(FOREIGN.values(), ["date of birth", "lives in", "patient"])


@pytest.mark.parametrize(
    ("text", "span", "mid"),
    [
        ("who is खन्ना?", "खन्ना", 1),
        ("who is खन्ना राजेश?", "खन्ना राजेश", 1),
        ("who is राजेशखन्ना?", "राजेशखन्ना", 1),
        ("who is นภาพร?", "นภาพร", 2),
        ("คุณนภาพรอยู่ที่ไหน", "นภาพร", 2),
        ("who is นภาพรแก้วมณี?", "นภาพรแก้วมณี", 2),
        ("who is وعبد الرحمن الصوفي?", "وعبد الرحمن الصوفي", 3),
        ("who is للصوفي?", "للصوفي", 3),
        ("who is عبـد الرحمن?", "عبـد الرحمن", 3),
        ("who is לדוד לוינסקי?", "לדוד לוינסקי", 4),
        ("who is דָוִד לוינסקי?", "דָוִד לוינסקי", 4),
        ("who is анны карениной?", "анны карениной", 5),
        ("who is 王 小 明?", "王 小 明", 6),
        ("who is zorban fieldさん", "zorban field", 7),
        ("is zorb field in", "zorb field", 7),
        ("how old is smilla s.", "smilla", 8),
    ],
)
def test_names_of_other_scripts_and_beside_them_are_read(text: str, span: str, mid: int) -> None:
    found = EntityLinker(FOREIGN_INDEX).find_mentions(text)
    assert [(text[each.start : each.end], each.mids) for each in found] == [(span, (mid,))]


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
