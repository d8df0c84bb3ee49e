"""Each line of the table passes at its bound and fails below it, and a set without questions never passes."""

import json
from pathlib import Path

import pytest

from evaluation.bench.report import QuestionOutcome
from evaluation.checks.metrics import Score
from evaluation.tables import measures as measure


def outcomes(*hits: float, answered: bool = True) -> list[QuestionOutcome]:
    return [QuestionOutcome(str(n), "", Score(hit, hit), answered, True, None) for n, hit in enumerate(hits)]


def test_hits_are_a_mean_with_f1_beside_it() -> None:
    line = measure.hits("PQ", outcomes(1, 1, 1, 0.5), 0.875, leaks=0)
    assert (line.reached, line.f1, line.bound, line.passed, line.questions) == ("0.875", 0.875, "0.875", True, 4)
    assert not measure.hits("PQ", outcomes(1, 1, 1, 0.4), 0.875).passed
    assert measure.hits("PQ", outcomes(0.0)).passed, "a figure that is only reported"
    assert not measure.hits("PQ", [], 0.0).passed


def test_new_wordings_may_be_some_points_behind() -> None:
    seen, near, far = outcomes(1, 1, 1, 1), outcomes(1, 1, 1, 0.9), outcomes(1, 1, 1, 0.8)
    assert measure.behind("new", near, seen, 3.0).passed
    assert not measure.behind("new", far, seen, 3.0).passed
    assert measure.behind("new", far, seen, 3.0).reached == "+5.0 points"
    assert measure.behind("new", seen, far, 3.0).reached == "-5.0 points"
    assert not measure.behind("new", [], seen, 3.0).passed


def test_refusals_and_times() -> None:
    half = [*outcomes(1, answered=False), *outcomes(0)]
    assert measure.refused("foreign", half, 0.5).passed
    assert not measure.refused("foreign", half, 0.51).passed
    timed = [10.0] * 18 + [300.0] * 2
    assert measure.times("own", timed, 10, 300).passed
    assert not measure.times("own", timed, 10, 299).passed
    assert measure.times("local", [3.0], 3, 3).reached == "3.0 / 3.0 ms"
    assert not measure.times("none", [], 1, 1).passed


def test_the_table_names_what_was_missed(tmp_path: Path) -> None:
    lines = [
        measure.hits("PQ", outcomes(1), 0.5, leaks=0),
        measure.none("names that reached the reasoner, all runs", 1, 2),
    ]
    text = measure.markdown(lines)
    assert "| PQ | 1 | 0.50 | 1.000 | pass | 1.000 | 0 |" in text
    assert "Missed: names that reached the reasoner, all runs." in text
    assert "Every bound is reached." in measure.markdown(lines[:1])
    assert len({line.count("|") for line in text.splitlines() if line.startswith("|")}) == 1
    measure.write_json(lines, tmp_path / "out.json")
    assert [each["passed"] for each in json.loads((tmp_path / "out.json").read_text())["measures"]] == [True, False]


@pytest.mark.parametrize(("reached", "passed"), [(1.9, True), (2.0, True), (2.01, False)])
def test_a_figure_above_its_bound_fails(reached: float, passed: bool) -> None:
    line = measure.at_most("calls", 1, reached, 2.0, "{:.2f}")
    assert (line.passed, line.bound, line.reached) == (passed, "at most 2.00", f"{reached:.2f}")


def test_without_questions_no_bound_is_reached() -> None:
    assert not measure.at_most("calls", 0, 0.0, 2.0, "{:.2f}").passed
