"""The table of a model endpoint: what questions cost, what faults do to them, and many chats at once."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluation.bench.asker import QuestionOutcome
from evaluation.bench.bench import TO_THE_MODEL, Bench, sample
from evaluation.bench.question_sets import METAQA, PQ_2H, PQ_3H, QuestionSets, Show
from evaluation.bench.report import Report, RunLabel
from evaluation.checks.metrics import mean, percentile
from evaluation.datasets.converters import convert
from evaluation.datasets.questions import Question, QuestionsError, read_questions
from evaluation.fakes.scripted_endpoint import ScriptedEndpoint
from evaluation.scale.load_run import CHATS, MAX_TIMES_IDEAL, run_load
from evaluation.tables.disclosure_table import run_disclosure_table
from evaluation.tables.fault_run import run_with_faults
from evaluation.tables.measures import Measure, local_ms


@dataclass(frozen=True, slots=True)
class CostBound:
    """Bounds on what `sets` takes for a question: mean calls and tokens, median milliseconds outside the endpoint."""

    name: str
    source: str
    calls: float
    tokens: int
    local_ms: float
    most_calls: int


# The paper: 12 to 25 calls, 5,605 tokens on GrailQA. Its code with a model that answers rightly, on the PathQuestion
# sets: 10.5 and 13.2 calls, 4,859 and 5,933 tokens, accuracy 0.75 and 0.40, 270 and 530 ms.
BOUNDS = (
    CostBound("PQ-2H", PQ_2H, calls=2.0, tokens=1_200, local_ms=10.0, most_calls=4),
    CostBound("PQ-3H", PQ_3H, calls=2.6, tokens=1_700, local_ms=15.0, most_calls=4),
    CostBound("MetaQA-3", METAQA[3], calls=2.6, tokens=1_700, local_ms=20.0, most_calls=4),
)
# Of one-hop questions the calls alone are bounded.
ONE_HOP = CostBound("MetaQA-1", METAQA[1], calls=2.0, tokens=1_200, local_ms=20.0, most_calls=2)
RIGHT = 0.995  # 1.00 in two figures: names that differ in capitals alone are read as all of them


FAULTS, LOAD = "faults", "chats at once"
FAULT_SHARE = 0.3
FAULTY_PER_QUESTION = 2.5  # 500 questions with faults to 200 of each set


async def run_endpoint_table(data: Path, limit: int, seed: int, only: str, show: Show) -> list[Measure]:
    """The lines of every run whose name (`PQ-2H, sets`, `faults`) holds `only`. Raises QuestionsError."""
    measures = await _costs(data, limit, seed, only, show)
    measures += await run_disclosure_table(data, limit, seed, only, show)
    with tempfile.TemporaryDirectory(prefix="arog-sets-") as folder:
        if only.casefold() in FAULTS:
            measures.append(await _with_faults(data, Path(folder), round(FAULTY_PER_QUESTION * limit), seed, show))
        if only.casefold() in LOAD:
            measures.append(await _at_once(data, Path(folder), show))
    if not measures:
        raise QuestionsError("no run's name holds what --only asks for")
    return measures


async def _costs(data: Path, limit: int, seed: int, only: str, show: Show) -> list[Measure]:
    names = [f"{bound.name}, {what}" for bound in (*BOUNDS, ONE_HOP) for what in ("sets, answered at once", "arog")]
    if not any(only.casefold() in name.casefold() for name in names):
        return []
    measures: list[Measure] = []
    endpoint = ScriptedEndpoint()
    with tempfile.TemporaryDirectory(prefix="arog-sets-") as folder:
        async with Bench("scripted", scripted=endpoint, changes=TO_THE_MODEL) as bench:
            runs = _Runs(QuestionSets(bench, data, Path(folder), show), endpoint, limit, seed, only, show)
            for bound in (*BOUNDS, ONE_HOP):
                measures += await runs.of_sets(bound)
            for bound in BOUNDS:
                measures += await runs.reported(bound, "sets", at_once=True)
                measures += await runs.reported(bound, "arog")
    return measures


async def _with_faults(data: Path, folder: Path, count: int, seed: int, show: Show) -> Measure:
    """Each question ends rightly, refused or in a typed error, and leaves nothing behind."""
    name, _, file = PQ_3H.partition(":")
    converted = convert(name, data / file, folder / "faults")
    questions = sample(read_questions(converted.questions), count, seed)
    report = await run_with_faults(
        [converted.graph],
        None,
        questions,
        share=FAULT_SHARE,
        seed=seed,
        progress=lambda done: show(FAULTS, done, len(questions)),
    )
    bad = f"{report.wrong} wrong, {report.late} late, {report.logged.total()} logged, {report.left.total()} left"
    ends = f"{report.right} right, {report.refused} refused, {report.errors.total()} typed errors; {bad}"
    return Measure(
        name=f"PQ-3H, {FAULT_SHARE:.0%} of the replies with faults",
        questions=report.asked,
        bound="right, refused or a typed error",
        reached=ends,
        passed=report.passed,
        leaks=report.leaks,
    )


async def _at_once(data: Path, folder: Path, show: Show) -> Measure:
    name, _, file = PQ_2H.partition(":")
    converted = convert(name, data / file, folder / "load")
    show(LOAD, 0, CHATS)
    report = await run_load([converted.graph], None, read_questions(converted.questions)[0])
    return Measure(
        name=f"{report.chats} chats at once, one worker, time to the ideal",
        questions=report.chats,
        bound=f"under {MAX_TIMES_IDEAL:g}",
        reached=f"{report.ratio:.2f} ({report.seconds:.1f} s), {report.answered} answered",
        passed=report.passed,
    )


@dataclass(frozen=True, slots=True)
class _Runs:
    sets: QuestionSets
    endpoint: ScriptedEndpoint
    limit: int
    seed: int
    only: str
    show: Show

    async def of_sets(self, bound: CostBound) -> list[Measure]:
        """Against the bounds. The endpoint follows a way first and answers when it sees where that led."""
        title = f"{bound.name}, sets"
        if self.only.casefold() not in title.casefold():
            return []
        report, outcomes = await self._ask(title, bound.source, "sets", at_once=False)
        calls = [_calls(title, outcomes, bound.calls), _most_calls(title, outcomes, bound.most_calls)]
        if bound is ONE_HOP:
            return calls
        return [
            _accuracy(title, report, outcomes),
            *calls,
            _tokens(title, outcomes, bound.tokens),
            _local(title, outcomes, bound.local_ms),
        ]

    async def reported(self, bound: CostBound, strategy: str, at_once: bool = False) -> list[Measure]:
        """For comparison alone."""
        title = f"{bound.name}, {strategy}{', answered at once' if at_once else ''}"
        if self.only.casefold() not in title.casefold():
            return []
        _, outcomes = await self._ask(title, bound.source, strategy, at_once)
        reached = f"{_mean_calls(outcomes):.2f} calls, {_mean_tokens(outcomes):,.0f} tokens"
        hits = mean([outcome.score.hit for outcome in outcomes])
        return [Measure(name=title, questions=len(outcomes), reached=f"{reached}, accuracy {hits:.3f}")]

    async def _ask(
        self, title: str, source: str, strategy: str, at_once: bool
    ) -> tuple[Report, list[QuestionOutcome]]:
        loaded, questions = self.sets.of(source)
        chosen = sample([each for each in questions if _is_asked(each)], self.limit, self.seed)
        self.endpoint.at_once = at_once
        label = RunLabel(set_name=title, strategy=strategy, reasoner="scripted", seed=self.seed)
        return await self.sets.bench.ask(
            loaded, label, chosen, progress=lambda done: self.show(title, done, len(chosen))
        )


def _is_asked(question: Question) -> bool:
    """Those with a plan, where the graph agrees with the gold answers."""
    return question.has_plan and question.reproduced


def _accuracy(title: str, report: Report, outcomes: Sequence[QuestionOutcome]) -> Measure:
    reached = mean([outcome.score.hit for outcome in outcomes])
    return Measure(
        name=f"{title}: accuracy",
        questions=len(outcomes),
        bound="1.00",
        reached=f"{reached:.3f}",
        passed=reached >= RIGHT and report.leaks.leaks == 0,
        f1=mean([outcome.score.f1 for outcome in outcomes]),
        leaks=report.leaks.leaks,
    )


def _calls(title: str, outcomes: Sequence[QuestionOutcome], bound: float) -> Measure:
    return _at_most(f"{title}: calls, mean", outcomes, _mean_calls(outcomes), bound, "{:.2f}")


def _most_calls(title: str, outcomes: Sequence[QuestionOutcome], bound: int) -> Measure:
    most = max((outcome.calls for outcome in outcomes), default=0)
    return _at_most(f"{title}: calls, most", outcomes, most, bound, "{:.0f}")


def _tokens(title: str, outcomes: Sequence[QuestionOutcome], bound: int) -> Measure:
    return _at_most(f"{title}: tokens, mean", outcomes, _mean_tokens(outcomes), bound, "{:,.0f}")


def _local(title: str, outcomes: Sequence[QuestionOutcome], bound: float) -> Measure:
    median = percentile(local_ms(outcomes), 0.5)
    return _at_most(f"{title}: time outside the endpoint, median", outcomes, median, bound, "{:.1f} ms")


def _at_most(name: str, outcomes: Sequence[QuestionOutcome], reached: float, bound: float, form: str) -> Measure:
    return Measure(
        name=name,
        questions=len(outcomes),
        bound=f"at most {form.format(bound)}",
        reached=form.format(reached),
        passed=bool(outcomes) and reached <= bound + 1e-9,
    )


def _mean_calls(outcomes: Sequence[QuestionOutcome]) -> float:
    return mean([float(outcome.calls) for outcome in outcomes])


def _mean_tokens(outcomes: Sequence[QuestionOutcome]) -> float:
    return mean([float(outcome.prompt_tokens + outcome.completion_tokens) for outcome in outcomes])
