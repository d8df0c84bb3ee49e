"""Expressions read back to what they were, and take further relations beside their own."""

from __future__ import annotations

import pytest

from kg_store.algebra.expressions import parse
from kg_store.algebra.rewriting import with_relations, written


@pytest.mark.parametrize(
    "text",
    [
        'argmax(reach(Ea1b2c, "^starred in"), "release year")',
        'filter(Sa1b2c, "release year", >=, Va1b2c)',
        'count(intersect(reach(Ea1b2c, "made by"), Sa1b2c))',
    ],
)
def test_what_is_written_reads_as_it_was(text: str) -> None:
    assert written(parse(text)) == text


def test_each_relation_is_joined_by_those_of_the_same_words_and_values_are_left() -> None:
    further = {"^written by": ("^written_by",), "release year": ("release_year",)}
    found = with_relations(parse('argmax(reach(Ea1b2c, "^written by"), "release year")'), further)
    both = 'union(reach(Ea1b2c, "^written by"), reach(Ea1b2c, "^written_by"))'
    assert written(found) == f'argmax({both}, "release year")'
