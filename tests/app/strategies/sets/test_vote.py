"""The vote over things: what it counts, and the order that comes of it; and `way(2)` in an answer."""

from __future__ import annotations

import numpy as np
import pytest

from app.strategies.retrieval import CandidatePath, NodeSet
from app.strategies.sets.strategy import filled, numbers_in
from app.strategies.sets.vote import ScoredWay, sorted_by, sorter_of, vote
from kg_store.terms import NO_MIDS, NodeKind, as_mids

PLACE = NodeSet("Eq7f2k", NO_MIDS, "person", NodeKind.ENTITY)


def way(score: float, *members: int) -> ScoredWay:
    return ScoredWay(CandidatePath(PLACE, ()), score, as_mids(members))


def test_two_likely_paths_outweigh_the_likeliest_one() -> None:
    found = vote([way(1.0, 1, 2), way(0.9, 2, 3), way(0.9, 3, 2)])
    assert found.holds == (True, True, True)
    assert found.in_order(as_mids([1, 2, 3])).tolist() == [2, 3, 1]


def test_the_best_path_wins_where_nothing_is_shared() -> None:
    found = vote([way(1.0, 1), way(0.5, 2)])
    assert found.holds == (True, False)
    assert found.share == pytest.approx(1 / (1 + np.exp(-0.5 / 0.2)))
    assert found.margin == pytest.approx(2 * found.share - 1)


def test_the_margin_is_over_things_of_another_answer() -> None:
    assert vote([way(1.0, 1, 2)]).margin == pytest.approx(1.0)


def test_what_no_path_leads_to_stands_last_and_ties_keep_their_order() -> None:
    found = vote([way(1.0, 5, 7)])
    assert found.in_order(as_mids([2, 5, 7, 9])).tolist() == [5, 7, 2, 9]


def test_a_sorting_noun_leaves_what_it_leads_to_itself() -> None:
    sorting = [way(0.1, 2, 3), way(0.4, 9)]
    left = sorted_by(sorting, [way(1.0, 1, 2, 3), way(0.8, 1), way(0.5, 3)])
    assert [(each.score, each.members.tolist()) for each in left] == [(1.0, [2, 3]), (0.5, [3])]
    assert sorter_of(sorting, left[0]) is sorting[0]
    assert sorted_by([], left) == []


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
