"""Names found in text: spellings, word borders, spans, public words, and the index as bytes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kg_store.errors import FormatTooNewError, StoreError
from kg_store.names.index import (
    AROUND_NAMES,
    NameEntry,
    NameIndex,
    Spellings,
    can_be_found,
    normalise,
    spellings_of,
)
from kg_store.names.name_table import pack, unpack
from kg_store.terms import ValueKind
from kg_store.text.english import PublicWords
from kg_store.text.normalise import is_unspaced, is_word_character
from tests.support.linking import named, valued

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]


def index_of(*names: str) -> NameIndex:
    return NameIndex.build(named(mid, name) for mid, name in enumerate(names))


def found(index: NameIndex, text: str) -> list[str]:
    return [text[hit.start : hit.end] for hit in index.find(text)]


# --- normalising --------------------------------------------------------------------------------------------


ANY_TEXT = st.text(
    alphabet=st.one_of(
        st.characters(codec="utf-8"),
        st.sampled_from("aAbB _-–'’\u200b\u00ad\u0301\u0345ßİﬁ½¨´\u1112\u1161\u11ab 🅰ΐ\ufe0f"),
    ),
    max_size=20,
)


@given(ANY_TEXT)
def test_normalising_twice_changes_nothing(text: str) -> None:
    once = normalise(text).text
    assert normalise(once).text == once


@given(ANY_TEXT)
def test_spans_lead_back_to_the_characters_they_came_from(text: str) -> None:
    normalised = normalise(text)
    last = 0
    for position, character in enumerate(normalised.text):
        start, end = normalised.span(position, position + 1)
        assert 0 <= start < end <= len(text)
        assert start >= last or normalised.span(position - 1, position)[1] >= end
        assert character in normalise(text[start:end]).text
        last = start


# --- finding ------------------------------------------------------------------------------------------------


def test_overlapping_names_are_all_found_the_longest_first() -> None:
    index = index_of("New York", "York", "New York Times", "The New")
    assert found(index, "the new york times") == ["the new", "new york times", "new york", "york"]


@given(
    st.lists(st.lists(st.sampled_from("ada Ada bo cy ｆｉ İ ß _x 3".split()), min_size=1, max_size=4).map(" ".join))
)
def test_what_ends_texts_is_found_in_one_pass_as_in_each_alone(texts: list[str]) -> None:
    index = index_of("ada", "ada bo", "bo", "bo ada", "cy", "fi", "ss ada", "3")
    alone = [(at, hit) for at, text in enumerate(texts) for hit in index.find(text) if hit.end == len(text)]
    assert index.find_at_ends(texts) == alone


def test_name_is_found_in_raw_and_in_unescaped_json() -> None:
    text = 'ask about "Anna Schmidt"\nor Zoë'
    raw = json.dumps({"q": text})
    index = index_of("Anna Schmidt", "Zoë")
    assert [hit.text for hit in index.find(raw)] == ["anna schmidt"]
    assert [hit.text for hit in index.find(json.loads(raw)["q"])] == ["anna schmidt", "zoë"]


def test_same_spelling_of_several_nodes_is_one_hit_with_all_of_them() -> None:
    index = NameIndex.build([named(9, "Anna"), named(3, "ANNA"), named(3, "anna")])
    (hit,) = index.find("anna")
    assert hit.mids == (3, 9)


def test_name_and_value_of_one_spelling_are_two_hits() -> None:
    index = NameIndex.build([named(1, "Rot-Weiß"), valued(2, "rot weiss", ValueKind.TEXT)])
    hits = index.find("ROT_WEISS")
    assert {(hit.kind, hit.value_kind, hit.mids) for hit in hits} == {
        ("name", None, (1,)),
        ("value", ValueKind.TEXT, (2,)),
    }


def test_one_character_is_found_and_always_public() -> None:
    index = index_of("王", "Ξ", "Anna").with_public(PublicWords.of([]))
    assert [(hit.text, hit.public) for hit in index.find("Ξ, 王, Anna")] == [
        ("ξ", True),
        ("王", True),
        ("anna", False),
    ]


def test_a_part_of_a_value_is_found_where_only_one_short_value_has_it() -> None:
    long = "a note of more words than a name has, with elmbridge"
    index = NameIndex.build(
        [
            *(valued(mid, text) for mid, text in enumerate(["Row Ladies' Choir", "Row Men", long], 1)),
            named(9, "Ann Elm"),
        ]
    )
    tries = ["row ladies", "ladies choir", "men", "row", "elm", "elmbridge", "me", "", "n" * 3]
    assert [index.value_with(each, lambda mids: mids) for each in tries] == [(1,), (1,), (2,), *[()] * 6]


def test_a_hidden_value_does_not_make_the_only_one_ambiguous() -> None:
    values = ("Elm Row", "Elm Side")
    index = NameIndex.build(
        NameEntry(mid, text, "value", ValueKind.TEXT, True, True) for mid, text in enumerate(values, 1)
    )
    assert index.value_with("elm", lambda mids: mids) == ()
    assert index.value_with("elm", lambda mids: tuple(mid for mid in mids if mid == 1)) == (1,)


def test_repr_and_report_hold_no_name() -> None:
    index = index_of("Anna Schmidt", "Rose").with_public(PublicWords.of([]))
    assert "nna" not in repr(index) + repr(index.find("Anna Schmidt")) + repr(named(1, "Anna"))
    assert "nna" not in repr(index.report()) + repr(normalise("Anna\u200b Schmidt"))


# --- values -------------------------------------------------------------------------------------------------


def test_no_text_can_touch_the_keys_of_values() -> None:
    index = NameIndex.build([valued(1, "2020-03-12", ValueKind.DATE)])
    assert index.find("\x01date 2020-03-13") == []
    assert index.report().values == 1


# --- public words -------------------------------------------------------------------------------------------


def test_public_spellings_are_marked_and_reported() -> None:
    index = index_of("Rose", "The Film", "Anna", "Place of Birth", "45", "145")
    public = index.with_public(PublicWords.of(["people.place_of_birth"]))
    hits = public.find("rose, the film, anna, place of birth, 45, 145")
    assert [hit.text for hit in hits if hit.public] == ["rose", "place of birth", "45"]
    assert public.report().public_words == ("45", "place of birth", "rose")
    assert not any(hit.public for hit in index.find("rose"))
    assert public.with_public(PublicWords.of(["anna"])).report().public_words == ("45", "anna", "rose")


# --- as bytes -----------------------------------------------------------------------------------------------


def test_bytes_of_another_format_are_refused() -> None:
    with pytest.raises(FormatTooNewError):
        NameIndex.from_bytes(b"AROGNAM0" + bytes(8))


def test_damaged_bytes_are_refused() -> None:
    data = index_of("Anna Schmidt", "Berta").to_bytes()
    for cut in (8, 12, 16, 20, len(data) // 2, len(data) - 9):
        with pytest.raises(StoreError):
            NameIndex.from_bytes(data[:cut])


def test_bytes_that_say_other_things_than_an_index_are_refused() -> None:
    data = index_of("Anna Schmidt", "Berta").to_bytes()
    sections = unpack(data)
    empty = memoryview(b"")
    shorter = (
        sections[:6],
        [b"", *sections[1:]],
        [*sections[:2], empty, *sections[3:]],
        sections[:-1],
        [*sections[:8], empty, *sections[9:]],
        [*sections[:-1], sections[-1][1:]],
    )
    for wrong in shorter:
        with pytest.raises(StoreError):
            NameIndex.from_bytes(pack(wrong))


NAMES = st.lists(ANY_TEXT, max_size=8)


@given(NAMES, ANY_TEXT)
def test_index_from_its_bytes_finds_the_same(names: list[str], text: str) -> None:
    index = NameIndex.build(
        [*(named(mid, name) for mid, name in enumerate(names)), valued(99, "1990", ValueKind.DATE)]
    ).with_public(PublicWords.of(["a b"]))
    again = NameIndex.from_bytes(index.to_bytes())
    around = f"{text} {' '.join(names)} 1990"
    assert again.find(around) == index.find(around)
    assert again.report() == index.report()
    assert again.with_public(PublicWords.of(["a b"])).find_inexact(around) == index.find_inexact(around)
    assert again.mids_of_value(ValueKind.DATE, "1990") == (99,)


@given(st.text(st.sampled_from("aAzZ09 -'é"), max_size=12))
def test_a_name_of_plain_letters_is_spelt_as_any_other(name: str) -> None:
    """Names of plain letters take a short way, which must lead to the same spellings."""
    found = {text for text, _ in _spelt(name)}
    pattern = normalise(name).text.strip(AROUND_NAMES)
    assert found == ({*spellings_of(pattern)} if can_be_found(pattern) else set())


def _spelt(name: str) -> dict[tuple[str, int], list[int]]:
    spellings = Spellings()
    spellings.add(named(1, name))
    return spellings._groups


def test_an_index_of_before_rows_were_kept_is_read() -> None:
    index = index_of("Anna Schmidt", "Gurgen Berberian")
    old = NameIndex.from_bytes(pack(unpack(index.to_bytes())[:7]))
    public = PublicWords.of([])
    text = "gurgen berberain and Schmidt, Anna"
    assert old.with_public(public).find_inexact(text) == index.with_public(public).find_inexact(text) != []


@pytest.mark.process
def test_the_same_bytes_come_of_every_process() -> None:
    """Strings hash otherwise in each: what is kept must not hang on that."""
    program = (
        "import sys; from kg_store.names.index import NameIndex; from tests.support.linking import named; "
        "sys.stdout.buffer.write(NameIndex.build([named(1, 'Anna Maria Schmidt')]).to_bytes())"
    )
    command, environment = [sys.executable, "-c", program], {**os.environ, "PYTHONHASHSEED": "1"}
    made = subprocess.run(command, env=environment, capture_output=True, check=True, cwd=ROOT).stdout
    assert made == NameIndex.build([named(1, "Anna Maria Schmidt")]).to_bytes()
    read = NameIndex.from_bytes(made).with_public(PublicWords.of([]))
    # The whole name turned round, and parts of it.
    assert [(hit.end, hit.mids) for hit in read.find_inexact("schmidt maria anna") if hit.whole] == [(18, (1,))]


@given(
    ANY_TEXT,
    st.lists(ANY_TEXT, max_size=3),
    st.sampled_from(" \n(\"'[.,;:/@🙂“«"),
    st.sampled_from(" \n)\"']?!,.🙂”»"),
)
def test_planted_name_between_borders_is_found(name: str, others: list[str], before: str, after: str) -> None:
    pattern = normalise(name).text.strip(" \"«»‹›'")
    assume(len(pattern) > 1 and any(map(is_word_character, pattern)))
    assume(not unicodedata.category(pattern[0]).startswith("M"))
    index = index_of(name, *others)
    text = f"{' '.join(others)}{before}{name}{after}{' '.join(reversed(others))}"
    assert any(0 in hit.mids and hit.text == pattern for hit in index.find(text))


@given(st.text(alphabet="abAB '-’1é王\u200b", max_size=12))
def test_finding_agrees_with_a_search_that_knows_no_automaton(text: str) -> None:
    names = ["ab", "ab ab", "b'a", "1a", "éa", "王a", "ba"]
    index = index_of(*names)
    assert {(hit.text, hit.mids) for hit in index.find(text)} == _slowly(names, text)


def _slowly(names: list[str], text: str) -> set[tuple[str, tuple[int, ...]]]:
    normalised = normalise(text)
    results = set()
    # Spellings of b'a, its apostrophe apart or a space.
    for mid, name in [*enumerate(names), (names.index("b'a"), "b a"), (names.index("b'a"), "b 'a")]:
        start = normalised.text.find(name)
        while start >= 0:
            if _is_border(normalised.text, normalised.seams, start) and _is_border(
                normalised.text, normalised.seams, start + len(name)
            ):
                results.add((name, (mid,)))
            start = normalised.text.find(name, start + 1)
    return results


def _is_border(text: str, seams: frozenset[int], position: int) -> bool:
    if position in (0, len(text)) or position in seams:
        return True
    pair = text[position - 1 : position + 1]
    return not all(map(is_word_character, pair)) or any(map(is_unspaced, pair))


@given(st.lists(st.sampled_from(["Anna", "Berta", "film", "date", "12", "O'Neil"]), max_size=6))
def test_secret_hits_are_those_that_are_protected_and_not_public(words: list[str]) -> None:
    entries = [named(1, "Anna"), named(2, "film"), named(3, "O'Neil"), valued(4, "Berta", ValueKind.TEXT)]
    shown = NameEntry(5, "date", "name", None, linkable=True, protected=False)
    index = NameIndex.build([*entries, shown])
    text = " ".join(words)
    for each in (index, index.with_public(PublicWords.of(["film director"]))):
        wanted = [hit for hit in each.find(text) if hit.protected and not hit.public]
        assert each.find_secret(text) == wanted
