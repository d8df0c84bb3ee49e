"""Singulars of English nouns."""

from __future__ import annotations

import pytest

from kg_store.text.inflection import regular_plural, singular


@pytest.mark.parametrize(
    ("word", "one"),
    [("patients", "patient"), ("cities", "city"), ("people", "person"), ("classes", "class"), ("boxes", "box")]
    + [("movies", "movie"), ("zombies", "zombie"), ("series", "series"), ("ladies", "lady")]
    + [(word, word) for word in ("gas", "status", "basis", "glass", "patient")],
)
def test_a_plural_loses_its_ending(word: str, one: str) -> None:
    assert singular(word) == one


@pytest.mark.parametrize(
    ("one", "several"), [("film", "films"), ("country", "countries"), ("day", "days"), ("church", "churches")]
)
def test_a_noun_gets_the_ending_of_a_plural(one: str, several: str) -> None:
    assert regular_plural(one) == several
