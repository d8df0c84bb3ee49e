"""Asks natural questions through the real service, graph by graph, and keeps each verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from app.demo import GRAPH_FILE, POLICY_FILE
from client_sdk.answers.answer import Answer
from evaluation.bench.bench import Bench, LoadedSet, Step, sample
from evaluation.bench.question_sets import Show
from evaluation.bench.report import REASONER_STAGE, QuestionOutcome, RunLabel
from evaluation.datasets.questions import Question, QuestionsError
from evaluation.natural.questions import SETS, Half, NaturalQuestion, read_natural
from evaluation.natural.verdicts import Verdict, judge

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
"""The company as CSV files with foreign keys: asked the same questions, and only where it is asked for by name."""
_OF_TABLES: Final = "company"


@dataclass(frozen=True, slots=True)
class Selection:
    """Which questions are asked; `graph` empty: of all graphs. `limit` is for each graph and half."""

    halves: Sequence[Half]
    graph: str = ""
    limit: int | None = None
    seed: int = 0


@dataclass(frozen=True, slots=True)
class NaturalOutcome:
    """One question, what came of it, and what that is worth. `answer` is None where an error ended it.

    `steps`: what its last turn asked of the reasoner. `choices`: of a question that was asked back, the verdict on the
    answer to each question that was offered.
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
        """True where something was answered about the graph; a reply to small talk says nothing of it."""
        return self.answer is not None and self.answer.answered and self.question.gold.type != "smalltalk"

    @property
    def confidence(self) -> float | None:
        """As the answer tells it; None where it tells none."""
        return self.answer.confidence if self.answer else None


@dataclass(frozen=True, slots=True)
class NaturalRun:
    """All outcomes, and what the leak scanner found."""

    outcomes: list[NaturalOutcome] = field(repr=False)
    leaks: int

    def __add__(self, other: NaturalRun) -> NaturalRun:
        return NaturalRun([*self.outcomes, *other.outcomes], self.leaks + other.leaks)


async def run_natural(selection: Selection, show: Show) -> NaturalRun:
    """Raises QuestionsError, before anything is opened."""
    _files(selection.graph)
    async with Bench() as bench:
        return await ask_natural(bench, selection, show)


async def ask_natural(bench: Bench, selection: Selection, show: Show) -> NaturalRun:
    """Asks a service that is open already. Raises QuestionsError."""
    questions = {half: read_natural(half) for half in selection.halves}
    run = NaturalRun([], 0)
    for graph, sources in _files(selection.graph).items():
        policy = POLICY_FILE.read_text("utf-8") if graph == CLINIC else None
        # As a newcomer has it who loads a file: masked is what the load masks by itself.
        loaded = bench.load(graph, sources, policy, _loading(show, graph), masks=True)
        for half, asked in questions.items():
            about = _OF_TABLES if graph == TABLES else graph
            chosen = sample([each for each in asked if each.graph == about], selection.limit, selection.seed)
            run += await _ask_half(bench, loaded, half, chosen, show)
    return run


async def _ask_half(
    bench: Bench, loaded: LoadedSet, half: Half, chosen: Sequence[NaturalQuestion], show: Show
) -> NaturalRun:
    title, judge_all = f"{loaded.graph}, {half}", _Judge(half, chosen)
    report, _ = await bench.ask(
        loaded,
        RunLabel(set_name=title, strategy="auto", reasoner="embedded", seed=0),
        [_as_asked(each) for each in chosen],
        progress=lambda done: show(title, done, len(chosen)),
        see=judge_all.see,
    )
    asked_back = await _choose(bench, loaded, judge_all.outcomes) if half == "seen" else {}
    outcomes = [replace(each, choices=asked_back.get(each.question.id, ())) for each in judge_all.outcomes]
    return NaturalRun(outcomes, report.leaks.leaks)


async def _choose(
    bench: Bench, loaded: LoadedSet, outcomes: Sequence[NaturalOutcome]
) -> dict[str, tuple[Verdict, ...]]:
    """The verdicts on the answers to each question that was offered where one was asked back, as its next turn."""
    offered = [
        (outcome.question, choice)
        for outcome in outcomes
        if outcome.answer is not None
        for choice in outcome.answer.did_you_mean
    ]
    asked = [
        question.model_copy(update={"id": f"{question.id} {at}", "turns": question.texts, "question": choice})
        for at, (question, choice) in enumerate(offered)
    ]
    judge_all = _Judge("seen", asked)
    label = RunLabel(set_name=f"{loaded.graph}, asked back", strategy="auto", reasoner="embedded", seed=0)
    await bench.ask(loaded, label, [_as_asked(each) for each in asked], see=judge_all.see)
    found: dict[str, tuple[Verdict, ...]] = {}
    for (question, _), outcome in zip(offered, judge_all.outcomes, strict=True):
        found[question.id] = (*found.get(question.id, ()), outcome.verdict)
    return found


def _as_asked(question: NaturalQuestion) -> Question:
    return Question(id=question.id, turns=question.texts, answers=(), kind=question.kind)


class _Judge:
    """Judges the answers of `questions`, which come in their order; `see` is what Bench.ask calls."""

    def __init__(self, half: Half, questions: Sequence[NaturalQuestion]) -> None:
        self._half = half
        self._questions = {question.id: question for question in questions}
        self.outcomes: list[NaturalOutcome] = []

    def see(self, asked: Question, outcome: QuestionOutcome, answer: Answer | None, steps: Sequence[Step]) -> None:
        question = self._questions[asked.id]
        reasoning_ms = outcome.milliseconds.get(REASONER_STAGE, 0.0)
        verdict = judge(question, answer)
        self.outcomes.append(NaturalOutcome(self._half, question, verdict, answer, reasoning_ms, tuple(steps)))


def _files(only: str) -> dict[str, list[Path]]:
    """The graphs that are asked, with their files. Raises QuestionsError."""
    if only == TABLES:
        return {TABLES: sorted(SETS.glob("*.csv"))}
    if only and only not in GRAPHS:
        raise QuestionsError(f"there is no such graph; there are {', '.join((*GRAPHS, TABLES))}")
    return {graph: [file] for graph, file in GRAPHS.items() if only in ("", graph)}


def _loading(show: Show, graph: str) -> Callable[[str, float], None]:
    return lambda _step, percent: show(f"loading {graph}", int(percent), 100)
