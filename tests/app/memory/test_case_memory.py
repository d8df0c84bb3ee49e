"""The nearest cases: softmax of their cosines, nothing for what is far, and only relations and numbers."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pytest

from app.llm.in_house import CasePath, gains_of
from app.llm.tasks import StepInput
from app.memory.case_memory import MIN_COSINE, NEAREST, WEIGHT, WEIGHT_OF_SAME, nearest_cases
from app.memory.cases import Case, CaseContent, LabelPath, Vector

NOW = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
ASKED = np.array([1.0, 0.0], dtype=np.float32)


def at(cosine: float) -> Vector:
    return np.array([cosine, (1 - cosine**2) ** 0.5], dtype=np.float32)


def case(name: str, cosine: float, *path: str, whole: bool = True) -> Case:
    return Case(name, "key", NOW, None, 0, CaseContent("model", at(cosine), (path,), whole))


def gained(*cases: Case) -> dict[LabelPath, float]:
    return {each.path: each.gain for each in nearest_cases(cases, ASKED).gains}


def test_weights_are_a_softmax_of_the_cosines() -> None:
    found = gained(case("a", 0.9, "r"), case("b", 0.85, "s"), case("c", 0.9, "r"))
    share = np.exp(0.9 / 0.05), np.exp(0.85 / 0.05)
    assert found["r",] == pytest.approx(WEIGHT * 2 * share[0] / (2 * share[0] + share[1]), rel=1e-3)
    assert sum(found.values()) == pytest.approx(WEIGHT)


def test_what_is_not_near_gives_nothing() -> None:
    assert gained(case("a", MIN_COSINE - 0.01, "r")) == {}
    near = case("a", MIN_COSINE + 0.01, "r")
    assert nearest_cases([near], ASKED).of_path == {("r",): [near]}


def test_only_the_nearest_count() -> None:
    found = gained(*(case(str(each), 0.8, "near") for each in range(NEAREST)), case("far", 0.7, "far"))
    assert set(found) == {("near",)}


def test_the_same_words_settle_a_question_unless_they_were_answered_otherwise_as_often() -> None:
    (one,) = nearest_cases([case("a", 1.0, "r")], ASKED).gains
    assert one.settles
    assert one.gain == pytest.approx(WEIGHT_OF_SAME)
    both = nearest_cases([case("a", 1.0, "r"), case("b", 1.0, "s")], ASKED).gains
    assert not any(each.settles for each in both)
    (counted,) = nearest_cases([case("a", 1.0, "r", whole=False)], ASKED).gains
    assert not counted.settles


def test_what_a_path_begins_with_gains_only_where_it_is_asked_for() -> None:
    cases = [CasePath(path=("a", "b"), gain=0.1)]
    paths = [("a",), ("a", "b"), ("b",)]
    assert gains_of(cases, paths).tolist() == [0.0, 0.1, 0.0]
    assert gains_of(cases, paths, or_begins=True).tolist() == [0.1, 0.1, 0.0]


def test_cases_are_no_part_of_what_is_sent() -> None:
    given = StepInput(question="q", things=[], evidence=[], candidates=[], cases=(CasePath(path=("secret",), gain=1),))
    assert "secret" not in given.model_dump_json()
    assert "cases" not in str(StepInput.model_json_schema())
