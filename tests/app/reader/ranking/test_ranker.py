"""Readings are ranked by a conditional logit with "none of these"; their results decide what is answered alone."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping

import pytest

from app.language.readings import NOTHING_LIKELY, NUMBER
from app.llm.tasks import StepInput, Thing, Turn
from app.reader.ranking.candidates import MAX_RANKED, candidates_of
from app.reader.ranking.clues import ReadingFeatures
from app.reader.ranking.features import features_of
from app.reader.ranking.ranker import MAX_LIKELY, MIN_ANSWERED, FittedRanker, likely_readings
from app.reader.scoring.path_scoring import PathScorer
from kg_store.algebra.expressions import ExpressionResult
from tests.app.reader.test_step import CITY, KINDS, STEPS


def asked(question: str) -> StepInput:
    """A question about a city over the schema of a clinic."""
    own = {CITY.name: tuple(step.label for step in STEPS if step.kind == "city")}
    return StepInput(question=question, things=[CITY], evidence=[], candidates=[], steps=STEPS, kinds=KINDS, own=own)


@pytest.fixture
def question() -> StepInput:
    return asked("which doctors look after patients in Ez9y8x")


def numbers(**told: float) -> ReadingFeatures:
    return ReadingFeatures(told, ())


def results(of: Mapping[str, int]) -> Callable[[str], ExpressionResult | None]:
    """Executes the expressions of `of`, each to one thing; all others give nothing."""
    return lambda text: ExpressionResult("set", (of[text],)) if text in of else None


def nothing(_expression: str) -> ExpressionResult | None:
    return None


def test_chances_are_shares_beside_none_of_these() -> None:
    ranker = FittedRanker({"likeness": 2.0}, -1.0)
    chances = ranker.chances([numbers(likeness=1.0), numbers(likeness=0.0, unknown=5.0)])
    total = 1 + math.exp(1) + math.exp(-1)
    assert chances == pytest.approx([math.exp(1) / total, math.exp(-1) / total])


def test_a_pair_weighs_once() -> None:
    ranker = FittedRanker({"most|w=often": 1.0}, 0.0)
    often = ReadingFeatures({}, ("most|w=often", "most|w=often", "most|w=never seen"))
    assert ranker.chances([often, numbers()]) == pytest.approx([math.e / (math.e + 2), 1 / (math.e + 2)])


def test_utilities_of_any_size_give_chances() -> None:
    assert FittedRanker({"score": 1e6}, 0.0).chances([numbers(score=1.0), numbers(score=-1.0)]) == [1.0, 0.0]
    assert FittedRanker({}, 0.0).chances([]) == []


def test_each_expression_is_a_candidate_once_best_score_first(scorer: PathScorer, question: StepInput) -> None:
    found = candidates_of(scorer, question)
    assert 1 < len(found) <= MAX_RANKED
    assert len({each.text for each in found}) == len(found)
    scores = [each.meaning.score for each in found]
    assert scores == sorted(scores, reverse=True)


def test_the_likeliest_readings_are_offered_first(scorer: PathScorer, question: StepInput) -> None:
    every = candidates_of(scorer, question)
    told = features_of(scorer, question, every)
    # A ranker that minds nothing but the score takes the readings in the order of their scores.
    likely = likely_readings(scorer, question, nothing, FittedRanker({"behind": -9.0}, 9.0))
    best = [each.meaning.expression for each, one in zip(every, told, strict=True) if one.numbers["behind"] < 0.1]
    assert list(likely.offered) == best[:MAX_LIKELY]
    assert likely.answered is None


def test_readings_with_one_result_count_together(scorer: PathScorer) -> None:
    question = asked("which doctors treat patients in Ez9y8x")
    every = [each.text for each in candidates_of(scorer, question)]
    # Every reading is as likely as any other, and "none of these" is out.
    even, apart = FittedRanker({}, 9.0), {text: at for at, text in enumerate(every)}
    assert likely_readings(scorer, question, results(apart), even).answered is None
    alike = likely_readings(scorer, question, results(dict.fromkeys(every, 7)), FittedRanker({"behind": -3.0}, 9.0))
    assert alike.answered is not None
    assert alike.answered.scores.share >= MIN_ANSWERED
    assert alike.offered == ()


def test_what_is_unlike_the_unread_words_is_not_answered(scorer: PathScorer) -> None:
    """The result of all readings is one, but no word of them is like "juggle"."""
    question, ranker = asked("which doctors juggle Ez9y8x"), FittedRanker({"behind": -3.0}, 9.0)
    every = [each.text for each in candidates_of(scorer, question)]
    likely = likely_readings(scorer, question, results(dict.fromkeys(every, 7)), ranker)
    assert likely.answered is None
    assert likely.offered


def test_what_is_offered_does_not_depend_on_results(scorer: PathScorer, question: StepInput) -> None:
    every, ranker = [each.text for each in candidates_of(scorer, question)], FittedRanker({"behind": -1.0}, 2.0)
    apart = likely_readings(scorer, question, results({text: at for at, text in enumerate(every)}), ranker)
    assert apart.offered
    assert apart == likely_readings(scorer, question, nothing, ranker)


def test_a_sure_reading_that_is_unlikely_is_doubted(scorer: PathScorer) -> None:
    sure = asked("which patients live in Ez9y8x")
    held = results({each.text: at for at, each in enumerate(candidates_of(scorer, sure))})
    likely = likely_readings(scorer, sure, held, FittedRanker({"sure": 9.0}, 0.0))
    assert likely.answered is not None
    doubted = likely_readings(scorer, sure, held, FittedRanker({"sure": -9.0}, 0.0))
    assert (doubted.answered, doubted.is_doubted) == (None, True)


def test_that_a_sure_reading_gives_nothing_is_an_answer(scorer: PathScorer) -> None:
    likely = likely_readings(scorer, asked("which patients live in Ez9y8x"), nothing, FittedRanker({"sure": 9.0}, 0.0))
    assert likely.answered is not None


def test_beside_a_sure_reading_only_steps_that_words_say_are_candidates(scorer: PathScorer) -> None:
    sure, unsure = (
        candidates_of(scorer, asked(text)) for text in ("which patients live in Ez9y8x", "who adores Ez9y8x")
    )
    assert [each.is_sure for each in sure].count(True) == 1
    assert not any(each.is_sure for each in unsure)
    assert not any(each.found.builder.near for each in sure)
    assert all(each.found.builder.near for each in unsure)


def test_what_was_spoken_of_before_is_described_by_numbers(scorer: PathScorer) -> None:
    """A pronoun may stand for each of the things spoken of, and readings that pass over it say so."""
    told = [Turn(role="user", text="Who treats Ez9y8x?"), Turn(role="assistant", text="Edo4k2 and Eq7f2k.")]
    doctors = [Thing(name=name, concept="doctor", size="1") for name in ("Edo4k2", "Eq7f2k")]
    given = asked("which patients does he treat").model_copy(update={"dialogue": told, "things": [CITY, *doctors]})
    numbers = [each.numbers for each in features_of(scorer, given, candidates_of(scorer, given))]
    assert {each["earlier_behind"] for each in numbers if each["earlier"]} >= {0.0, 1.0}
    assert all(each["pronoun_ignored"] == 1.0 - each["earlier"] for each in numbers)


def test_nothing_is_likely_where_none_of_these_is(scorer: PathScorer, question: StepInput) -> None:
    assert likely_readings(scorer, question, nothing, FittedRanker({}, -30.0)).offered == ()


def test_no_question_is_read_from_nothing(scorer: PathScorer) -> None:
    assert likely_readings(scorer, asked("hm"), nothing) == NOTHING_LIKELY


def test_features_tell_what_is_left_unread(scorer: PathScorer) -> None:
    given = asked("which doctors juggle patients in Ez9y8x")
    found = candidates_of(scorer, given)
    told = features_of(scorer, given, found)
    assert all(math.isfinite(value) for each in told for value in each.numbers.values())
    assert max(each.numbers["left"] for each in told) >= 1.0
    assert min(each.numbers["behind"] for each in told) == 0.0
    assert not any(each.numbers["sure"] for each in told)


def test_clues_pair_words_with_what_a_reading_does(scorer: PathScorer) -> None:
    """No name is in them: it is drawn anew for each conversation, and weights are kept."""
    given = asked("how many doctors juggle patients in Ez9y8x")
    found = candidates_of(scorer, given)
    pairs = {pair for each in features_of(scorer, given, found) for pair in each.pairs}
    assert {"count|wh=how many", f"t={NUMBER}|wh=how many"} <= pairs
    assert not any("Ez9y8x" in pair or pair.endswith("|p=Ez9y8x") for pair in pairs)


def test_no_stand_in_is_weighed() -> None:
    assert not [name for name in FittedRanker.boxed().weights if re.search(r"\b[ESVRK][a-z0-9]{5}\b", name)]
