"""The table of a model endpoint: what questions cost, what limits on prompts and faults do to them, and many chats at
once."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluation.bench.bench import TO_THE_MODEL, ReasonerName, sample
from evaluation.bench.question_sets import METAQA, PQ_2H, PQ_3H, Show
from evaluation.bench.report import QuestionOutcome
from evaluation.checks.metrics import mean, percentile
from evaluation.datasets.converters import Converted, convert
from evaluation.datasets.questions import QuestionsError, read_questions
from evaluation.fakes.scripted_endpoint import PathReader, ScriptedEndpoint
from evaluation.scale.speed_run import CHATS, MAX_TIMES_IDEAL, run_load
from evaluation.tables.asking import AskedSample, asking, is_planned
from evaluation.tables.fault_run import run_with_faults
from evaluation.tables.measures import Measure, at_most, local_ms, mean_f1, mean_hits


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
MIN_RIGHT = 0.995  # 1.00 in two figures: names that differ in capitals alone are read as all of them


@dataclass(frozen=True, slots=True)
class Limit:
    """Limits on what prompts may show, in settings. `bounded`: it is the default, and may cost little."""

    words: str
    reasoner: ReasonerName
    profile: str
    disclosure: str
    bounded: bool = False


# The first of each reasoner is what the others are compared with.
LIMITS = (
    Limit("open, no limit", "scripted", "open", "tell"),
    Limit("kind, no limit", "scripted", "kind", "tell"),
    Limit("kind, generalise (default)", "scripted", "kind", "generalise", bounded=True),
    Limit("kind, refuse", "scripted", "kind", "refuse"),
    Limit("strict, no limit", "scripted", "strict", "tell"),
    Limit("strict, generalise", "scripted", "strict", "generalise"),
    Limit("open, no limit", "embedded", "open", "tell"),
    Limit("kind, no limit", "embedded", "kind", "tell"),
)
LIMITED_SETS = {"PQ-3H": PQ_3H, "MetaQA-3": METAQA[3]}
MAX_LOST, MAX_REFUSED = 0.02, 0.03

FAULTS, LOAD = "faults", "chats at once"
FAULT_SHARE = 0.3
FAULTY_PER_QUESTION = 2.5  # 500 questions with faults to 200 of each set


async def run_endpoint_table(data: Path, limit: int, seed: int, only: str, show: Show) -> list[Measure]:
    """The lines of every run whose name (`PQ-2H, sets`, `faults`) holds `only`. Raises QuestionsError."""
    wanted = only.casefold()
    measures = await _costs(data, limit, seed, wanted, show)
    measures += await _limits(data, limit, seed, wanted, show)
    with tempfile.TemporaryDirectory(prefix="arog-sets-") as folder:
        if wanted in FAULTS:
            measures.append(await _with_faults(data, Path(folder), round(FAULTY_PER_QUESTION * limit), seed, show))
        if wanted in LOAD:
            measures.append(await _at_once(data, Path(folder), show))
    if not measures:
        raise QuestionsError("no run's name holds what --only asks for")
    return measures


async def _costs(data: Path, limit: int, seed: int, wanted: str, show: Show) -> list[Measure]:
    """`sets` against the bounds, the endpoint following a way first and answering when it sees where that led; then
    for comparison alone `sets` where it answers at once, and `arog`."""
    runs = [(bound, f"{bound.name}, sets", "sets", True) for bound in (*BOUNDS, ONE_HOP)]
    for bound in BOUNDS:
        runs += [(bound, f"{bound.name}, sets, answered at once", "sets", False)]
        runs += [(bound, f"{bound.name}, arog", "arog", False)]
    chosen = [run for run in runs if wanted in run[1].casefold()]
    measures: list[Measure] = []
    if chosen:
        endpoint = ScriptedEndpoint()
        async with asking(data, limit, seed, show, "scripted", endpoint, TO_THE_MODEL) as asker:
            for bound, title, strategy, is_bounded in chosen:
                endpoint.at_once = title.endswith("at once")
                asked = await asker.ask_set(title, bound.source, is_planned, strategy)
                measures += _bounded(title, bound, asked) if is_bounded else [_reported(title, asked.outcomes)]
    return measures


def _bounded(title: str, bound: CostBound, asked: AskedSample) -> list[Measure]:
    outcomes, count = asked.outcomes, len(asked.outcomes)
    most = max((outcome.calls for outcome in outcomes), default=0)
    calls = [
        at_most(f"{title}: calls, mean", count, _mean_calls(outcomes), bound.calls, "{:.2f}"),
        at_most(f"{title}: calls, most", count, most, bound.most_calls, "{:.0f}"),
    ]
    if bound is ONE_HOP:
        return calls
    hits, median = mean_hits(outcomes), percentile(local_ms(outcomes), 0.5)
    accuracy = Measure(
        name=f"{title}: accuracy",
        questions=count,
        bound="1.00",
        reached=f"{hits:.3f}",
        passed=hits >= MIN_RIGHT and asked.leaks == 0,
        f1=mean_f1(outcomes),
        leaks=asked.leaks,
    )
    return [
        accuracy,
        *calls,
        at_most(f"{title}: tokens, mean", count, _mean_tokens(outcomes), bound.tokens, "{:,.0f}"),
        at_most(f"{title}: time outside the endpoint, median", count, median, bound.local_ms, "{:.1f} ms"),
    ]


def _reported(title: str, outcomes: Sequence[QuestionOutcome]) -> Measure:
    reached = f"{_mean_calls(outcomes):.2f} calls, {_mean_tokens(outcomes):,.0f} tokens"
    return Measure(name=title, questions=len(outcomes), reached=f"{reached}, accuracy {mean_hits(outcomes):.3f}")


def _mean_calls(outcomes: Sequence[QuestionOutcome]) -> float:
    return mean([float(outcome.calls) for outcome in outcomes])


def _mean_tokens(outcomes: Sequence[QuestionOutcome]) -> float:
    return mean([float(outcome.prompt_tokens + outcome.completion_tokens) for outcome in outcomes])


async def _limits(data: Path, limit: int, seed: int, wanted: str, show: Show) -> list[Measure]:
    """The share still answered rightly where prompts may show less: a line for each limit on each set."""
    measures: list[Measure] = []
    for name, source in LIMITED_SETS.items():
        best: dict[str, float] = {}
        for each in LIMITS:
            title = f"{name}, limit, {each.reasoner}: {each.words}"
            if wanted not in title.casefold():
                continue
            changes = {"profile": each.profile, "disclosure": each.disclosure}
            async with asking(data, limit, seed, show, each.reasoner, _reader_of(each), changes) as asker:
                outcomes = (await asker.ask_set(title, source, is_planned)).outcomes
            measures.append(_limited(title, each, outcomes, best.get(each.reasoner)))
            best.setdefault(each.reasoner, mean_hits(outcomes))
    return measures


def _reader_of(limit: Limit) -> ScriptedEndpoint | None:
    """Without the question's text a plan's topics can't be told apart; whoever reads strict prompts has the path."""
    if limit.reasoner != "scripted":
        return None
    return PathReader() if limit.profile == "strict" else ScriptedEndpoint()


