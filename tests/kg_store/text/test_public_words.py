"""Public words: the frequent words, the small numbers, and every run of words of the phrases given."""

from __future__ import annotations

import pytest
from wordfreq import top_n_list

from kg_store.text.normalise import normalise
from kg_store.text.public_words import PublicWords

WORDS = PublicWords.of(
    ["people.person.place_of_birth", "Patient's ward", "one two three four five six seven", "出生地"]
)


def test_every_frequent_word_is_public() -> None:
    assert all(normalise(word).text in WORDS for word in top_n_list("en", 3000, wordlist="best"))


def test_a_rarer_word_is_not_public() -> None:
    rarer = [word for word in top_n_list("en", 20_000, wordlist="best")[15_000:] if word.isalpha()]
    public = PublicWords.of([])
    assert not any(word in public for word in rarer)


def test_numbers_up_to_99_are_public_and_no_others_by_themselves() -> None:
    assert all(str(number) in WORDS for number in range(100))
    assert "100" not in PublicWords.of([])


@pytest.mark.parametrize(
    "text",
    [
        "people",
        "birth",
        "place of birth",
        "person.place of birth",
        "people.person.place of birth",
        "patient",
        "patient's ward",
        "one two three four five six",
        "two three four five six seven",
        "出生",
        "生地",
        "出生地",
    ],
)
def test_runs_of_up_to_six_words_of_a_phrase_are_public(text: str) -> None:
    assert text in WORDS


@pytest.mark.parametrize(
    "text", ["one two three four five six seven", "birth place", "ward patient", ".place", "", " "]
)
def test_what_no_phrase_says_is_not_public(text: str) -> None:
    assert text not in WORDS


def test_our_own_words_are_told_from_the_frequent_ones() -> None:
    assert all(map(WORDS.is_own, ("place of birth", "people", "7")))
    assert not any(map(WORDS.is_own, ("japan", "schmidt")))


def test_words_do_not_show_in_a_repr() -> None:
    assert repr(WORDS) == "PublicWords()"
    assert len(WORDS) > 3000
