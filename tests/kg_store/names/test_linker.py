"""Mentions of entities and values in what users type: longest first, public words only where marked."""

from __future__ import annotations

import random
from collections.abc import Collection

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.scale.made_up import entries_of, made_names
from kg_store.names.fuzzy_search import Fits, InexactHit
from kg_store.names.index import NameEntry, NameIndex
from kg_store.names.linker import EntityLinker
from kg_store.names.other_forms import Mention, find_near_spans, masked
from kg_store.terms import ValueKind
from kg_store.text.english import PublicWords
from tests.support.linking import linked, linker_of, named, valued

pytestmark = pytest.mark.slow

NAMES = {
    1: "Rose",
    2: "Rose Miller",
    3: "Anna Schmidt",
    4: "The Office",
    5: "Hope",
    6: "Schmidt",
    7: "O’Neil",
    8: "王小明",
    9: "Rose",
    10: "1984",
    11: "Who",
    12: "St. Mary's Hospital",
    13: "New York",
    14: "York Minster",
    15: "Best of the Best",
    16: "Zoë",
    17: "Boeing 747",
}
VALUES = {
    20: ("2020-03-12", ValueKind.DATE),
    21: ("-120", ValueKind.NUMBER),
    22: ("120.0", ValueKind.NUMBER),
    23: ("123-45-6789", ValueKind.TEXT),
    24: ("1984", ValueKind.DATE),
    25: ("1990", ValueKind.NUMBER),
    26: ("45", ValueKind.NUMBER),
    27: ("Zoë", ValueKind.TEXT),
    28: ("red", ValueKind.TEXT),
    29: ("Penicillin G", ValueKind.TEXT),
    30: ("747", ValueKind.NUMBER),
    31: ("unknown range", ValueKind.NUMBER),
}


def whole() -> EntityLinker:
    entries = [named(mid, name) for mid, name in NAMES.items()]
    entries += [valued(mid, text, kind) for mid, (text, kind) in VALUES.items()]
    entries += [NameEntry(40, "Guarded Only", "name", None, linkable=False, protected=True)]
    return EntityLinker(NameIndex.build(entries).with_public(PUBLIC))


PUBLIC = PublicWords.of(["best of the best", "the office"])
LINKER = whole()

