"""The nearest cases: softmax of their cosines, nothing for what is far, and only relations and numbers."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import cast

import numpy as np
import pytest

from app.llm.in_house import CasePath, gains_of
from app.llm.tasks import StepInput
from app.memory.case_memory import WEIGHT_OF_SAME, CaseMemory, nearest_cases
from app.memory.cases import Case, CaseContent, CaseStore, Vector

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


class _Kept:
    def __init__(self, *kept: Case) -> None:
        self._kept = kept

    def usable_by(self, tenant: str, graph: str, key_id: str) -> list[Case]:
        return list(self._kept)


def test_a_case_of_another_sentence_model_is_embedded_anew_or_left_out() -> None:
    old = case("a", 0.0, "r")
    worded = replace(old, content=replace(old.content, asked="treated by"))
    for kept, gains in ((worded, 1), (old, 0)):
        memory = CaseMemory(cast(CaseStore, _Kept(kept)), lambda _text: ASKED, "another model")
        assert len(memory.near("t", "g", "key", "", {"r"}, "Who treats Eq7f2k?").gains) == gains
    same = CaseMemory(cast(CaseStore, _Kept(worded)), lambda _text: ASKED, "model")
    assert not same.near("t", "g", "key", "", {"r"}, "Who treats Eq7f2k?").gains
