"""A line of a table of bounds: a figure, the bound that it has to reach, and whether it does."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from app.graphs.markdown_table import markdown_table
from evaluation.bench.report import REASONER_STAGE, QuestionOutcome
from evaluation.checks.metrics import mean, percentile
from evaluation.tables.asking import AskedSample

_Outcomes = Sequence[QuestionOutcome]


class Measure(BaseModel):
    """One line. `bound` is empty where a figure is only reported; `f1` and `leaks` where they say nothing."""

    model_config = ConfigDict(frozen=True)
    name: str
    questions: int
    bound: str = ""
    reached: str
    passed: bool = True
    f1: float | None = None
    leaks: int | None = None


def hits(name: str, outcomes: _Outcomes, bound: float | None = None, leaks: int | None = None) -> Measure:
    """Mean hits@1, F1 beside it."""
    return share(name, mean_hits(outcomes), len(outcomes), bound, mean_f1(outcomes), leaks)


def f1(name: str, outcomes: _Outcomes, bound: float) -> Measure:
    """Mean F1 over the sets of names."""
    return share(name, mean_f1(outcomes), len(outcomes), bound)


def share(
    name: str,
    reached: float,
    questions: int,
    bound: float | None = None,
    f1: float | None = None,
    leaks: int | None = None,
) -> Measure:
    """A figure between 0 and 1 that must be at least `bound`; a set without questions reaches nothing."""
    return Measure(
        name=name,
        questions=questions,
        bound="" if bound is None else f"{bound:.3f}".rstrip("0").ljust(4, "0"),
        reached=f"{reached:.3f}",
        passed=bound is None or (questions > 0 and reached >= bound - 1e-9),
        f1=f1,
        leaks=leaks,
    )


def at_most(name: str, questions: int, reached: float, bound: float, form: str) -> Measure:
    """A figure, told as `form` says, that may be `bound` at most; a set without questions reaches nothing."""
    return Measure(
        name=name,
        questions=questions,
        bound=f"at most {form.format(bound)}",
        reached=form.format(reached),
        passed=questions > 0 and reached <= bound + 1e-9,
    )


def none(name: str, questions: int, found: int) -> Measure:
    """A count of what must not be."""
    return Measure(name=name, questions=questions, bound="0", reached=str(found), passed=found == 0)


def behind(name: str, outcomes: _Outcomes, other: _Outcomes, points: float | None = None) -> Measure:
    """By how many points `outcomes` hit less often than `other`; at most `points`, where there is a bound."""
    gap = 100 * (mean_hits(other) - mean_hits(outcomes))
    return Measure(
        name=name,
        questions=len(outcomes) + len(other),
        bound="" if points is None else f"at most {points:g} points",
        reached=f"{gap:+.1f} points",
        passed=bool(outcomes) and bool(other) and (points is None or gap <= points),
    )


def right(name: str, outcomes: _Outcomes, bound: int, leaks: int) -> Measure:
    """The share of answers that are exactly the gold sets, refusals included."""
    count = sum(outcome.score.f1 == 1.0 for outcome in outcomes)
    return Measure(
        name=name,
        questions=len(outcomes),
        bound=f"{bound} right",
        reached=f"{count} right",
        passed=count >= bound,
        f1=mean_f1(outcomes),
        leaks=leaks,
    )


def none_answered(name: str, outcomes: _Outcomes) -> Measure:
    """Of `outcomes` of questions without an answer, how many were answered; none may be."""
    count = sum(outcome.answered for outcome in outcomes)
    return Measure(
        name=name, questions=len(outcomes), bound="0 answered", reached=f"{count} answered", passed=not count
    )


def answered(name: str, outcomes: _Outcomes, bound: float) -> Measure:
    """The share that was answered, rightly or not."""
    return share(name, mean([float(outcome.answered) for outcome in outcomes]), len(outcomes), bound)


def refused(name: str, outcomes: _Outcomes, bound: float | None = None, leaks: int | None = None) -> Measure:
    """The share that was not answered."""
    return share(name, mean([float(not o.answered) for o in outcomes]), len(outcomes), bound, leaks=leaks)


def times(name: str, milliseconds: Sequence[float], p50: float, p95: float) -> Measure:
    """Median and 95th percentile, both at most their bounds."""
    reached = percentile(milliseconds, 0.5), percentile(milliseconds, 0.95)
    return Measure(
        name=name,
        questions=len(milliseconds),
        bound=f"{p50:g} / {p95:g} ms",
        reached=f"{reached[0]:.1f} / {reached[1]:.1f} ms",
        passed=bool(milliseconds) and reached[0] <= p50 and reached[1] <= p95,
    )


def mean_hits(outcomes: _Outcomes) -> float:
    return mean([outcome.score.hit for outcome in outcomes])


def mean_f1(outcomes: _Outcomes) -> float:
    return mean([outcome.score.f1 for outcome in outcomes])


def reasoning_ms(outcomes: _Outcomes) -> list[float]:
    return [outcome.milliseconds.get(REASONER_STAGE, 0.0) for outcome in outcomes if not outcome.problem]


def local_ms(outcomes: _Outcomes) -> list[float]:
    return [outcome.local_ms for outcome in outcomes if not outcome.problem]


def local_processor_ms(outcomes: _Outcomes) -> list[float]:
    return [outcome.local_processor_ms for outcome in outcomes if not outcome.problem]


def no_leaks(asked: AskedSample) -> Measure:
    return none("names that reached the reasoner, all runs", len(asked.outcomes), asked.leaks)


def markdown(measures: Sequence[Measure]) -> str:
    """The table, then one line that says what was missed."""
    head = ("measure", "n", "bound", "reached", "", "F1", "leaks")
    missed = [measure.name for measure in measures if not measure.passed]
    told = f"Missed: {'; '.join(missed)}." if missed else "Every bound is reached."
    return f"{markdown_table(head, map(_row, measures))}\n{told}\n"


def write_json(measures: Sequence[Measure], file: Path) -> None:
    file.write_text(json.dumps({"measures": [each.model_dump() for each in measures]}, indent=1), encoding="utf-8")


def _row(measure: Measure) -> tuple[str, ...]:
    verdict = ("pass" if measure.passed else "FAIL") if measure.bound else ""
    return (
        measure.name,
        str(measure.questions),
        measure.bound,
        measure.reached,
        verdict,
        "" if measure.f1 is None else f"{measure.f1:.3f}",
        "" if measure.leaks is None else str(measure.leaks),
    )