QUOTED = ('"rose"', "'rose'", "‘rose’?", "“rose”", "„rose“", "«rose»", "「rose」", "`rose`", "[rose]")
LINKED: list[tuple[str, list[tuple[str, tuple[int, ...]]]]] = [
    # entities, however they are written
    ("who is anna schmidt", [("anna schmidt", (3,))]),
    ("ANNA SCHMIDT?", [("ANNA SCHMIDT", (3,))]),
    ("Anna Schmidt's doctor", [("Anna Schmidt", (3,))]),
    ("Anna Schmidt’s doctor", [("Anna Schmidt", (3,))]),
    ("anna_schmidt and Anna–Schmidt", [("anna_schmidt", (3,)), ("Anna–Schmidt", (3,))]),
    ("o'neil or O`NEIL", [("o'neil", (7,)), ("O`NEIL", (7,))]),
    ("我认识王小明吗", [("王小明", (8,))]),
    ("mail schmidt@example.org", [("schmidt", (6,))]),
    ("“Anna Schmidt”, (Schmidt)", [("Anna Schmidt", (3,)), ("Schmidt", (6,))]),
    ("Annabel Schmidtke", []),
    ("guarded only", []),
    ("", []),
    # the longest wins, then the leftmost
    ("rose miller", [("rose miller", (2,))]),
    ("anna schmidt schmidt", [("anna schmidt", (3,)), ("schmidt", (6,))]),
    ("new york minster", [("york minster", (14,))]),
    ("[new york] minster", [("new york", (13,))]),
    ("[new york minster]", [("york minster", (14,))]),
    ("st. mary's hospital's wards", [("st. mary's hospital", (12,))]),
    ("Boeing 747 and 747", [("Boeing 747", (17,)), ("747", (30,))]),
    # a shared name gives all of its entities
    ("is Rose here", [("Rose", (1, 9))]),
    # public words: only where marked
    ("who is rose", []),
    ("what is hope", []),
    ("Rose is here", []),
    ("Hope", []),
    ("We met. Rose left", []),
    ("List:\nRose", []),
    ("Question: Hope for what?", []),
    ("WHO IS ROSE", []),
    ("Who Is Rose", []),
    ("Where Does Rose Work", []),
    ("Find Rose", [("Rose", (1, 9))]),
    ("Who is Rose?", [("Rose", (1, 9))]),
    ("Who is Rose's doctor?", [("Rose", (1, 9))]),
    ("Dr. Rose left", [("Rose", (1, 9))]),
    ("We met J. Rose there", [("Rose", (1, 9))]),
    ("Rose Hope left", [("Rose", (1, 9)), ("Hope", (5,))]),
    ("Does Hope know Rose", [("Hope", (5,)), ("Rose", (1, 9))]),
    ("is ROSE here", [("ROSE", (1, 9))]),
    *((f"who is {said}", [("rose", (1, 9))]) for said in QUOTED),
    ("who is “rose,” then", [("rose", (1, 9))]),
    ("he said “there is hope for us”", []),
    ("the boys' rose and the girls' hope", []),
    ("don't and can't hide rose", []),
    ("who is rose [new york]", [("new york", (13,))]),
    # public phrases
    ("who is in the office", []),
    ("who is in The Office", [("The Office", (4,))]),
    ("who is in the Office", [("the Office", (4,))]),
    ("The Office is what?", [("The Office", (4,))]),
    ("is Best of the Best good", [("Best of the Best", (15,))]),
    ("is Best of the best good", [("Best of the best", (15,))]),
    ("I'm in I’ll", []),
    # values
    ("born on 12 March 2020", [("12 March 2020", (20,))]),
    ("born on 2020-03-12.", [("2020-03-12", (20,))]),
    ("in March 2020", []),
    ("-120 or 120 or 120.00", [("-120", (21,)), ("120", (22,)), ("120.00", (22,))]),
    ("ssn 123-45-6789", [("123-45-6789", (23,))]),
    ("ssn 123 45 6789", [("123 45 6789", (23,))]),
    ("in 1984", [("1984", (10,))]),
    ("in 1990", [("1990", (25,))]),
    ("older than 45", []),
    ("who has penicillin g", [("penicillin g", (29,))]),
    ("has Zoë", [("Zoë", (16,))]),
    ("it is red", []),
    ("it is [red]", [("red", (28,))]),
    ("of unknown range", [("unknown range", (31,))]),
]


@pytest.mark.parametrize(("text", "expected"), LINKED)
def test_mentions_are_linked(text: str, expected: list[tuple[str, tuple[int, ...]]]) -> None:
    mentions = LINKER.find_mentions(text)
    assert [(text[mention.start : mention.end], mention.mids) for mention in mentions] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("what is there in hope", ["hope"]),
        ("what of rose's hope", ["rose", "hope"]),
        ("who is in the office", []),
        ("What is there in hope", []),
        ("it is red", []),
    ],
)
def test_unmarked_public_words_are_found_on_request(text: str, expected: list[str]) -> None:
    mentions = LINKER.find_unmarked(text, PUBLIC)
    assert [text[mention.start : mention.end] for mention in mentions] == expected


def test_mention_of_a_value_says_its_kind_and_an_entity_none() -> None:
    mentions = LINKER.find_mentions("Anna Schmidt, 12 March 2020, 123-45-6789, 1990, Zoë")
    assert [mention.value_kind for mention in mentions] == [
        None,
        ValueKind.DATE,
        ValueKind.TEXT,
        ValueKind.NUMBER,
        None,
    ]


def test_same_spelling_of_two_marks_joins_all_nodes() -> None:
    entries = [
        NameEntry(5, "Karl", "name", None, linkable=True, protected=True),
        NameEntry(2, "karl", "name", None, linkable=True, protected=False),
    ]
    (mention,) = EntityLinker(NameIndex.build(entries)).find_mentions("Karl")
    assert mention.mids == (2, 5)


