"""Chooses among the readings of a question by a fitted formula, which also knows how likely none of them is right.

Each reading has a utility, the weighted sum of its features; "none of these" has the utility 0. The chance of a
reading is its share of the exponentials (a conditional logit, McFadden 1974). Readings with the same result are one
answer, so that their chances are added. `arog train ranker` fits the weights.
"""

from __future__ import annotations

import math
import tomllib
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Protocol

from app.llm.confidence import is_likely
from app.llm.tasks import StepInput
from app.reader.meaning.read_meaning import read_meaning
from app.reader.ranking.candidates import Candidate, ResultOf, candidates_of
from app.reader.ranking.features import features_of
from app.reader.scoring.path_scoring import PathScorer

WEIGHTS: Final = Path(__file__).with_name("weights.toml")
MIN_CHANCE, MAX_LIKELY = 0.2, 3
"""The least chance of a reading that is offered, and the greatest number of them. Chosen by hand on graphs that were
left out of the fit: of the questions that are not read surely two of three are offered something, and 0.56 of these
the right reading among the first two.
"""


class Ranker(Protocol):
    """Gives each reading of a question the chance (0 to 1) that it is meant; together they are at most 1."""

    def chances(self, candidates: Sequence[Candidate], features: Sequence[Mapping[str, float]]) -> list[float]: ...


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

    def chances(self, candidates: Sequence[Candidate], features: Sequence[Mapping[str, float]]) -> list[float]:
        del candidates
        utilities = [
            self.bias + sum(self.weights.get(name, 0.0) * value for name, value in each.items()) for each in features
        ]
        most = max([0.0, *utilities])
        odds = [math.exp(each - most) for each in utilities]
        total = math.exp(-most) + sum(odds)
        return [each / total for each in odds]


@dataclass(frozen=True, slots=True)
class RankedReading:
    """One reading with the `chance` of its answer, which other readings with the same result share."""

    candidate: Candidate
    chance: float


def answer_of(candidate: Candidate) -> object:
    """Returns what two readings share if they give one answer.

    Those that give yes or no are never one: half of all wrong ones would agree with the right one.
    """
    is_truth = candidate.result is None or candidate.result.truth is not None
    return candidate.text if is_truth else candidate.result


def ranked_readings(candidates: Sequence[Candidate], chances: Sequence[float]) -> list[RankedReading]:
    """Returns one reading for each result, the likeliest answer first; each is the likeliest with that result."""
    by_result: defaultdict[object, list[tuple[float, int]]] = defaultdict(list)
    for at, (each, chance) in enumerate(zip(candidates, chances, strict=True)):
        by_result[answer_of(each)].append((chance, -at))
    found = [
        RankedReading(candidates[-max(group)[1]], sum(chance for chance, _ in group)) for group in by_result.values()
    ]
    return sorted(found, key=lambda each: -each.chance)


def likely_readings(
    scorer: PathScorer, ranker: Ranker, given: StepInput, named: Collection[int], result_of: ResultOf
) -> tuple[str, ...]:
    """Returns the expressions of the likeliest answers, at most MAX_LIKELY; empty if none is likely enough.

    `named`: ids of the entities that the question names.
    """
    candidates, read = candidates_of(scorer, given, result_of), read_meaning(scorer, given)
    sure = read.meaning.expression if read is not None and read.is_sure and is_likely(read.scores) else ""
    chances = ranker.chances(candidates, features_of(scorer, candidates, named, sure))
    likely = [each for each in ranked_readings(candidates, chances) if each.chance >= MIN_CHANCE]
    return tuple(each.candidate.meaning.expression for each in likely[:MAX_LIKELY])
