"""Public words, rare words, and everyday words for relations."""

from __future__ import annotations

import gc
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import wordfreq
from wordfreq import top_n_list

from app.reader.language.question_words import GRAMMAR
from kg_store.text import english
from kg_store.text.english import (
    PublicWords,
    is_ordinary,
    is_rare,
    kind_words,
    synonyms_backwards,
    synonyms_of,
    zipf_frequency,
)
from kg_store.text.normalise import normalise


def test_frequencies_of_common_words_are_those_of_wordfreq() -> None:
    words = wordfreq.top_n_list("en", 3_000)
    assert [word for word in words if zipf_frequency(word) != wordfreq.zipf_frequency(word, "en")] == []


@pytest.mark.process
def test_no_word_that_was_asked_about_is_remembered() -> None:
    """In a process of its own: what other libraries keep half built can't be read safely."""
    ran = subprocess.run([sys.executable, "-m", __name__], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["False", "True", "0"]


def _asked_and_remembered() -> Iterator[object]:
    """The answers about a word, and how many containers of this process hold that word afterwards."""
    asked = "zimbrelkovs" + "ing"
    yield is_ordinary(asked)
    yield is_rare(asked)
    followed = gc.get_objects()
    # Containers of plain values are not followed by the collector: they are found from what holds them.
    held = {id(each): each for each in (*followed, *gc.get_referents(*followed)) if type(each) in (dict, set, list)}
    yield sum(_holds(each, asked) for each in held.values())


def _holds(holder: dict[object, object] | set[object] | list[object], word: str) -> bool:
    if isinstance(holder, dict) and "asked" in holder:
        return False
    return any(each == word or (isinstance(each, tuple) and word in each) for each in list(holder) if _is_text(each))


def _is_text(each: object) -> bool:
    return type(each) is str or (type(each) is tuple and all(type(part) in (str, float) for part in each))


PUBLIC = PublicWords.of(
    ["people.person.place_of_birth", "Patient's ward", "one two three four five six seven", "出生地"]
)


def test_every_frequent_word_is_public() -> None:
    assert all(normalise(word).text in PUBLIC for word in top_n_list("en", 3000, wordlist="best"))


def test_a_rarer_word_is_not_public() -> None:
    rarer = [word for word in top_n_list("en", 20_000, wordlist="best")[15_000:] if word.isalpha()]
    public = PublicWords.of([])
    assert not any(word in public for word in rarer)


def test_numbers_up_to_99_are_public_and_no_others_by_themselves() -> None:
    assert all(str(number) in PUBLIC for number in range(100))
    assert "100" not in PublicWords.of([])


RUNS = (
    "people|birth|place of birth|person.place of birth|people.person.place of birth|patient|patient's ward|"
    "出生|生地|出生地|one two three four five six|two three four five six seven"
)
NO_RUNS = ("one two three four five six seven", "birth place", "ward patient", ".place", "", " ")


def test_runs_of_up_to_six_words_of_a_phrase_are_public_and_nothing_else_is() -> None:
    assert [text for text in RUNS.split("|") if text not in PUBLIC] == []
    assert [text for text in NO_RUNS if text in PUBLIC] == []


def test_our_own_words_are_told_from_the_frequent_ones() -> None:
    assert all(map(PUBLIC.is_own, ("place of birth", "people", "7")))
    assert not any(map(PUBLIC.is_own, ("japan", "schmidt")))


if __name__ == "__main__":
    print(*_asked_and_remembered())


TABLE = tomllib.loads((Path(english.__file__).parent / "everyday_words.toml").read_text("utf-8"))


def test_words_of_what_nobody_knows_are_none() -> None:
    assert (synonyms_of("zorb"), synonyms_of(""), synonyms_backwards("zorb")) == ((), (), ())
    assert kind_words("zorb") == {"zorb"}


def test_walked_back_a_relation_has_words_of_its_own() -> None:
    assert "kid" in synonyms_backwards("has parent")
    assert "kid" not in synonyms_of("has parent")


def test_kinds_of_one_line_are_said_by_each_other() -> None:
    assert kind_words("lorry") >= {"truck", "van"}
    assert kind_words("film") >= {"film", "movie"}


def test_no_entry_is_a_word_that_says_nothing_by_itself() -> None:
    entries = [
        words for field in TABLE if field not in ("kinds", "plainer", "nouns") for words in TABLE[field].values()
    ]
    said = {word for words in entries for word in words.split(", ")}
    assert {"date", "number", "thing"}.isdisjoint(said)
    assert said.isdisjoint(GRAMMAR)
    assert all(word == word.strip() for word in said)