def test_nothing_of_a_mention_shows_in_its_repr() -> None:
    (mention,) = LINKER.find_mentions("Anna Schmidt")
    assert repr(mention) == "Mention(start=0, end=12, value_kind=None, inexact=False)"


PIECES = st.sampled_from(
    [
        *(" ", " ", ". ", "? ", "\n", "[", "]", '"', "'", "“", "”", "'s", "who is", "The", "-", "\u200b"),
        *NAMES.values(),
    ]
    + [text for text, _ in VALUES.values()]
)


@given(st.lists(PIECES, max_size=14).map("".join))
def test_mentions_stand_in_order_and_never_overlap(text: str) -> None:
    mentions = LINKER.find_mentions(text)
    ends = [0, *(mention.end for mention in mentions)]
    assert all(before <= mention.start < mention.end for before, mention in zip(ends, mentions, strict=False))
    assert all(mention.mids == tuple(sorted(set(mention.mids))) for mention in mentions)


@given(st.sampled_from([name for mid, name in NAMES.items() if mid in (3, 6, 7, 12, 13, 14, 17)]), st.booleans())
def test_names_that_are_not_public_need_no_capital(name: str, with_capital: bool) -> None:
    text = f"tell me about {name if with_capital else name.lower()}, please"
    (mention,) = LINKER.find_mentions(text)
    assert mention == Mention(14, 14 + len(name), mention.mids, None)


@pytest.mark.parametrize(
    ("text", "mid"),
    [
        ("since the twelfth of march twenty twenty", 20),
        ("since 12 marzo 2020 there", 20),
        ("who has minus one hundred and twenty there", 21),
        ("who has hundertzwanzig there", 22),
        ("born in nineteen eighty-four there", 24),
        ("born in MCMLXXXIV there", 24),
        ("born in ①⑨⑨⓪ there", 25),
        ("there are nineteen hundred and ninety of them", 25),
    ],
)
def test_values_are_found_by_what_words_and_other_figures_mean(text: str, mid: int) -> None:
    assert mid in {each for mention in LINKER.find_mentions(text) for each in mention.mids}


def test_small_numbers_in_words_name_no_value_as_in_figures() -> None:
    assert LINKER.find_mentions("who has forty-five there") == LINKER.find_mentions("who has 45 there") == []


MANY_NAMES = made_names(2_000)
INDEX = NameIndex.build(entries_of(MANY_NAMES)).with_public(PublicWords.of(("treated by", "lives in")))


def slip(word: str, dice: random.Random) -> str:
    at = dice.randrange(1, max(2, len(word) - 1))
    return word[:at] + dice.choice("aeiourtn") + word[at + 1 :]


def near_text(seed: int, names: int) -> str:
    dice = random.Random(seed)
    words = (
        slip(word, dice) if dice.random() < 0.7 else word
        for name in dice.sample(MANY_NAMES, names)
        for word in name.split()
    )
    return " ".join(words).lower()


def read_until_nothing_is_found(text: str, skip: Collection[str] = ()) -> list[tuple[int, int]]:
    """The same, all of the text read anew each time."""
    found: list[tuple[int, int]] = []
    while True:
        hits = [hit for hit in INDEX.find_inexact(masked(text, found), skip) if not hit.public]
        if not hits:
            return sorted(found)
        covered = bytearray(len(text))
        for hit in sorted(hits, key=lambda hit: (hit.start - hit.end, hit.start)):
            if not any(covered[hit.start : hit.end]):
                found.append((hit.start, hit.end))
                covered[hit.start : hit.end] = b"\x01" * (hit.end - hit.start)


def hits_left(text: str, found: list[tuple[int, int]]) -> list[InexactHit]:
    return [hit for hit in INDEX.find_inexact(masked(text, found)) if not hit.public]


@pytest.mark.parametrize("seed", range(40))
def test_what_is_found_covers_what_reading_again_and_again_finds(seed: int) -> None:
    text = near_text(seed, 1 + seed % 12)
    covered = bytearray(len(text))
    found = find_near_spans(INDEX, text, ())
    for start, end in found:
        assert not any(covered[start:end])
        covered[start:end] = b"\x01" * (end - start)
    assert all(all(covered[start:end]) for start, end in read_until_nothing_is_found(text))
    assert not hits_left(text, found)


