"""Nouns in their other number."""

from __future__ import annotations

import pytest

from kg_store.text.inflection import in_other_number


@pytest.mark.parametrize(
    ("noun", "other"),
    [("accountants", ["accountant"]), ("accountant", ["accountants"]), ("theses", ["thesis"]), ("man", ["men"])]
    + [(word, []) for word in ("tableware", "written", "often")]
    + [("phlebotomists", ["phlebotomist"]), ("phlebotomist", ["phlebotomists"])],
)
def test_a_noun_is_given_in_its_other_number(noun: str, other: list[str]) -> None:
    assert list(in_other_number(noun)) == other
