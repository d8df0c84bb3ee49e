"""Measures how far a path's score can be trusted: the share right per score, and what a threshold would refuse."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from app.graphs.markdown_table import markdown_table
from app.llm.tasks import StepInput
from app.reader.scoring.path_scoring import PathScorer
from app.reader.step import plan_step
from client_sdk.answers.answer import Answer
from evaluation.bench.asker import QuestionOutcome
from evaluation.checks.metrics import mean
from evaluation.datasets.questions import Question
from evaluation.fakes.recording_reasoner import Step

# Borders of the buckets in which shares are told; the first and the last have no other border.
BORDERS = (-0.4, -0.3, -0.2, -0.1, 0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)


@dataclass(frozen=True, slots=True)
class Point:
    """One question that was asked without a threshold.

    `score` is the least that the reasoner gave to its plan in any step: a threshold above it refuses the question.
    It is minus infinity where no path fitted, which is refused at any threshold. `hit` is 0 for what can't be
    answered.
    """

    set_name: str
    score: float
    hit: float
    answerable: bool

    def is_refused(self, threshold: float) -> bool:
        return self.score < threshold or self.score == -math.inf


class Curve:
    """Gathers points while questions are asked; `see` is what Bench.ask calls."""

    def __init__(self, set_name: str, scorer: PathScorer) -> None:
        self._set_name, self._scorer = set_name, scorer
        self.points: list[Point] = []

    def see(self, question: Question, outcome: QuestionOutcome, _answer: Answer | None, steps: Sequence[Step]) -> None:
        score = least_score(self._scorer, steps) if outcome.answered else -math.inf
        hit = outcome.score.hit if question.is_answerable else 0.0
        self.points.append(Point(self._set_name, score, hit, question.is_answerable))


def least_score(scorer: PathScorer, steps: Iterable[Step]) -> float:
    """The least score of the plans of a question's steps, as the reasoner itself compared them."""
    plans = [plan_step(scorer, step.asked) for step in steps if isinstance(step.asked, StepInput)]
    return min((plan.score if plan else -math.inf for plan in plans), default=-math.inf)


@dataclass(frozen=True, slots=True)
class AtThreshold:
    """The effect of a threshold: mean hits@1 over the answerable, and the share refused of the unanswerable."""

    threshold: float
    hits: float
    refused: float


def at(points: Sequence[Point], threshold: float) -> AtThreshold:
    answerable = [0.0 if point.is_refused(threshold) else point.hit for point in points if point.answerable]
    refused = [float(point.is_refused(threshold)) for point in points if not point.answerable]
    return AtThreshold(threshold, mean(answerable), mean(refused))


def least_threshold(points: Sequence[Point], refusals: float) -> float:
    """The lowest threshold that refuses this share of the unanswerable; a higher one only costs right answers."""
    unanswerable = sorted(point.score for point in points if not point.answerable)
    needed = math.ceil(refusals * len(unanswerable) - 1e-9)
    highest = unanswerable[needed - 1] if needed else -math.inf
    return math.nextafter(highest, math.inf) if highest > -math.inf else highest


def reliability_markdown(points: Sequence[Point], present: float, refusals: float = 0.9) -> str:
    """Three tables: right by score, what thresholds would do, and what the present and the best do to each set."""
    best = least_threshold(points, refusals)
    return "\n".join([_buckets(points), _sweep(points, present, best), _by_set(points, present, best)])


def _buckets(points: Sequence[Point]) -> str:
    edges = (-math.inf, *BORDERS, math.inf)
    rows = []
    for low, high in pairwise(edges):
        # What no path fitted is in no bucket.
        here = [point for point in points if low <= point.score < high and point.score > -math.inf]
        able = [point for point in here if point.answerable]
        right = f"{mean([point.hit for point in here]):.2f}" if here else ""
        of_able = f"{mean([point.hit for point in able]):.2f}" if able else ""
        rows.append((_range(low, high), len(able), len(here) - len(able), of_able, right))
    head = ("score", "answerable", "unanswerable", "right of the answerable", "right of all")
    return markdown_table(head, rows)


def _sweep(points: Sequence[Point], present: float, best: float) -> str:
    marks = {present: " (present)", best: " (least for the bound)"}
    rows = []
    for threshold in sorted({-math.inf, *BORDERS, present, best}):
        found = at(points, threshold)
        rows.append((f"{_number(threshold)}{marks.get(threshold, '')}", f"{found.hits:.3f}", f"{found.refused:.3f}"))
    return markdown_table(("threshold", "hits@1 of the answerable", "refused of the unanswerable"), rows)


def _by_set(points: Sequence[Point], present: float, best: float) -> str:
    rows = []
    for name in dict.fromkeys(point.set_name for point in points):
        for answerable in (True, False):
            here = [point for point in points if point.set_name == name and point.answerable == answerable]
            if here:
                now, then = at(here, present), at(here, best)
                told = (now.hits, then.hits) if answerable else (now.refused, then.refused)
                what = "hits@1" if answerable else "refused"
                rows.append((name, len(here), what, f"{told[0]:.3f}", f"{told[1]:.3f}"))
    return markdown_table(("set", "questions", "share", f"at {_number(present)}", f"at {_number(best)}"), rows)


def _range(low: float, high: float) -> str:
    if low == -math.inf:
        return f"below {_number(high)}"
    return f"{_number(low)} and more" if high == math.inf else f"{_number(low)} to {_number(high)}"


def _number(value: float) -> str:
    return "none" if value == -math.inf else f"{value:.3f}".rstrip("0").rstrip(".")
