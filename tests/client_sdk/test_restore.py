from __future__ import annotations

import unicodedata
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from client_sdk.protocol import Names
from client_sdk.restore import Restorer, restore, shown

PSEUDONYMS = ["Eq7f2k", "Eq7f2", "Vx81zp", "Sk3mmd", "E1"]


def one(name: str) -> Names:
    return Names(names=[name], total=1)


TABLE = {
    "Eq7f2k": one("Anna Keller"),
    "Eq7f2": one("Short Twin"),
    "Vx81zp": one("12 March 1961"),
    "Sk3mmd": Names(names=["Lea", "Eq7f2k", "Noah"], total=15),
    "E1": one("Vx81zp"),
}


# --- round trips and streams ------------------------------------------------------------------------------

fragments = st.one_of(
    st.sampled_from(PSEUDONYMS),
    st.sampled_from(["Eq7f2kx", "Eq7", "E", "k", "é", "\u0301", "是", "_", " ", ".", "'s", "🙂", "0", "я"]),
    st.text(max_size=3),
)
texts = st.lists(fragments, max_size=8).map("".join)


def slow_restore(text: str) -> str:
    """The same by another way: letter by letter, without a pattern."""
    out, at = [], 0
    while at < len(text):
        word = next(
            (
                word
                for word in TABLE
                if text.startswith(word, at)
                and not is_word_letter(text[at - 1 : at])
                and not is_word_letter(text[at + len(word) : at + len(word) + 1])
            ),
            None,
        )
        out.append(shown(TABLE[word]) if word else text[at])
        at += len(word) if word else 1
    return "".join(out)


def is_word_letter(letter: str) -> bool:
    return bool(letter) and unicodedata.category(letter)[0] in "LNM" and unicodedata.category(letter) != "Lo"


@given(texts)
def test_it_agrees_with_a_reader_that_goes_letter_by_letter(text: str) -> None:
    assert restore(text, TABLE) == slow_restore(text)


@given(data=st.data())
def test_anonymised_text_comes_back(data: st.DataObject) -> None:
    """Names of any letters, between any text that holds no pseudonym."""
    names = data.draw(st.dictionaries(st.sampled_from(PSEUDONYMS), st.text(min_size=1, max_size=20), min_size=1))
    table = {pseudonym: one(name) for pseudonym, name in names.items()}
    plain = st.text(max_size=20).filter(lambda text: restore(text, TABLE) == text)
    original, anonymised = "", ""
    for _ in range(data.draw(st.integers(1, 6))):
        pseudonym, between = data.draw(st.sampled_from(sorted(names))), data.draw(plain)
        original += f"{between} {names[pseudonym]}, "
        anonymised += f"{between} {pseudonym}, "
    assert restore(anonymised, table) == original


def stream(pieces: list[str]) -> str:
    restorer = Restorer(TABLE)
    return "".join([*(restorer.push(piece) for piece in pieces), restorer.finish()])


def cut(text: str, places: tuple[int, ...]) -> list[str]:
    ends = (0, *places, len(text))
    return [text[start:end] for start, end in pairwise(ends)]


@given(texts)
@settings(max_examples=30)
def test_every_cut_into_three_streams_to_the_same_text(text: str) -> None:
    whole = restore(text, TABLE)
    for places in combinations(range(len(text) + 1), 2):
        assert stream(cut(text, places)) == whole
    assert stream(list(text)) == whole


@pytest.mark.parametrize(
    "text", ["Eq7f2k", "Eq7f2kx", "xEq7f2 E1", "Eq7f2-Eq7f2k", "E1E1 E1.", "éEq7f2", "Eq7f2é", "是E1是", "E1's E1"]
)
def test_every_possible_split_streams_to_the_same_text(text: str) -> None:
    whole = restore(text, TABLE)
    inner = range(1, len(text))
    for count in range(len(text)):
        for places in combinations(inner, count):
            assert stream(cut(text, places)) == whole
