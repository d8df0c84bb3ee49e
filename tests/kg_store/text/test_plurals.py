"""Singulars of English nouns."""

from __future__ import annotations

import pytest

from kg_store.text.plurals import singular


@pytest.mark.parametrize(
    ("word", "one"),
    [("patients", "patient"), ("cities", "city"), ("people", "person"), ("classes", "class"), ("boxes", "box")]
    + [(word, word) for word in ("gas", "status", "basis", "glass", "patient")],
)
def test_a_plural_loses_its_ending(word: str, one: str) -> None:
    assert singular(word) == one
