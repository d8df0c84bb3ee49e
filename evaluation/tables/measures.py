"""Lines of a table of bounds (a figure, its bound, and whether it keeps it), and the samples asked for them."""

from __future__ import annotations

import json
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

from app.graphs.markdown_table import markdown_table
from evaluation.bench.bench import Bench, LoadedSet, ReasonerName, See, ignore_outcome, sample
from evaluation.bench.question_sets import QuestionSets, Show
from evaluation.bench.report import QuestionOutcome, RunLabel
from evaluation.checks.metrics import mean, percentile
from evaluation.datasets.questions import Question
from evaluation.fakes.scripted_endpoint import ScriptedEndpoint

_Outcomes = Sequence[QuestionOutcome]


class AskedSample(NamedTuple):
    """The outcomes of one sample, or of several together; `leaks` is what the scanner found in their bytes."""

    outcomes: list[QuestionOutcome]
    leaks: int


NOTHING_ASKED = AskedSample([], 0)


def together(*samples: AskedSample) -> AskedSample:
    return AskedSample([outcome for each in samples for outcome in each.outcomes], sum(each.leaks for each in samples))


def is_planned(question: Question) -> bool:
    """Returns True if a plan is known and the graph agrees with the gold answers, as a scripted endpoint needs."""
    return question.has_plan and question.reproduced


@dataclass(slots=True)
class Asker:
    """Asks samples of `limit` questions per set, drawn by `seed`; `total` is everything that was asked."""

    sets: QuestionSets
    limit: int
    seed: int
    show: Show
    reasoner: ReasonerName = "embedded"
    total: AskedSample = field(default=NOTHING_ASKED, repr=False)

    def sample(self, questions: Sequence[Question], shared_by: int = 1) -> list[Question]:
        """Draws the sample of a set; `shared_by` sets share the limit."""
        return sample(questions, max(1, self.limit // shared_by), self.seed)

    async def ask_set(
        self,
        title: str,
        source: str,
        keep: Callable[[Question], bool] = lambda _question: True,
        strategy: str = "sets",
    ) -> AskedSample:
        """Asks a sample of those questions of a public set that `keep` accepts. Raises QuestionsError."""
        loaded, questions = self.sets.of(source)
        return await self.ask(title, loaded, self.sample([*filter(keep, questions)]), strategy=strategy)

    async def ask(
        self,
        title: str,
        loaded: LoadedSet,
        questions: Sequence[Question],
        see: See = ignore_outcome,
        strategy: str = "sets",
    ) -> AskedSample:
        """Asks `questions` and returns the outcomes in their order; `see` is called with each as it comes."""
        report, outcomes = await self.sets.bench.ask(
            loaded,
            RunLabel(set_name=title, strategy=strategy, reasoner=self.reasoner, seed=self.seed),
            questions,
            progress=lambda done: self.show(title, done, len(questions)),
            see=see,
        )
        asked = AskedSample(outcomes, report.leaks.leaks)
        self.total = together(self.total, asked)
        return asked


@asynccontextmanager
async def asking(
    data: Path,
    limit: int,
    seed: int,
    show: Show,
    reasoner: ReasonerName = "embedded",
    endpoint: ScriptedEndpoint | None = None,
    changes: Mapping[str, object] | None = None,
    least_score: float | None = None,
) -> AsyncIterator[Asker]:
    """Opens a bench with the public sets below `data`; `endpoint`, `changes` and `least_score` are those of Bench."""
    with tempfile.TemporaryDirectory(prefix="arog-sets-") as folder:
        async with Bench(reasoner, scripted=endpoint, changes=changes, least_score=least_score) as bench:
            yield Asker(QuestionSets(bench, data, Path(folder), show), limit, seed, show, reasoner)


class Measure(BaseModel):
    """One line of a table. `bound` is empty if the figure is only reported; `f1` and `leaks` may be None."""

    model_config = ConfigDict(frozen=True)
    name: str
    questions: int
    bound: str = ""
    reached: str
    passed: bool = True
    f1: float | None = None
    leaks: int | None = None


def hits(name: str, outcomes: _Outcomes, bound: float | None = None, leaks: int | None = None) -> Measure:
    """Returns a line of mean hits@1, with F1 beside it."""
    return share(name, mean_hits(outcomes), len(outcomes), bound, mean_f1(outcomes), leaks)


def share(
    name: str,
    reached: float,
    questions: int,
    bound: float | None = None,
    f1: float | None = None,
    leaks: int | None = None,
) -> Measure:
    """Returns a line for a figure between 0 and 1 that must be at least `bound`; without questions it fails."""
    return Measure(
        name=name,
        questions=questions,
        bound="" if bound is None else f"{bound:.3f}".rstrip("0").ljust(4, "0"),
        reached=f"{reached:.3f}",
        passed=bound is None or (questions > 0 and reached >= bound - 1e-9),
        f1=f1,
        leaks=leaks,
    )


def at_most(name: str, questions: int, reached: float, bound: float | None, form: str = "{:g}") -> Measure:
    """Returns a line for a figure, formatted by `form`, that may be at most `bound`; without questions it fails."""
    return Measure(
        name=name,
        questions=questions,
        bound="" if bound is None else f"at most {form.format(bound)}",
        reached=form.format(reached),
        passed=bound is None or (questions > 0 and reached <= bound + 1e-9),
    )


def none(name: str, questions: int, found: int) -> Measure:
    """Returns a line for a count that must be 0."""
    return Measure(name=name, questions=questions, bound="0", reached=str(found), passed=found == 0)


def behind(name: str, outcomes: _Outcomes, other: _Outcomes, points: float | None = None) -> Measure:
    """Returns a line for the points of hits@1 that `outcomes` is behind `other`: at most `points`, if given."""
    gap = 100 * (mean_hits(other) - mean_hits(outcomes))
    return Measure(
        name=name,
        questions=len(outcomes) + len(other),
        bound="" if points is None else f"at most {points:g} points",
        reached=f"{gap:+.1f} points",
        passed=bool(outcomes) and bool(other) and (points is None or gap <= points),
    )


def refused(name: str, outcomes: _Outcomes, bound: float | None = None, leaks: int | None = None) -> Measure:
    """Returns a line for the share of questions that were not answered."""
    return share(name, mean([float(not o.answered) for o in outcomes]), len(outcomes), bound, leaks=leaks)


def times(name: str, milliseconds: Sequence[float], p50: float, p95: float) -> Measure:
    """Returns a line for median and 95th percentile, each of which may be at most its bound."""
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


def markdown(measures: Sequence[Measure]) -> str:
    """Returns the table as Markdown, followed by one line that names the missed bounds."""
    rows = [
        (
            each.name,
            str(each.questions),
            each.bound,
            each.reached,
            ("pass" if each.passed else "FAIL") if each.bound else "",
            "" if each.f1 is None else f"{each.f1:.3f}",
            "" if each.leaks is None else str(each.leaks),
        )
        for each in measures
    ]
    missed = [measure.name for measure in measures if not measure.passed]
    told = f"Missed: {'; '.join(missed)}." if missed else "Every bound is reached."
    return f"{markdown_table(('measure', 'n', 'bound', 'reached', '', 'F1', 'leaks'), rows)}\n{told}\n"


def write_json(measures: Sequence[Measure], file: Path) -> None:
    file.write_text(json.dumps({"measures": [each.model_dump() for each in measures]}, indent=1), encoding="utf-8")
