"""Questions for spans of a text, the F1 of SQuAD, means with intervals, and the papers' figures beside ours."""

from __future__ import annotations

import re
import string
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final, Literal, NamedTuple

import numpy as np

SAMPLES: Final = 1_000
NOT_MEASURED: Final = "not measured"
UNKNOWN: Final = "X"
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)

PublishedTable = Literal["retrieval", "llm_kat", "impossible", "replies"]


@dataclass(frozen=True, slots=True)
class SpanQuestion:
    """A fact of which one end is unknown: which span of the context fills it? `acceptable`: what may stand there;
    `turn` and `dialogue`: the ids of those that it is asked of."""

    context: str = field(repr=False)
    known: str = field(repr=False)
    relation: str
    unknown_is_head: bool
    acceptable: tuple[str, ...] = field(default=(), repr=False)
    turn: str = ""
    dialogue: str = ""

    @property
    def triplet(self) -> str:
        """The fact as judges are shown it."""
        head, tail = (UNKNOWN, self.known) if self.unknown_is_head else (self.known, UNKNOWN)
        return f"({head}, {self.relation}, {tail})"


Judged = tuple[str, ...] | None
"""The spans that a judge found: none where it says that there is no answer. None where the call failed."""
Judge = Callable[[Sequence[SpanQuestion]], Sequence[Judged]]
"""Judges each question by its own context."""


def squad_words(text: str) -> list[str]:
    """As SQuAD compares answers (Rajpurkar et al., 2016): in small letters, without punctuation and articles."""
    return _ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split()


def squad_f1(given: str, acceptable: Sequence[str]) -> float:
    """The F1 of the words of `given`, the best over all acceptable answers; 0 where nothing is acceptable."""
    words, best = squad_words(given), 0.0
    for wanted in map(squad_words, acceptable):
        shared = (Counter(words) & Counter(wanted)).total()
        best = max(best, 2 * shared / (len(words) + len(wanted)) if words and wanted else float(words == wanted))
    return best


class Estimate(NamedTuple):
    """A mean, and the bounds of its 95 % interval; all 0 where nothing was measured."""

    mean: float
    low: float
    high: float
    of: int

    def __str__(self) -> str:
        """Times 100, as a table shows it."""
        return f"{100 * self.mean:.1f} [{100 * self.low:.1f}, {100 * self.high:.1f}]"


def estimate(values: Sequence[float], dialogues: Sequence[str], seed: int = 0) -> Estimate:
    """The mean of `values`, one for each of `dialogues`, with the percentile interval of the bootstrap. Whole
    dialogues are drawn again: turns of one dialogue are no independent samples."""
    from scipy.stats import bootstrap

    if not values:
        return Estimate(0.0, 0.0, 0.0, 0)
    groups: dict[str, list[float]] = defaultdict(list)
    for value, dialogue in zip(values, dialogues, strict=True):
        groups[dialogue].append(value)
    sums, counts = (np.array([of(groups[name]) for name in sorted(groups)]) for of in (sum, len))
    mean = float(sums.sum() / counts.sum())
    if len(groups) == 1:
        return Estimate(mean, mean, mean, len(values))
    low, high = bootstrap(
        (sums, counts),
        lambda drawn, lengths, axis: drawn.sum(axis=axis) / lengths.sum(axis=axis),
        paired=True,
        n_resamples=SAMPLES,
        method="percentile",
        rng=seed,
    ).confidence_interval
    return Estimate(mean, float(low), float(high), len(values))


def percent(values: Sequence[float]) -> list[str]:
    return [f"{100 * value:.1f}" for value in values]


@cache
def published(table: PublishedTable) -> tuple[list[str], list[list[str]]]:
    """Head and rows of a paper's table as text, as printed there (times 100)."""
    found = tomllib.loads(Path(__file__).with_name("published.toml").read_text("utf-8"))[table]
    rows = [[cell if isinstance(cell, str) else f"{cell:.1f}" for cell in row] for row in found["rows"]]
    return found["head"], rows
