"""Readings are ranked by a conditional logit with "none of these", and readings with one result are one answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

import pytest

from app.llm.tasks import StepInput
from app.reader.ranking.candidates import Candidate, candidates_of
from app.reader.ranking.features import features_of
from app.reader.ranking.ranker import (
    MAX_LIKELY,
    MIN_CHANCE,
    FittedRanker,
    RankedReading,
    likely_readings,
    ranked_readings,
)
from app.reader.scoring.path_scoring import PathScorer
from kg_store.algebra.expressions import ExpressionResult
from tests.app.reader.test_step import CITY, KINDS, STEPS

SOME = ExpressionResult("set", (1, 2))
ResultOf = Callable[[str], ExpressionResult | None]


def asked(question: str) -> StepInput:
    """A question about a city over the schema of a clinic."""
    own = {CITY.name: tuple(step.label for step in STEPS if step.kind == "city")}
    return StepInput(question=question, things=[CITY], evidence=[], candidates=[], steps=STEPS, kinds=KINDS, own=own)


def each_its_own(text: str) -> ExpressionResult:
    """A result of its own for each expression."""
    return ExpressionResult("number", number=Decimal(len(text) + sum(map(ord, text))))


@pytest.fixture
def question() -> StepInput:
    return asked("which doctors look after patients in Ez9y8x")


def test_chances_are_shares_beside_none_of_these() -> None:
    ranker = FittedRanker({"likeness": 2.0}, -1.0)
    chances = ranker.chances((), [{"likeness": 1.0}, {"likeness": 0.0, "unknown feature": 5.0}])
    total = 1 + math.exp(1) + math.exp(-1)
    assert chances == pytest.approx([math.exp(1) / total, math.exp(-1) / total])


def test_utilities_of_any_size_give_chances() -> None:
    assert FittedRanker({"score": 1e6}, 0.0).chances((), [{"score": 1.0}, {"score": -1.0}]) == [1.0, 0.0]
    assert FittedRanker({}, 0.0).chances((), []) == []


def test_readings_with_one_result_share_their_chance(scorer: PathScorer, question: StepInput) -> None:
    first, second, third = candidates_of(scorer, question, lambda _text: SOME)[:3]
    other = replace(third, result=ExpressionResult("set", (3,)))
    ranked = ranked_readings([first, second, other], [0.3, 0.2, 0.4])
    assert ranked == [RankedReading(first, 0.5), RankedReading(other, 0.4)]


def test_readings_that_say_yes_are_not_one_answer(scorer: PathScorer, question: StepInput) -> None:
    yes = ExpressionResult("truth", truth=True)
    found = candidates_of(scorer, question, lambda _text: yes)[:2]
    assert len(ranked_readings(found, [0.4, 0.4])) == 2


def test_no_reading_without_a_result_is_ranked(scorer: PathScorer, question: StepInput) -> None:
    assert candidates_of(scorer, question, lambda _text: None) == []
    assert likely_readings(scorer, FittedRanker({}, 9.0), question, (), lambda _text: None) == ()


def test_each_expression_is_executed_once(scorer: PathScorer, question: StepInput) -> None:
    seen: list[str] = []
    candidates_of(scorer, question, lambda text: seen.append(text) or SOME)  # type: ignore[func-returns-value]
    assert seen
    assert len(seen) == len(set(seen))


def test_the_likeliest_readings_are_offered_best_first(scorer: PathScorer, question: StepInput) -> None:
    class Told:
        def __init__(self, *told: float) -> None:
            self.told = told

        def chances(self, candidates: Sequence[Candidate], features: Sequence[Mapping[str, float]]) -> list[float]:
            assert len(candidates) == len(features) > len(self.told)
            return [*self.told, *([0.0] * (len(candidates) - len(self.told)))]

    every = [each.meaning.expression for each in candidates_of(scorer, question, each_its_own)]
    likely = likely_readings(scorer, Told(MIN_CHANCE, MIN_CHANCE / 2, MIN_CHANCE * 2), question, (), each_its_own)
    assert likely == (every[2], every[0])
    same = [0.24] * (MAX_LIKELY + 1)
    assert len(likely_readings(scorer, Told(*same), question, (), each_its_own)) == MAX_LIKELY


def test_features_tell_what_is_left_unread_and_what_is_found(scorer: PathScorer) -> None:
    given = asked("which doctors juggle patients in Ez9y8x")
    found = candidates_of(scorer, given, lambda _text: ExpressionResult("number", number=Decimal(0)))
    told = features_of(scorer, found, ())
    assert all(each["zero"] == 1.0 for each in told)
    assert all(math.isfinite(value) for each in told for value in each.values())
    assert max(each["left"] for each in told) >= 1.0
    assert min(each["behind"] for each in told) == 0.0
