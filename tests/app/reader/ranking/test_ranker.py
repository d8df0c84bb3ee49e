"""Readings are ranked by a conditional logit with "none of these", and readings with one result are one answer."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

import pytest

from app.llm.tasks import StepInput
from app.reader.ranking.candidates import Candidate, candidates_of
from app.reader.ranking.features import features_of
from app.reader.ranking.ranker import MIN_CHANCE, FittedRanker, RankedReading, ranked_meaning, ranked_readings
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
    assert ranked_meaning(scorer, FittedRanker({}, 9.0), question, (), lambda _text: None) is None


def test_each_expression_is_executed_once(scorer: PathScorer, question: StepInput) -> None:
    seen: list[str] = []
    candidates_of(scorer, question, lambda text: seen.append(text) or SOME)  # type: ignore[func-returns-value]
    assert seen
    assert len(seen) == len(set(seen))


def test_the_likeliest_reading_is_answered_or_else_offered(scorer: PathScorer, question: StepInput) -> None:
    class Certain:
        def __init__(self, chance: float) -> None:
            self.chance = chance

        def chances(self, candidates: list[Candidate], features: list[dict[str, float]]) -> list[float]:
            assert len(candidates) == len(features)
            return [self.chance, *([0.0] * (len(candidates) - 1))]

    sure = ranked_meaning(scorer, Certain(MIN_CHANCE), question, (), each_its_own)
    assert sure is not None
    assert sure.expression
    assert sure.scores.share == MIN_CHANCE
    unsure = ranked_meaning(scorer, Certain(0.4), question, (), each_its_own)
    assert unsure is not None
    assert (unsure.expression, len(unsure.offered)) == ("", 1)
    assert ranked_meaning(scorer, Certain(0.1), question, (), each_its_own) is None


def test_features_tell_what_is_left_unread_and_what_is_found(scorer: PathScorer) -> None:
    given = asked("which doctors juggle patients in Ez9y8x")
    found = candidates_of(scorer, given, lambda _text: ExpressionResult("number", number=Decimal(0)))
    told = features_of(scorer, found, ())
    assert all(each["zero"] == 1.0 for each in told)
    assert all(math.isfinite(value) for each in told for value in each.values())
    assert max(each["left"] for each in told) >= 1.0
    assert min(each["behind"] for each in told) == 0.0
