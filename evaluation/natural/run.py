"""Ask natural questions of the real service, graph by graph, and report figures with bounds and a list of failures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, NamedTuple

from app.demo import GRAPH_FILE, POLICY_FILE
from app.graphs.markdown_table import markdown_table
from client_sdk.answers.answer import Answer
from evaluation.bench.bench import Bench, LoadedSet, Step, sample
from evaluation.bench.question_sets import Show
from evaluation.bench.report import REASONER_STAGE, QuestionOutcome, RunLabel
from evaluation.checks.metrics import calibration_error, mean
from evaluation.datasets.questions import Question, QuestionsError
from evaluation.natural.verdicts import SETS, VERDICTS, Half, NaturalQuestion, Verdict, judge, read_natural
from evaluation.tables.measures import Measure, at_most, share, times

CLINIC: Final = "clinic"
GRAPHS: Final = {
    CLINIC: GRAPH_FILE,
    "company": SETS / "company.ttl",
    "wikidata": SETS / "films.ttl",
    "university": SETS / "university.ttl",
    "logistics": SETS / "logistics.ttl",
    "vets": SETS / "vets.ttl",
    "property": SETS / "property.ttl",
}
TABLES: Final = "tables"
"""The company as CSV files with foreign keys; asked the same questions, but only if it is selected by name."""
_OF_TABLES: Final = "company"
TITLES: Final[dict[Half, str]] = {"seen": "seen half", "shut": "half never looked at"}
_QUANTIFIED: Final = ("negation", "quantifier")
_P50_MS, _P95_MS = 20, 60


@dataclass(frozen=True, slots=True)
class Selection:
    """The questions to ask. An empty `graph` means all graphs; `limit` is for each graph and half."""

    halves: Sequence[Half]
    graph: str = ""
    limit: int | None = None
    seed: int = 0


@dataclass(frozen=True, slots=True)
class NaturalOutcome:
    """One question with its answer (None if an error ended it) and verdict.

    `steps`: the tasks of the reasoner in the last turn. `choices`: if the service asked back, the verdicts on the
    answers to each question that it offered.
    """

    half: Half
    question: NaturalQuestion
    verdict: Verdict
    answer: Answer | None = field(repr=False)
    reasoning_ms: float = 0.0
    steps: Sequence[Step] = field(default=(), repr=False)
    choices: tuple[Verdict, ...] = ()

    @property
    def is_given(self) -> bool:
        """Returns True if something was answered about the graph; a reply to small talk says nothing about it."""
        return self.answer is not None and self.answer.answered and self.question.gold.type != "smalltalk"


_Outcomes = Sequence[NaturalOutcome]


class NaturalRun(NamedTuple):
    """All outcomes, and how many leaks the scanner found."""

    outcomes: list[NaturalOutcome]
    leaks: int


async def run_natural(selection: Selection, show: Show) -> NaturalRun:
    """Asks the selected questions. Raises QuestionsError, before anything is opened."""
    _files(selection.graph)
    async with Bench() as bench:
        return await ask_natural(bench, selection, show)


async def ask_natural(bench: Bench, selection: Selection, show: Show) -> NaturalRun:
    """Asks the selected questions of an open bench. Raises QuestionsError."""
    questions = {half: read_natural(half) for half in selection.halves}
    found: list[NaturalRun] = []
    for graph, sources in _files(selection.graph).items():
        show(f"loading {graph}", 0, 1)
        policy = POLICY_FILE.read_text("utf-8") if graph == CLINIC else None
        # Load it as a new user does, with everything masked that the loader masks by itself.
        loaded = bench.load(graph, sources, policy, masks=True)
        for half, asked in questions.items():
            about = _OF_TABLES if graph == TABLES else graph
            chosen = sample([each for each in asked if each.graph == about], selection.limit, selection.seed)
            run = await _judged(bench, loaded, f"{graph}, {half}", half, chosen, show)
            found.append(await _with_choices(bench, loaded, run, show) if half == "seen" else run)
    return NaturalRun([each for run in found for each in run.outcomes], sum(run.leaks for run in found))


async def _judged(
    bench: Bench, loaded: LoadedSet, title: str, half: Half, questions: Sequence[NaturalQuestion], show: Show
) -> NaturalRun:
    outcomes: list[NaturalOutcome] = []

    def see(_asked: Question, outcome: QuestionOutcome, answer: Answer | None, steps: Sequence[Step]) -> None:
        question, milliseconds = questions[len(outcomes)], outcome.milliseconds.get(REASONER_STAGE, 0.0)
        verdict = judge(question, answer)
        outcomes.append(NaturalOutcome(half, question, verdict, answer, milliseconds, tuple(steps)))

    report, _ = await bench.ask(
        loaded,
        RunLabel(set_name=title, strategy="auto", reasoner="embedded", seed=0),
        [Question(id=each.id, turns=each.texts, answers=(), kind=each.kind) for each in questions],
        progress=lambda done: show(title, done, len(questions)),
        see=see,
    )
    return NaturalRun(outcomes, report.leaks.leaks)


async def _with_choices(bench: Bench, loaded: LoadedSet, run: NaturalRun, show: Show) -> NaturalRun:
    """Returns the run with verdicts on the choices that the service offered when it asked back; each is asked."""
    offered = [(each.question, choice) for each in run.outcomes if each.answer for choice in each.answer.did_you_mean]
    asked = [
        question.model_copy(update={"id": f"{question.id} {at}", "turns": question.texts, "question": choice})
        for at, (question, choice) in enumerate(offered)
    ]
    judged = await _judged(bench, loaded, f"{loaded.graph}, asked back", "seen", asked, show)
    found: dict[str, tuple[Verdict, ...]] = {}
    for (question, _), outcome in zip(offered, judged.outcomes, strict=True):
        found[question.id] = (*found.get(question.id, ()), outcome.verdict)
    outcomes = [replace(each, choices=found.get(each.question.id, ())) for each in run.outcomes]
    return NaturalRun(outcomes, run.leaks)


def _files(only: str) -> dict[str, list[Path]]:
    """Returns the graphs to ask with their files. Raises QuestionsError."""
    if only == TABLES:
        return {TABLES: sorted(SETS.glob("*.csv"))}
    if only and only not in GRAPHS:
        raise QuestionsError(f"there is no such graph; there are {', '.join((*GRAPHS, TABLES))}")
    return {graph: [file] for graph, file in GRAPHS.items() if only in ("", graph)}


def measures(run: NaturalRun) -> list[Measure]:
    """Returns the table's lines for each half; only the half that nobody looks at has bounds."""
    lines = [line for half in TITLES for line in _of_half(half, [each for each in run.outcomes if each.half == half])]
    asked_ms = [each.reasoning_ms for each in run.outcomes if each.answer is not None]
    return [
        *lines,
        times("the reasoner's own time, p50 / p95", asked_ms, _P50_MS, _P95_MS),
        at_most("names that reached the reasoner", len(run.outcomes), run.leaks, 0),
    ]


