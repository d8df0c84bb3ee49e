"""Words for whoever asked: how an answer was worked out, as an English phrase."""

from __future__ import annotations

import pytest

from app.chat.understanding import in_words
from kg_store.algebra.expressions import FUNCTIONS, parse

WORDS = {
    "Sa": "4 patients",
    "Sb": "19 patients",
    "K": "all 90 patients",
    "V": "Vx81zp",
    "E": "Eq7f2k",
    "Sm": "19 things",
}


@pytest.mark.parametrize(
    ("expression", "phrase"),
    [
        ("count(Sa)", "4 patients, counted"),
        ("count(intersect(Sa, K))", "4 patients, counted"),
        ("count(intersect(Sa, Sb))", "those that are among 4 patients and among 19 patients, counted"),
        ('filter(K, "opened on", <, V)', 'of all 90 patients those whose "opened on" is before Vx81zp'),
        ('counted(K, "^ward", >=, 2, Sa)', 'of all 90 patients those with at least 2 "ward" among 4 patients'),
        ('group(K, "insured by")', 'all 90 patients, counted for each "insured by"'),
        ('average(Sa, "^has|age")', 'the average of "has / age" of 4 patients'),
        ('limit(sort(Sa, "age", descending), 3)', 'the first 3 of 4 patients by "age", greatest first'),
        (
            'reach(filter(filter(Sa, "opened on", <=, V), "age", >=, 60), "lives in")',
            '"lives in" of those of 4 patients whose "opened on" is not after Vx81zp and whose "age" is at least 60',
        ),
        ('reach(E, "lives in")', '"lives in" of Eq7f2k'),
        ('reach(Sa, "^treated by|^ward")', 'those whose "treated by / ward" is 4 patients'),
        ('exists(filter(E, "opened on", <, V))', 'whether "opened on" of Eq7f2k is before Vx81zp'),
        ('having(K, "smoker")', 'those of all 90 patients that have "smoker"'),
        ('sums(K, "insured by", "cost")', 'the sum of "cost" of all 90 patients for each "insured by"'),
        ('group(K, "born on", year)', 'all 90 patients, counted for each "born on", by year'),
        ('most(K, "^ward", "beds")', 'of all 90 patients those with the most "beds" of all their "ward"'),
        ('minus(reach(E, "age"), V)', '"age" of Eq7f2k, less Vx81zp'),
        ('most(K, "^treated by")', 'of all 90 patients those with the most "treated by"'),
    ],
)
def test_an_expression_is_told_as_a_phrase(expression: str, phrase: str) -> None:
    assert in_words(parse(expression), lambda word: WORDS[word], lambda word: word in ("V", "opened on")) == phrase


def test_every_function_has_words() -> None:
    shapes = {"s": "Sa", "s*": "Sb", "r": '"age"', "r?": '"age"', "o": "<", "d": "ascending", "m": "3", "p?": "year"}
    shapes["b?"] = "Sb"
    for function, shape in FUNCTIONS.items():
        call = parse(f"{function}({', '.join(shapes[each] for each in shape)})")
        assert in_words(call, lambda word: WORDS[word], lambda _word: False), function
