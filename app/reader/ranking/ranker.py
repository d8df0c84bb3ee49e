"""Chooses among the readings of a question by a fitted formula, which also knows how likely none of them is right.

Each reading has a utility, the weighted sum of its features; "none of these" has the utility 0. The chance of a
reading is its share of the exponentials (a conditional logit, McFadden 1974). `arog train ranker` fits the weights.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Final

from app.language.readings import LikelyReadings, SureReading
from app.llm.confidence import is_likely
from app.llm.in_house import ReadingScores
from app.llm.tasks import StepInput
from app.reader.meaning.question.question_tokens import LABEL
from app.reader.meaning.read_meaning import read_meaning
from app.reader.ranking.candidates import Candidate, candidates_of
from app.reader.ranking.clues import GIVES_ROWS, ReadingFeatures
from app.reader.ranking.features import features_of
from app.reader.scoring.path_scoring import PathScorer
from kg_store.algebra.expressions import ExpressionResult

WEIGHTS: Final = Path(__file__).with_name("weights.toml")
MIN_CHANCE, MAX_LIKELY = 0.1, 3
"""The least chance of a reading that is offered, and the greatest number of them. Chosen by hand on graphs that were
left out of the fit: `arog train ranker`.
"""
MIN_SURE, MIN_ANSWERED = 0.4, 0.8
"""The least chance of the result of a reading that the words decide for (MIN_SURE), and of one for which they don't
(MIN_ANSWERED), to be answered. Chosen by hand on left-out graphs: below MIN_SURE more than half were wrong, and from
MIN_ANSWERED, with MAX_UNLIKE, sixteen of seventeen were right.
"""
MAX_UNLIKE: Final = 0.55
"""Greatest sum of how unlike (1 less the likeness in context) the unread words are to what is read, for a reading that
the words don't decide for to be answered: "where does X live" is not X's birth city. Chosen as the two above.
"""
MAX_EXECUTED: Final = 12
"""Greatest number of readings that are executed, the likeliest first; limits the time."""

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
    """A reading with its `chance` (0 to 1). `is_sure`: the words decide for it; else it is answered if it `may_be`."""

    candidate: Candidate
    chance: float
    is_sure: bool
    may_be: bool


def ranked_readings(scorer: PathScorer, given: StepInput, ranker: FittedRanker) -> list[RankedReading]:
    """Returns the readings of a question, the likeliest first."""
    candidates, read = candidates_of(scorer, given), read_meaning(scorer, given)
    sure = read.meaning.expression if read is not None and read.is_sure and is_likely(read.scores) else ""
    told = features_of(scorer, candidates, sure)
    found = [
        RankedReading(each, chance, bool(sure) and each.meaning.expression == sure, may_be_answered(features))
        for each, chance, features in zip(candidates, ranker.chances(told), told, strict=True)
    ]
    return sorted(found, key=lambda each: -each.chance)


def may_be_answered(features: ReadingFeatures) -> bool:
    """Returns True if a reading may be answered that the words don't decide for, by what it leaves unread."""
    numbers = features.numbers
    return numbers.get("left_far_in_context", 0.0) <= MAX_UNLIKE and not numbers.get(GIVES_ROWS)


def likely_readings(
    scorer: PathScorer, given: StepInput, result_of: ResultOf, ranker: FittedRanker | None = None
) -> LikelyReadings:
    """Returns the reading to be answered, if one is likely enough, else those to be offered.

    Readings with the same result count together, and one without a result is never answered. What is offered does not
    depend on any result.
    """
    ranked = ranked_readings(scorer, given, ranker or FittedRanker.boxed())
    groups = _by_result(ranked, result_of)
    for each in groups:
        is_likely_alone = each is groups[0] and each.may_be and each.chance >= MIN_ANSWERED
        if is_likely_alone or (each.has_sure and each.chance >= MIN_SURE):
            return LikelyReadings(answered=SureReading(each.text, each.scores))
    likely = [each.candidate.meaning.expression for each in ranked[:MAX_LIKELY] if each.chance >= MIN_CHANCE]
    return LikelyReadings(offered=tuple(likely), is_doubted=any(each.is_sure for each in ranked))


@dataclass(frozen=True, slots=True)
class _SameResult:
    """Readings with one result: the likeliest of them, and the chance of all; see RankedReading."""

    text: str
    chance: float
    steps: int
    has_sure: bool
    may_be: bool

    @property
    def scores(self) -> ReadingScores:
        return ReadingScores("ranked", self.chance, 0.0, steps=self.steps, share=self.chance)


def _by_result(ranked: Sequence[RankedReading], result_of: ResultOf) -> list[_SameResult]:
    """Returns the results of the likeliest readings and of a sure one, the likeliest result first."""
    groups: dict[object, list[RankedReading]] = {}
    for each in (*islice(ranked, MAX_EXECUTED), *(one for one in ranked[MAX_EXECUTED:] if one.is_sure)):
        result = result_of(each.candidate.text)
        if result is not None and (not is_empty(result) or each.is_sure):
            groups.setdefault(key_of(result), []).append(each)
    found = [
        _SameResult(
            (next((one for one in each if one.is_sure), each[0])).candidate.text,
            sum(one.chance for one in each),
            len(set(LABEL.findall(each[0].candidate.text))),
            any(one.is_sure for one in each),
            each[0].may_be,
        )
        for each in groups.values()
    ]
    return sorted(found, key=lambda each: -each.chance)


def is_empty(result: ExpressionResult) -> bool:
    """Returns True if a result holds nothing, which a reading that is meant rarely gives."""
    return not (result.mids or result.rows) and result.number is None and result.truth is None


def key_of(result: ExpressionResult) -> object:
    """Returns a key that equal results share."""
    return frozenset(result.mids), tuple(map(str, result.rows or ())), str(result.number), result.truth
