"""Chooses among the readings of a question by a fitted formula, which also knows how likely none of them is right.

Each reading has a utility, the weighted sum of its features; "none of these" has the utility 0. The chance of a
reading is its share of the exponentials (a conditional logit, McFadden 1974). `arog train ranker` fits the weights.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final

from app.language.readings import LikelyReadings, SureReading
from app.llm.in_house import ReadingScores
from app.llm.tasks import StepInput
from app.reader.meaning.question.one_question import two_questions
from app.reader.meaning.question.question_tokens import LABEL
from app.reader.ranking.candidates import candidates_of
from app.reader.ranking.clues import GIVES_ROWS, ReadingFeatures
from app.reader.ranking.features import features_of
from app.reader.scoring.path_scoring import PathScorer
from kg_store.algebra.expressions import ExpressionResult

WEIGHTS: Final = Path(__file__).with_name("weights.toml")
MIN_CHANCE, MAX_LIKELY = 0.1, 3
"""The least chance of a reading that is offered, and the greatest number of them. Chosen by hand on graphs that were
left out of the fit: `arog train ranker`.
"""
MIN_SURE, MIN_ANSWERED = 0.35, 0.7
"""The least chance of the result of a reading that the words decide for (MIN_SURE), and of one for which they don't
(MIN_ANSWERED), to be answered. Chosen by hand on 26 left-out domains: below MIN_SURE more than half were wrong, and
from 0.35 to 0.6 about half were right.
"""
MAX_UNLIKE: Final = 0.55
"""Greatest sum of how unlike (1 less the likeness in context) the unread words are to what is read, for a reading that
the words don't decide for to be answered: "where does X live" is not X's birth city. Chosen as the two above.
"""
MAX_EXECUTED, MIN_EXECUTED = 12, 0.02
"""Greatest number of readings that are executed, the likeliest first, and their least chance; limits the time."""

ResultOf = Callable[[str], ExpressionResult | None]


@dataclass(frozen=True, slots=True)
class FittedRanker:
    """The ranker with the weights in the box, or with others."""

    weights: Mapping[str, float]
    bias: float

    @classmethod
    @cache
    def boxed(cls) -> FittedRanker:
        """Reads the weights in the box."""
        told = tomllib.loads(WEIGHTS.read_text("utf-8"))
        return cls(told["weights"], told["bias"])

    def chances(self, features: Sequence[ReadingFeatures]) -> list[float]:
        """Returns the chance (0 to 1) of each reading by its features; together they are at most 1."""
        utilities = [self.bias + self._weighed(each) for each in features]
        most = max([0.0, *utilities])
        odds = [math.exp(each - most) for each in utilities]
        total = math.exp(-most) + sum(odds)
        return [each / total for each in odds]

    def _weighed(self, each: ReadingFeatures) -> float:
        numbers = sum(self.weights.get(name, 0.0) * value for name, value in each.numbers.items())
        return numbers + sum(self.weights.get(pair, 0.0) for pair in set(each.pairs))


@dataclass(frozen=True, slots=True)
class RankedReading:
    """A reading by its position `at` among the candidates, with its `chance` (0 to 1).

    `is_sure`: the words decide for it. `is_answerable`: it may be answered even if they don't, by what it leaves
    unread and gives.
    """

    at: int
    chance: float
    is_sure: bool
    is_answerable: bool


def ranked_readings(ranker: FittedRanker, features: Sequence[ReadingFeatures]) -> list[RankedReading]:
    """Returns the readings of a question by their features, the likeliest first.

    Nameless nodes (rows) equal no right answer of the fit, so a reading that gives them is likely if words decide.
    So is one that narrows the set just told to those that have a thing ("which of them are signed?"): the fit holds
    too few, and rates them too low; in 30 seen domains 17 of 18 were right.
    """
    found = []
    for at, (chance, each) in enumerate(zip(ranker.chances(features), features, strict=True)):
        is_sure, gives_rows = bool(each.numbers.get("sure")), bool(each.numbers.get(GIVES_ROWS))
        narrows_told = each.numbers.get("having") and each.numbers.get("earlier_is_set")
        least = MIN_ANSWERED if gives_rows else MIN_SURE if narrows_told else 0.0
        likely = max(chance, least) if is_sure else chance
        found.append(RankedReading(at, likely, is_sure, _is_answerable(each.numbers)))
    return sorted(found, key=lambda each: -each.chance)


def _is_answerable(numbers: Mapping[str, float]) -> bool:
    return numbers.get("left_far_in_context", 0.0) <= MAX_UNLIKE and not numbers.get(GIVES_ROWS)


def ranked_results(ranked: Sequence[RankedReading], key_of: Callable[[int], object | None]) -> list[RankedReading]:
    """Returns one reading for each result of the likeliest readings and of a sure one, the likeliest result first.

    It is the sure or else the likeliest one of those with that result, and has their chance together.

    `key_of`: returns a key that equal results share, for the position of a reading; None if it has no result. Such a
    reading is left out, unless the words decide for it: that there is nothing is an answer then.
    """
    groups: dict[object, list[RankedReading]] = {}
    for place, each in enumerate(ranked):
        if (place < MAX_EXECUTED and each.chance >= MIN_EXECUTED) or each.is_sure:
            key = key_of(each.at)
            if key is not None or each.is_sure:
                groups.setdefault(key, []).append(each)
    found = [
        replace(
            each[0],
            at=next((one.at for one in each if one.is_sure), each[0].at),
            chance=sum(one.chance for one in each),
            is_sure=any(one.is_sure for one in each),
        )
        for each in groups.values()
    ]
    return sorted(found, key=lambda each: -each.chance)


def likely_readings(
    scorer: PathScorer, given: StepInput, result_of: ResultOf, ranker: FittedRanker | None = None
) -> LikelyReadings:
    """Returns the reading to be answered, if one is likely enough, else those to be offered.

    Readings with the same result count together. What is offered does not depend on any result.
    """
    candidates = candidates_of(scorer, given)
    ranked = ranked_readings(ranker or FittedRanker.boxed(), features_of(scorer, given, candidates))
    results = ranked_results(ranked, lambda at: result_key(result_of(candidates[at].text)))
    asks_two = two_questions(given.question) is not None  # A likely reading of one of two would be half an answer.
    for place, each in enumerate(results):
        is_first = place == 0 and each.is_answerable and not asks_two
        if (each.is_sure and each.chance >= MIN_SURE) or (is_first and each.chance >= MIN_ANSWERED):
            text = candidates[each.at].text
            steps = len(set(LABEL.findall(text)))
            scores = ReadingScores("ranked", each.chance, 0.0, steps=steps, share=each.chance)
            return LikelyReadings(answered=SureReading(text, scores))
    likely = [candidates[each.at].meaning.expression for each in ranked[:MAX_LIKELY] if each.chance >= MIN_CHANCE]
    return LikelyReadings(offered=tuple(likely), is_doubted=any(each.is_sure for each in ranked))


def result_key(result: ExpressionResult | None) -> ExpressionResult | None:
    """Returns what equal results share, whatever the order of their members."""
    return None if result is None else replace(result, ordered=False, mids=tuple(sorted(result.mids)))
