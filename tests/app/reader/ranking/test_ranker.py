"""Readings are ranked by a conditional logit with "none of these"; none is executed."""

from __future__ import annotations

import math

import pytest

from app.llm.tasks import StepInput
from app.reader.ranking.candidates import MAX_RANKED, candidates_of
from app.reader.ranking.features import features_of
from app.reader.ranking.ranker import MAX_LIKELY, FittedRanker, likely_readings
from app.reader.scoring.path_scoring import PathScorer
from tests.app.reader.test_step import CITY, KINDS, STEPS


def asked(question: str) -> StepInput:
    """A question about a city over the schema of a clinic."""
    own = {CITY.name: tuple(step.label for step in STEPS if step.kind == "city")}
    return StepInput(question=question, things=[CITY], evidence=[], candidates=[], steps=STEPS, kinds=KINDS, own=own)


@pytest.fixture
def question() -> StepInput:
    return asked("which doctors look after patients in Ez9y8x")


def test_chances_are_shares_beside_none_of_these() -> None:
    ranker = FittedRanker({"likeness": 2.0}, -1.0)
    chances = ranker.chances([{"likeness": 1.0}, {"likeness": 0.0, "unknown feature": 5.0}])
    total = 1 + math.exp(1) + math.exp(-1)
    assert chances == pytest.approx([math.exp(1) / total, math.exp(-1) / total])


def test_utilities_of_any_size_give_chances() -> None:
    assert FittedRanker({"score": 1e6}, 0.0).chances([{"score": 1.0}, {"score": -1.0}]) == [1.0, 0.0]
    assert FittedRanker({}, 0.0).chances([]) == []


def test_each_expression_is_a_candidate_once_best_score_first(scorer: PathScorer, question: StepInput) -> None:
    found = candidates_of(scorer, question)
    assert 1 < len(found) <= MAX_RANKED
    assert len({each.text for each in found}) == len(found)
    scores = [each.meaning.score for each in found]
    assert scores == sorted(scores, reverse=True)


def test_the_likeliest_readings_come_first(scorer: PathScorer, question: StepInput) -> None:
    every = [each.meaning.expression for each in candidates_of(scorer, question)]
    told = features_of(scorer, candidates_of(scorer, question))
    # A ranker that minds nothing but the score takes the readings in the order of their scores.
    likely = likely_readings(scorer, question, FittedRanker({"behind": -9.0}, 9.0))
    best = [text for text, each in zip(every, told, strict=True) if each["behind"] < 0.1]
    assert list(likely) == best[:MAX_LIKELY]


def test_nothing_is_likely_where_none_of_these_is(scorer: PathScorer, question: StepInput) -> None:
    assert likely_readings(scorer, question, FittedRanker({}, -30.0)) == ()


def test_no_question_is_read_from_nothing(scorer: PathScorer) -> None:
    assert likely_readings(scorer, asked("hm")) == ()


def test_features_tell_what_is_left_unread(scorer: PathScorer) -> None:
    given = asked("which doctors juggle patients in Ez9y8x")
    found = candidates_of(scorer, given)
    told = features_of(scorer, found, found[0].meaning.expression)
    assert all(math.isfinite(value) for each in told for value in each.values())
    assert max(each["left"] for each in told) >= 1.0
    assert min(each["behind"] for each in told) == 0.0
    assert told[0]["sure"] == 1.0
    assert sum(each["sure"] for each in told) == 1.0