def _of_half(half: Half, outcomes: _Outcomes) -> Iterator[Measure]:
    if not outcomes:
        return

    def name(what: str) -> str:
        return f"{TITLES[half]}: {what}"

    def bound(figure: float) -> float | None:
        return figure if half == "shut" else None

    def right(what: str, chosen: _Outcomes, figure: float) -> Measure:
        return share(name(what), _part(chosen, "right"), len(chosen), bound(figure))

    def most(what: str, of: int, reached: float, figure: float | None) -> Measure:
        line = at_most(name(what), of, reached, figure)
        return line if isinstance(reached, int) else line.model_copy(update={"reached": f"{reached:.3f}"})

    given = [each for each in outcomes if each.is_given]
    quantified = [each for each in outcomes if each.question.kind in _QUANTIFIED]
    yield right("right", outcomes, 0.85)
    yield most("wrong among the answers given", len(given), _part(given, "wrong"), bound(0.03))
    yield most("partly right among them", len(given), _part(given, "partly"), None)
    unanswerable = [each for each in outcomes if each.question.gold.type == "unanswerable"]
    yield right("rightly refused of the unanswerable", unanswerable, 0.95)
    yield right("yes or no", [each for each in outcomes if each.question.kind == "yes_no"], 0.95)
    yield right("negation and quantifiers", quantified, 0.80)
    yield most("of these wrong", len(quantified), _part(quantified, "wrong"), bound(0.0))
    told = [(each.answer.confidence, each.verdict == "right") for each in given if each.answer]
    if sure := [(confidence, is_right) for confidence, is_right in told if confidence is not None]:
        error = calibration_error(sure)
        yield most("calibration error of the confidence, ten bins", len(sure), error, bound(0.05))
    asked_back = sum(each.answer is not None and bool(each.answer.did_you_mean) for each in outcomes)
    yield most("asked back", len(outcomes), asked_back, None)
    if chosen := [each for each in outcomes if each.choices]:
        meant = mean([float("right" in each.choices) for each in chosen])
        yield share(name("of these the right question was offered"), meant, len(chosen))
    if failed := sum(each.answer is None for each in outcomes):
        yield most("ended with an error", len(outcomes), failed, bound(0))


def _part(outcomes: _Outcomes, verdict: Verdict) -> float:
    return mean([float(each.verdict == verdict) for each in outcomes])


def by_kind(run: NaturalRun) -> str:
    """Returns a Markdown table: for each half all questions, then each kind, then each graph."""
    rows: list[tuple[object, ...]] = []
    for half, title in TITLES.items():
        outcomes = [each for each in run.outcomes if each.half == half]
        groups: dict[str, list[NaturalOutcome]] = {"all": list(outcomes)}
        for each in sorted(outcomes, key=lambda outcome: outcome.question.kind):
            groups.setdefault(each.question.kind.replace("_", " "), []).append(each)
        for each in outcomes:
            groups.setdefault(f"graph {each.question.graph}", []).append(each)
        for name, group in groups.items():
            counts = [sum(each.verdict == verdict for each in group) for verdict in VERDICTS]
            if group:
                rows.append((f"{title}: {name}", len(group), *counts, f"{_part(group, 'right'):.2f}"))
    return markdown_table(("questions", "n", *VERDICTS, "share right"), rows)


def wrong_markdown(run: NaturalRun) -> str:
    """Returns the questions of the seen half that were not right, wrong ones first; the shut half is not shown."""
    parts = ["# Natural questions that were not rightly answered", "", "The seen half alone. Wrong ones come first."]
    for verdict in reversed(VERDICTS[1:]):
        found = [each for each in run.outcomes if each.half == "seen" and each.verdict == verdict]
        parts += ["", f"## {verdict} ({len(found)})", ""]
        for each in found:
            question, answer = each.question, each.answer
            parts.append(f"- {question.id}: {' / '.join(question.texts)}")
            parts.append(f"    - answered: {answer.text if answer else 'with an error'}")
            parts += [f"    - path: {line}" for line in (answer.path if answer else ())]
            parts.append(f"    - gold ({question.gold.type}): {'; '.join(map(str, question.gold.items)) or 'none'}")
    return "\n".join(parts) + "\n"
