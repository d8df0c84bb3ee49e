"""Ordinary words: told by the dictionary and by frequency, and no word that was asked about is remembered."""

from __future__ import annotations

import gc

import pytest
import wordfreq

from kg_store.text.english import is_ordinary, is_rare, zipf_frequency

WORDS = ("treated", "Dodgers", "don't", "well-known", "1955", "Zimbrelkov", "o'brien", "rock'n'roll", "€", "naïve", "")


@pytest.mark.parametrize("word", WORDS)
def test_frequencies_are_those_of_wordfreq(word: str) -> None:
    assert zipf_frequency(word) == wordfreq.zipf_frequency(word, "en")


def test_frequencies_of_common_words_are_those_of_wordfreq() -> None:
    words = wordfreq.top_n_list("en", 3_000)
    assert [word for word in words if zipf_frequency(word) != wordfreq.zipf_frequency(word, "en")] == []


def test_no_word_that_was_asked_about_is_remembered() -> None:
    asked = "zimbrelkovs" + "ing"
    assert not is_ordinary(asked)
    assert is_rare(asked)
    holders = [each for each in gc.get_objects() if type(each) in (dict, set, list) and _holds(each, asked)]
    assert [each for each in holders if each is not globals()] == []


def _holds(holder: dict[object, object] | set[object] | list[object], word: str) -> bool:
    if isinstance(holder, dict) and "asked" in holder:
        return False
    return any(each == word or (isinstance(each, tuple) and word in each) for each in list(holder) if _is_text(each))


def _is_text(each: object) -> bool:
    return type(each) is str or (type(each) is tuple and all(type(part) in (str, float) for part in each))
