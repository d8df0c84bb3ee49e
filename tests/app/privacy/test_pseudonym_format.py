from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.privacy.pseudonym_format import Standing, draw_word, is_shaped, replaced, shaped_in


@given(st.sampled_from("EVS"))
def test_a_drawn_word_has_its_letter_a_digit_and_a_small_letter(letter: str) -> None:
    word = draw_word(letter, ())  # type: ignore[arg-type]
    assert word[0] == letter
    assert len(word) == 6
    assert is_shaped(word)
    assert any(c.isdigit() for c in word[1:])
    assert any(c.isalpha() for c in word[1:])


def test_a_word_that_is_taken_is_not_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    letters = iter("a1b2c" * 2 + "zzzzz" + "12345" + "d3e4f")
    monkeypatch.setattr("secrets.choice", lambda _letters: next(letters))
    # Taken, no digit, no letter: three draws are thrown away.
    assert draw_word("E", {"Ea1b2c"}) == "Ed3e4f"


@pytest.mark.parametrize(
    "word", ["Eabcde", "E12345", "Xa1b2c", "ea1b2c", "Ea1b2", "Ea1b2cd", "EA1b2c", "Éa1b2c", "Ea1b2ç", "", "E"]
)
def test_other_words_are_not_shaped_like_pseudonyms(word: str) -> None:
    assert not is_shaped(word)


@pytest.mark.parametrize(
    "text",
    [
        "Ea1b2c",
        "(Ea1b2c)",
        "Ea1b2c's",
        "_Ea1b2c_",
        "Ea1b2cさん",
        "山Ea1b2c",
        "x-Ea1b2c.",
        '"Ea1b2c"',
        "Ea1b2c\n",
        "*Ea1b2c*",
    ],
)
def test_a_pseudonym_is_found_beside_punctuation_and_unspaced_scripts(text: str) -> None:
    assert [found.word for found in shaped_in(text)] == ["Ea1b2c"]


@pytest.mark.parametrize(
    "text", ["xEa1b2c", "Ea1b2cd", "0Ea1b2c", "Ea1b2cé", "ÖEa1b2c", "яEa1b2c", "Ea1b2c\u0301", "Ea1b2c٣"]
)
def test_a_part_of_a_longer_word_is_no_pseudonym(text: str) -> None:
    assert list(shaped_in(text)) == []


def test_a_replaced_span_never_melts_into_its_neighbours() -> None:
    spans = [Standing(0, 2, "Ea1b2c"), Standing(2, 4, "Eb1b2c"), Standing(5, 6, "Vc1b2c")]
    assert replaced("xxyy-zrest", spans) == "Ea1b2c Eb1b2c-Vc1b2c rest"
    assert replaced("rest", []) == "rest"
