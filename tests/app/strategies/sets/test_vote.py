"""The vote over things: what it counts, and the order that comes of it; and `way(2)` in an answer."""

from __future__ import annotations

import pytest

from app.strategies.sets.strategy import filled, numbers_in


@pytest.mark.parametrize(
    ("expressions", "numbers"),
    [
        (["way(2)"], [2]),
        (["intersect(way(3), way( 1 ))", "count(way(3))"], [3, 1]),
        (['reach(Eq7f2k, "way(2)")'], []),
        (["Sq7f2k", "byway(2)", "way(x)", "way()", "way(12345)"], []),
    ],
)
def test_the_candidates_that_an_answer_speaks_of(expressions: list[str], numbers: list[int]) -> None:
    assert numbers_in(expressions) == numbers


def test_a_candidate_is_filled_and_an_unknown_one_stays() -> None:
    ends = {1: "Sq7f2k", 2: None}
    assert filled("difference(way(1), Ea1b2c)", ends.get) == "difference(Sq7f2k, Ea1b2c)"
    assert filled('reach(way(1), "way(1)")', ends.get) == 'reach(Sq7f2k, "way(1)")'
    assert filled("union(way(2), way(7))", ends.get) == "union(way(2), way(7))"
