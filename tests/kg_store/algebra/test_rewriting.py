"""Expressions read back to what they were, and take further relations beside their own."""

from __future__ import annotations

import pytest

from kg_store.algebra.expressions import of_one_row, parse, with_relations, written


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


@pytest.mark.parametrize(
    ("read", "meant"),
    [
        (
            'having(filter(Sa1b2c, "hall of fame|year", =, Va1b2c), "hall of fame|inducted")',
            'reach(having(filter(reach(Sa1b2c, "hall of fame"), "year", =, Va1b2c), "inducted"), "^hall of fame")',
        ),
        (
            'count(intersect(filter(Sa1b2c, "^person|rank", <, Va1b2c), reach(Ea1b2c, "member|person")))',
            'count(reach(filter(reach(Ea1b2c, "member"), "rank", <, Va1b2c), "person"))',
        ),
        (
            'filter(reach(Ea1b2c, "member|person"), "^person|rank", =, Va1b2c)',
            'reach(filter(reach(Ea1b2c, "member"), "rank", =, Va1b2c), "person")',
        ),
        # Of two records, of one alone, and of none nothing is asked of one row.
        ('filter(filter(Sa1b2c, "a|x", =, Va1b2c), "b|y", =, Va1b2c)', ""),
        ('filter(Sa1b2c, "a|x", =, Va1b2c)', ""),
        ('intersect(filter(Sa1b2c, "^person|rank", =, Va1b2c), reach(Ea1b2c, "member|firm"))', ""),
    ],
)
def test_what_is_said_of_one_row_is_asked_of_one_row(read: str, meant: str) -> None:
    assert of_one_row(read) == (meant or read)
