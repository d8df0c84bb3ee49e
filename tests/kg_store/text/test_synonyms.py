"""The table of everyday words: which relations it words, and what no entry may hold."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from app.reader.language.question_words import GRAMMAR
from kg_store.text import english
from kg_store.text.english import kind_words, synonyms_backwards, synonyms_of

TABLE = tomllib.loads((Path(english.__file__).parent / "everyday_words.toml").read_text("utf-8"))


@pytest.mark.parametrize(
    ("relation", "word"),
    [
        ("salary", "earn"),
        ("has salary", "earn"),
        ("sibling of", "sister"),
        ("Date of birth", "born"),
        ("caretaker", "look after"),
        ("record label", "put out"),
    ],
)
def test_a_relation_is_worded_by_all_of_it_its_end_or_its_front(relation: str, word: str) -> None:
    assert word in synonyms_of(relation)


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
    entries = [words for field in TABLE if field not in ("kinds", "plainer") for words in TABLE[field].values()]
    said = {word for words in entries for word in words.split(", ")}
    assert {"date", "number", "thing"}.isdisjoint(said)
    assert said.isdisjoint(GRAMMAR)
    assert all(word == word.strip() for word in said)