def test_spans_that_are_taken_are_not_found_again_and_hide_what_stands_in_them() -> None:
    text = f"{MANY_NAMES[0]} and {MANY_NAMES[1]}"
    both = find_near_spans(INDEX, text, ())
    assert len(both) >= 2
    assert find_near_spans(INDEX, text, both) == []
    assert find_near_spans(INDEX, text, both[:1]) == both[1:]


def test_a_skipped_word_stands_for_nothing() -> None:
    family = MANY_NAMES[0].split()[-1]
    assert find_near_spans(INDEX, family, ()) == [(0, len(family))]
    assert find_near_spans(INDEX, family, (), {family}) == []


@pytest.mark.parametrize("seed", range(30))
def test_what_was_found_in_other_texts_of_a_request_changes_nothing(seed: int) -> None:
    text = near_text(seed, 2 + seed % 9)
    fits: Fits = {}
    texts = (text, text[len(text) // 3 :], text.title(), masked(text, [(len(text) // 2, len(text) // 2 + 4)]))
    for each in (*texts, *texts):
        assert INDEX.find_inexact(each, fits=fits) == INDEX.find_inexact(each)
        assert find_near_spans(INDEX, each, (), (), fits) == find_near_spans(INDEX, each, ())


# --- a few names each, and what a text says of them -------------------------------------------------------------

PLIMSOLLS = ("Ada Plimsoll", "Ivo Plimsoll")
OFFICES = ("Governor of Zamundia", "Zamundia")
ZILMERS = ("Ann Zilmer", "Bo Zilmer")
MUSIC = ("Guitar", "Bass Guitar", "Arizona", "Governor of Arizona")
THINGS = ("Vowel Length in Connacht Irish", "Anna Lindqvist", "Fleets of Wexford")
LANGUAGES = {4: "Irish", 5: "Lindqvist"}
INSURANCES = ("Palisander Insurance", "Garden Insurance", "Tamarisk Fund", "Tamarisk Mutual")
GRANTS = ("Winter Travel Grant", "Hollis Prize Grant", "Rector's Grant")
STATES = {9: "lost", 10: "open"}
US = ("Tilda Bron", "United States of America")
Few = tuple[tuple[str, ...], dict[int, str], str, dict[str, tuple[int, ...]]]
FEW: list[Few] = [
    # equally good readings are all given
    (PLIMSOLLS, {}, "is Plimsoll here", {"Plimsoll": (1, 2)}),
    (PLIMSOLLS, {}, "is Ivo Plimsol here", {"Ivo Plimsol": (2,)}),
    # a name inside a longer one is kept where nothing is marked
    (OFFICES, {}, "who is the governor of zamundia now", {"governor of zamundia": (1, 2)}),
    (OFFICES, {}, "Who is the Governor of Zamundia now?", {"Governor of Zamundia": (1,)}),
    # a part of several names that says what things are is no mention; a name is, however much of it says so
    (GRANTS, STATES, "how many students are on a grant", {}),
    (GRANTS, STATES, "grants paying more", {}),
    (GRANTS, STATES, "who has no grant", {}),
    (GRANTS, STATES, "who has the winter travel grant", {"winter travel grant": (1,)}),
    (GRANTS, STATES, "who has the travel grant", {"travel grant": (1,)}),
    (GRANTS, STATES, "Hollis Prize Grant", {"Hollis Prize Grant": (2,)}),
    # a noun that a longer name ends in is not meant by it, and one that is joined to it may be
    (MUSIC, {}, "who plays bass guitar", {"bass guitar": (2,)}),
    (MUSIC, {}, "who is governor of arizona", {"governor of arizona": (3, 4)}),
    # a whole value goes before a word of a title, and not before the last word of a person's name
    (THINGS, LANGUAGES, "Who knows Irish here?", {"Irish": (4,)}),
    (THINGS, LANGUAGES, "Who knows Lindqvist here?", {"Lindqvist": (2,)}),
    (THINGS, LANGUAGES, "Who knows Wexford here?", {"Wexford": (3,)}),
    # a family is a mention of all who bear its name
    (ZILMERS, {}, "where do the zilmers live", {"zilmers": (1, 2)}),
    (ZILMERS, {}, "how many zilmers are there", {}),
    # a word that nobody asks with names the one thing that bears it; people ask with gardens
    (INSURANCES, {}, "Palisander patients that are not in Zilmborough", {"Palisander": (1,)}),
    (INSURANCES, {}, "palisander patients", {"palisander": (1,)}),
    (INSURANCES, {}, "Garden patients in Quillmore", {}),
    (INSURANCES, {}, "tamarisk patients", {}),
    # the letter behind an apostrophe is no name
    (("S",), {}, "Who is Anna's or Zoë’s doctor?", {}),
    (("S",), {}, "Who directed S?", {"S": (1,)}),
    # a country in short is told from us
    (US, {}, "who led the us in 1944", {"us": (2,)}),
    (US, {}, "who led the USA then", {"USA": (2,)}),
    (US, {}, "who of us was there", {}),
]


@pytest.mark.parametrize(("names", "texts", "text", "found"), FEW, ids=[few[2] for few in FEW])
def test_a_text_names_these_of_a_few(
    names: tuple[str, ...], texts: dict[int, str], text: str, found: dict[str, tuple[int, ...]]
) -> None:
    assert linked(linker_of(names, ["opened on", "open", "patients", "about us"], texts), text) == found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("How many dogs do we have?", ["dogs"]),
        ("how many dogs do we have", ["dogs"]),
        ("How many Dogs do we have?", []),
        ("Is there a dog?", []),
        ("How many species are there?", []),
        ("How many zoltans do we have?", []),
    ],
)
def test_plurals_of_everyday_words_name_what_is_called_so(text: str, expected: list[str]) -> None:
    linker = linker_of(("Dog", "Species", "Zoltan"), ["species"])
    found = linker.find_unmarked(text, PublicWords.of(["species"]))
    assert [text[each.start : each.end] for each in found] == expected


