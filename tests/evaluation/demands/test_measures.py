"""Measures of replies, with values of the paper or worked out by hand."""

from __future__ import annotations

import math

import pytest

from evaluation.demands.matching import FactRarity
from evaluation.demands.measures import (
    Figure,
    Ratings,
    ReplyMeasures,
    Wins,
    commonsense_feature,
    commonsense_proportion,
    count_wins,
    geometric_mean,
    mean_of,
    measure_replies,
    percentage,
    rating_percent,
    signed_rank,
)
from evaluation.dialogue.dialogue_sets import Triple

CUP: Triple = ("cup", "UsedFor", "tea")
POT: Triple = ("pot", "UsedFor", "tea")
RARITY = FactRarity(9, {CUP: 4})

# Table 1 of the paper, DailyDialog: DI-2, CDP, CDF, MEEP, Informativeness, Overall, and the printed geometric mean.
PRINTED = {
    "Vanilla": (57.46, 68.67, 22.77, 61.40, 59.50, 86.42, 55.23),
    "Cosmo": (53.00, 60.00, 14.44, 47.10, 55.25, 76.92, 45.77),
    "MSDP": (63.49, 74.33, 38.83, 48.53, 62.17, 83.17, 59.86),
    "T-RAG": (59.27, 74.00, 27.24, 61.38, 61.75, 86.67, 58.30),
    "QP-RAG": (57.14, 75.67, 27.52, 58.13, 59.75, 85.42, 57.27),
    "SCG-QP": (57.10, 82.00, 33.68, 59.18, 61.83, 86.92, 60.73),
    "DCRAG": (59.70, 85.67, 41.60, 71.48, 72.92, 92.75, 68.45),
}


def exactly(value: float) -> Figure:
    return Figure(value, value, value, 300)


@pytest.mark.parametrize("method", PRINTED)
def test_the_geometric_mean_is_that_of_the_paper(method: str) -> None:
    distinct_2, *others, printed = PRINTED[method]
    measured = ReplyMeasures(distinct_2, *map(exactly, others))
    assert measured.geo_mean == pytest.approx(printed, abs=0.02)


def test_printed_ratings_are_means_of_300_whole_ratings_on_the_scale_that_is_assumed() -> None:
    def misfits(percent_of_a_step: float) -> list[float]:
        printed = [row[at] for row in PRINTED.values() for at in (4, 5)]
        steps = [300 * each / percent_of_a_step for each in printed]
        return [each for each in steps if abs(each - round(each)) * percent_of_a_step / 300 > 0.006]

    assert not misfits(25)
    assert misfits(20)
    assert rating_percent([1, 3, 5, None]) == [0, 50, 100, None]


def test_a_geometric_mean_of_nothing_or_with_a_zero_is_zero_and_a_negative_value_is_refused() -> None:
    assert (geometric_mean([]), geometric_mean([4.0, 0.0]), geometric_mean([2.0, 8.0])) == (0, 0, pytest.approx(4))
    with pytest.raises(ValueError, match="0 or more"):
        geometric_mean([1.0, -1.0])


def test_a_share_has_wilsons_interval() -> None:
    found = percentage([True] * 8 + [False] * 2)
    # Wilson (1927), by hand with z = 1.96.
    centre, half = (0.8 + 1.96**2 / 20) / (1 + 1.96**2 / 10), math.sqrt(0.016 + 1.96**2 / 400) * 1.96
    half /= 1 + 1.96**2 / 10
    assert found.value == pytest.approx(80)
    assert (found.low, found.high) == pytest.approx((100 * (centre - half), 100 * (centre + half)), abs=0.01)
    assert percentage([]) == (0, 0, 100, 0)
    assert percentage([True]).low > 0


def test_proportion_and_feature_are_over_all_replies_also_those_without_a_fact() -> None:
    found = [frozenset({CUP, POT}), frozenset[Triple](), frozenset({CUP}), frozenset[Triple]()]
    assert commonsense_proportion(found)[::3] == (50, 4)
    both, one = math.log(2) + math.log(10), math.log(2)
    feature = commonsense_feature(found, RARITY)
    assert feature.value == pytest.approx((both + one) / 4)
    assert 0 <= feature.low < feature.value < feature.high <= both


def test_what_was_not_judged_is_left_out_of_a_mean_and_counted() -> None:
    assert mean_of([3.0, None, 3.0]) == (3, 3, 3, 2)
    assert mean_of([]) == (0, 0, 0, 0)


def test_replies_are_measured_with_and_without_a_judge() -> None:
    replies, found = ["A cup of tea .", "A cup of milk ."], [frozenset({CUP}), frozenset[Triple]()]
    plain = measure_replies(replies, found, RARITY)
    assert (plain.distinct_2, plain.cdp.value, plain.meep, plain.geo_mean) == (75, 50, None, None)
    judged = measure_replies(replies, found, RARITY, Ratings([60.0, None], [3, 5], [4, None]))
    assert judged.meep == (60, 60, 60, 1)
    assert judged.informativeness is not None
    assert (judged.informativeness.value, judged.informativeness.of) == (75, 2)
    assert judged.geo_mean == pytest.approx(geometric_mean([75, 50, math.log(2) / 2, 60, 75, 75]))
    unread = measure_replies(replies, found, RARITY, Ratings([None] * 2, [3, 5], [4, 4]))
    assert (unread.meep, unread.geo_mean) == (None, None)


def test_the_signed_rank_test_leaves_out_what_is_equal_or_not_judged() -> None:
    # All of six differences in one direction: p = 2 / 2**6.
    ours = [2.0, 4.0, 6.0, 8.0, 10.0, 12.0]
    theirs = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    assert signed_rank(ours, theirs) == pytest.approx(2 / 64)
    assert signed_rank([*ours, 7.0, None, 1.0], [*theirs, 7.0, 1.0, None]) == pytest.approx(2 / 64)
    assert signed_rank([1.0, 2.0], [1.0, 2.0]) == 1
    assert signed_rank([], []) == 1


def test_wins_are_counted_with_ties_and_tested_without_them() -> None:
    wins = count_wins(["first"] * 7 + ["second"] + ["tie", "tie", None])
    assert wins == Wins(7, 1, 2)
    assert wins.share[::3] == (70, 10)
    assert wins.p == pytest.approx(2 * (1 + 8) / 2**8)
    assert count_wins(["tie", None]).p == 1
