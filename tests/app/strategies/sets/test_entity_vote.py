"""The vote over entities: what it counts, and the order that comes of it."""

from __future__ import annotations

import numpy as np
import pytest

from app.strategies.retrieval import CandidatePath, NodeSet
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
