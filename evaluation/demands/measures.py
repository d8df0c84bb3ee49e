"""Measures of replies as in DCRAG (Yu et al., EMNLP 2024, section 4.1.3), with intervals and tests of differences.

Shares and ratings are times 100, as the paper prints them; the sum of IDF is not.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from evaluation.checks.metrics import interval, mean
from evaluation.demands.matching import FactRarity
from evaluation.dialogue.dialogue_sets import Triple
from evaluation.dialogue.replies import distinct

Winner = Literal["first", "second", "tie"]
Judgement = float | None
"""A figure that a judge gave; None if there is none, since its reply could not be read."""


class Figure(NamedTuple):
    """A figure with the bounds of its 95 % interval, over `of` replies."""

    value: float
    low: float
    high: float
    of: int

    def __str__(self) -> str:
        return f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]"


def percentage(hits: Sequence[bool]) -> Figure:
    """Returns the share of true values times 100, with Wilson's interval; all of 0 to 100 without values."""
    from scipy.stats import binomtest

    if not hits:
        return Figure(0.0, 0.0, 100.0, 0)
    bounds = binomtest(sum(hits), len(hits)).proportion_ci(method="wilson")
    return Figure(100 * sum(hits) / len(hits), 100 * float(bounds.low), 100 * float(bounds.high), len(hits))


def mean_of(values: Sequence[Judgement]) -> Figure:
    """Returns the mean of the values that are there, with the percentile interval of the bootstrap."""
    there = [value for value in values if value is not None]
    return Figure(mean(there), *interval(there), len(there))


def commonsense_proportion(found: Sequence[Collection[Triple]]) -> Figure:
    """Returns CDP: the share of replies that a fact joins to their history, from the facts of each reply."""
    return percentage([bool(facts) for facts in found])


def commonsense_feature(found: Sequence[Collection[Triple]], rarity: FactRarity) -> Figure:
    """Returns CDF: the IDF of the facts of a reply, added up, and the mean over the replies."""
    # Sums of floats depend on the order, and a set has none.
    return mean_of([math.fsum(map(rarity.idf, facts)) for facts in found])


def rating_percent(ratings: Sequence[int | None]) -> list[Judgement]:
    """Returns ratings from 1 to 5 as 0 to 100.

    The paper does not state the scale. That of its Informativeness and Overall must be 100 (rating - 1) / 4: then each
    printed mean is that of 300 whole ratings, which it is not with 100 rating / 5.
    """
    return [None if rating is None else 25.0 * (rating - 1) for rating in ratings]


def geometric_mean(values: Sequence[float]) -> float:
    """Returns the geometric mean; 0 if a value is 0 or there are none. Raises ValueError for a negative value."""
    if min(values, default=0.0) < 0:
        raise ValueError("a geometric mean needs values of 0 or more")
    return math.prod(value ** (1 / len(values)) for value in values) if values else 0.0


@dataclass(frozen=True, slots=True)
class ReplyMeasures:
    """The measures of one method's replies. Those of a judge are None if there is no judge or nothing was judged.

    `distinct_2` is the share of distinct word pairs among all of the replies, which falls with the number of replies.
    """

    distinct_2: float
    cdp: Figure
    cdf: Figure
    meep: Figure | None = None
    informativeness: Figure | None = None
    overall: Figure | None = None

    @property
    def geo_mean(self) -> float | None:
        """Returns the geometric mean of all six, as in the paper's table 1; None if one was not measured."""
        judged = (self.meep, self.informativeness, self.overall)
        there = [figure.value for figure in judged if figure is not None]
        is_whole = len(there) == len(judged)
        return geometric_mean([self.distinct_2, self.cdp.value, self.cdf.value, *there]) if is_whole else None


class Ratings(NamedTuple):
    """The judgements of one method's replies, all in their order: engagingness 0 to 100, the others 1 to 5."""

    engagingness: Sequence[Judgement]
    informativeness: Sequence[int | None]
    overall: Sequence[int | None]


def measure_replies(
    replies: Sequence[str], found: Sequence[Collection[Triple]], rarity: FactRarity, ratings: Ratings | None = None
) -> ReplyMeasures:
    """Returns the measures of `replies`; `found` are the facts between each and its history."""
    judged: list[Figure | None] = [None, None, None]
    if ratings:
        percents = (ratings.engagingness, rating_percent(ratings.informativeness), rating_percent(ratings.overall))
        judged = [figure if (figure := mean_of(values)).of else None for values in percents]
    return ReplyMeasures(
        100 * distinct(replies, 2), commonsense_proportion(found), commonsense_feature(found, rarity), *judged
    )


def signed_rank(ours: Sequence[Judgement], theirs: Sequence[Judgement]) -> float:
    """Returns the two-sided p of Wilcoxon's signed-rank test over the cases that both have a value for.

    Cases without a difference are left out, as Wilcoxon does. Returns 1 if no case differs.
    """
    from scipy.stats import wilcoxon

    pairs = zip(ours, theirs, strict=True)
    changes = [one - other for one, other in pairs if one is not None and other is not None and one != other]
    return float(wilcoxon(changes).pvalue) if changes else 1.0


class Wins(NamedTuple):
    """Counts of the cases of a comparison that each side won, and of those that neither did."""

    first: int
    second: int
    ties: int

    @property
    def share(self) -> Figure:
        """Returns the share of cases that the first side won; ties count as cases that it did not win."""
        return percentage([True] * self.first + [False] * (self.second + self.ties))

    @property
    def p(self) -> float:
        """Returns the two-sided p of the exact sign test, which leaves ties out; 1 if there are only ties."""
        from scipy.stats import binomtest

        decided = self.first + self.second
        return float(binomtest(self.first, decided).pvalue) if decided else 1.0


def count_wins(winners: Iterable[Winner | None]) -> Wins:
    """Counts the wins of a criterion; cases that were not judged (None) are left out."""
    counts = Counter(winners)
    return Wins(counts["first"], counts["second"], counts["tie"])