@pytest.mark.parametrize(
    ("text", "public", "mids"),
    [
        # An everyday word that is a whole value is a category, and no word of the schema is.
        ("which open orders got lost", ["opened on", "open"], [(9,)]),
        # The verb that a question about a time ends in is none.
        ("which cases are open", ["cases"], [(10,)]),
        ("when did the case open", ["cases"], []),
    ],
)
def test_an_everyday_word_that_is_a_whole_value_is_a_category(
    text: str, public: list[str], mids: list[tuple[int, ...]]
) -> None:
    found = linker_of((), public, STATES).find_categories(text, PublicWords.of(public))
    assert [each.mids for each in found] == mids
    assert all(each.value_kind is ValueKind.TEXT for each in found)


JOBS = {1: "Accountant", 2: "Sales Representative", 3: "Machines", 4: "Prescription", 5: "Phlebotomist"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("how many accountants are there", {"accountants": (1,)}),
        ("the salary of our sales representatives", {"sales representatives": (2,)}),
        ("Sales Representatives in Zilm", {"Sales Representatives": (2,)}),
        ("is it a machine?", {"machine": (3,)}),
        ("which machines are there", {"machines": (3,)}),
        ("two phlebotomists", {"phlebotomists": (5,)}),
        ("which prescriptions are there", {}),
        ("accounting, representative, salesman", {}),
    ],
)
def test_a_text_value_is_found_in_the_other_number_but_for_the_schemas_own_words(
    text: str, found: dict[str, tuple[int, ...]]
) -> None:
    public = ["prescriptions", "job title"]
    linker = linker_of((), public, JOBS)
    mentions = {*linker.find_mentions(text), *linker.find_categories(text, PublicWords.of(public))}
    assert {text[each.start : each.end]: each.mids for each in mentions} == found
    assert all(each.value_kind is ValueKind.TEXT for each in mentions)