def _limited(title: str, limit: Limit, outcomes: Sequence[QuestionOutcome], best: float | None) -> Measure:
    hits, refused = mean_hits(outcomes), mean([float(not outcome.answered) for outcome in outcomes])
    is_kept = best is None or (hits >= best - MAX_LOST - 1e-9 and refused <= MAX_REFUSED)
    return Measure(
        name=title,
        questions=len(outcomes),
        bound=f"at most {100 * MAX_LOST:g} points lost, {MAX_REFUSED:.0%} refused" if limit.bounded else "",
        reached=f"accuracy {hits:.3f}, {refused:.1%} refused, {_mean_calls(outcomes):.2f} calls",
        passed=is_kept or not limit.bounded,
    )


async def _with_faults(data: Path, folder: Path, count: int, seed: int, show: Show) -> Measure:
    """Each question ends rightly, refused or in a typed error, and leaves nothing behind."""
    converted = _converted(PQ_3H, data, folder / "faults")
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
    return Measure(
        name=f"PQ-3H, {FAULT_SHARE:.0%} of the replies with faults",
        questions=report.asked,
        bound="right, refused or a typed error",
        reached=f"{report.right} right, {report.refused} refused, {report.errors.total()} typed errors; {bad}",
        passed=report.passed,
        leaks=report.leaks,
    )


async def _at_once(data: Path, folder: Path, show: Show) -> Measure:
    converted = _converted(PQ_2H, data, folder / "load")
    show(LOAD, 0, CHATS)
    report = await run_load([converted.graph], None, read_questions(converted.questions)[0])
    return Measure(
        name=f"{report.chats} chats at once, one worker, time to the ideal",
        questions=report.chats,
        bound=f"under {MAX_TIMES_IDEAL:g}",
        reached=f"{report.ratio:.2f} ({report.seconds:.1f} s), {report.answered} answered",
        passed=report.passed,
    )


def _converted(source: str, data: Path, folder: Path) -> Converted:
    name, _, file = source.partition(":")
    return convert(name, data / file, folder)
