from __future__ import annotations

import pytest

from kg_store.names.name_words import NameWords, NameWordsVersionError
from kg_store.storage.vault import VaultRecord
from kg_store.terms import NodeKind, ValueKind

WORDS = NameWords.of(VaultRecord(NodeKind.ENTITY, (name,)) for name in ("Brackwede Lakeside Clinic", "Ma", "Jörg Up"))


def test_words_come_back_from_their_bytes() -> None:
    assert NameWords.from_bytes(WORDS.to_bytes()) == WORDS


def test_words_of_another_version_are_refused() -> None:
    with pytest.raises(NameWordsVersionError):
        NameWords.from_bytes(b"1\n\nclinic\n\n")


def test_neighbours_are_told_in_either_order() -> None:
    assert WORDS.are_neighbours("lakeside", "brackwede")
    assert WORDS.are_neighbours("clinic", "lakeside")
    assert not WORDS.are_neighbours("clinic", "brackwede")


def test_words_a_slip_away_are_near_in_and_outside_the_lexicon() -> None:
    assert all(map(WORDS.has_near, ("brackwede", "brackwde", "clinics", "clinci", "jorg", "jrog")))
    assert not any(map(WORDS.has_near, ("brackwd", "cliniks", "ward")))


def test_two_letters_are_kept_where_english_is_not_full_of_them() -> None:
    assert "ma" in WORDS.parts
    assert "up" not in WORDS.parts


def test_union_holds_what_each_holds() -> None:
    both = NameWords.union([WORDS, NameWords.of([VaultRecord(NodeKind.ENTITY, ("Ines Field",))])])
    assert both.has_near("inez")
    assert both.has_near("brackwede")
    assert both.are_neighbours("field", "ines")
    assert NameWords.union([]) == NameWords()


def test_names_that_are_read_together_give_what_each_gives_alone() -> None:
    names = [("Brackwede", "Lakeside Clinic"), ("Éric Brackwede",), ("of the",), ("Lakeside",), ("4711",)]
    records = [VaultRecord(NodeKind.ENTITY, some) for some in names]
    texts = ("Price", "the price", "Zorvik Price of", "price", "Clinic " * 8)
    records += [VaultRecord(NodeKind.VALUE, (), ValueKind.TEXT, text) for text in texts]
    assert NameWords.of(records) == NameWords.union(NameWords.of([record]) for record in records)
    assert NameWords.of(records).said_alone == {"price", "lakeside", "clinic"}
