"""The nearest cases: softmax of their cosines, nothing for what is far, and only relations and numbers."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pytest

from app.llm.in_house import CasePath, gains_of
from app.llm.tasks import StepInput
from app.memory.case_memory import WEIGHT_OF_SAME, nearest_cases
from app.memory.cases import Case, CaseContent, Vector

NOW = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
ASKED = np.array([1.0, 0.0], dtype=np.float32)


def at(cosine: float) -> Vector:
    return np.array([cosine, (1 - cosine**2) ** 0.5], dtype=np.float32)


def case(name: str, cosine: float, *path: str, whole: bool = True) -> Case:
    return Case(name, "key", NOW, None, 0, CaseContent("model", at(cosine), (path,), whole))


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
