"""Scores: what counts as the same answer, and the expected hit of a set."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.checks.metrics import AnswerPart, calibration_error, comparable, interval, mean, percentile, score

names = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=6, unique=True)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("New_York", "new  york"),
        ("1,250.50", "1250.5"),
        ("72.0", "72"),
        ("true", "Yes"),
        ("NO", "false"),
        ("Ｆull", "full"),
        ("3.333333", "3.33"),
    ],
)
def test_these_are_the_same_answer(one: str, other: str) -> None:
    assert comparable(one) == comparable(other)


@pytest.mark.parametrize(
    ("one", "other"), [("1250", "125"), ("yes", "no"), ("Ann", "Anna"), ("12-3", "123"), ("1", "-1")]
)
def test_these_are_not(one: str, other: str) -> None:
    assert comparable(one) != comparable(other)


def test_an_unordered_set_scores_the_expected_hit_of_a_random_member() -> None:
    found = score([AnswerPart(("a", "b", "c", "d"))], ["a"])
    assert found.hit == 0.25
    assert found.f1 == pytest.approx(0.4)


def test_of_an_ordered_answer_only_the_first_counts_for_the_hit() -> None:
    assert score([AnswerPart(("a", "b"), ordered=True)], ["a"]).hit == 1
    assert score([AnswerPart(("b", "a"), ordered=True)], ["a"]).hit == 0
    assert score([AnswerPart(("a",)), AnswerPart(("b",))], ["b"]).hit == 0
    assert score([AnswerPart(()), AnswerPart(("b",))], ["b"]).hit == 1


def test_silence_is_right_only_where_there_is_no_answer() -> None:
    assert score([], []).f1 == 1
    assert score([], ["a"]).hit == 0
    assert score([AnswerPart(("a",))], []).f1 == 0


@given(names, names)
def test_f1_is_symmetric_and_one_only_for_equal_sets(given_names: list[str], gold: list[str]) -> None:
    forth, back = score([AnswerPart(tuple(given_names))], gold).f1, score([AnswerPart(tuple(gold))], given_names).f1
    assert forth == pytest.approx(back)
    assert (forth == 1) == (set(given_names) == set(gold))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=50))
def test_the_interval_holds_the_mean_and_percentiles_are_values(values: list[float]) -> None:
    low, high = interval(values, draws=200)
    assert low <= high
    assert min(values) - 1e-9 <= low
    assert high <= max(values) + 1e-9
    assert percentile(values, 0.5) in values
    assert percentile(values, 1) == max(values)


def test_the_interval_of_a_share_is_the_known_one_and_stays_the_same() -> None:
    # By the normal approximation: 0.81 +- 1.96 * sqrt(0.81 * 0.19 / 500).
    values = [1.0] * 405 + [0.0] * 95
    assert interval(values) == pytest.approx((0.7756, 0.8444), abs=0.006)
    assert interval(values) == interval(values)
    assert interval([0.5]) == (0.5, 0.5)


def test_no_values_give_zero() -> None:
    assert (mean([]), percentile([], 0.5), interval([])) == (0.0, 0.0, (0.0, 0.0))
    assert [percentile([1, 2, 3, 4], share) for share in (0.25, 0.5, 0.95)] == [1, 2, 4]


def test_calibration_compares_confidence_and_share_right_bin_by_bin() -> None:
    assert calibration_error([]) == 0.0
    assert calibration_error([(1.0, True), (0.0, False)]) == 0.0
    assert calibration_error([(0.75, True), (0.75, True), (0.75, True), (0.75, False)]) == 0.0
    assert calibration_error([(0.9, False), (0.9, True)]) == pytest.approx(0.4)
    # A bin that is too sure and one that is not sure enough do not make up for each other.
    assert calibration_error([(0.95, False), (0.05, True)]) == pytest.approx(0.95)


def test_a_calibration_error_counts_answers_by_their_weights() -> None:
    assert calibration_error([(0.9, True), (0.9, False)], weights=[9.0, 1.0]) == pytest.approx(0.0)
    assert calibration_error([(0.9, True), (0.1, True)], weights=[3.0, 1.0]) == pytest.approx((0.3 + 0.9) / 4)
