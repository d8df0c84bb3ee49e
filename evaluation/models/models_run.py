"""Asks the same questions of the reasoner in the box and of a model beside it, and counts right, wrong and refused."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from app.graphs.markdown_table import markdown_table
from evaluation.bench.asker import QuestionOutcome
from evaluation.bench.bench import TO_THE_MODEL, Bench, LoadedSet, ReasonerName
from evaluation.bench.report import RunLabel
from evaluation.checks.metrics import mean
from evaluation.datasets.questions import Question

HALF: Final = 0.5
"""From this hit on an answer counts as right."""
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class ModelRow:
    """The outcome of one set by one reasoner. Tokens, calls and seconds are means of a question; `cost` is of all."""

    name: str
    asked: int
    right: float
    wrong: int
    refused: int
    errors: int
    calls: float
    prompt_tokens: float
    reply_tokens: float
    longest_reply: int
    seconds: float
    cost: float | None
    leaks: int

    @property
    def share_right(self) -> float:
        return self.right / self.asked if self.asked else 0.0

    @property
    def wrong_of_given(self) -> float:
        given = self.asked - self.refused - self.errors
        return self.wrong / given if given else 0.0


@dataclass(frozen=True, slots=True)
class AskedGraph:
    """A graph of an owner with questions whose answers are known."""

    files: Sequence[Path]
    policy: str | None
    questions: Sequence[Question]


def row_of(
    name: str, outcomes: Sequence[QuestionOutcome], costs: Sequence[float | None], seconds: float, leaks: int
) -> ModelRow:
    """The row of `outcomes`, which took `seconds` in all."""
    given = [outcome for outcome in outcomes if outcome.answered]
    asked = len(outcomes)
    return ModelRow(
        name=name,
        asked=asked,
        right=sum(outcome.score.hit for outcome in outcomes),
        wrong=sum(outcome.score.hit < HALF for outcome in given),
        refused=sum(not outcome.answered and not outcome.problem for outcome in outcomes),
        errors=sum(bool(outcome.problem) for outcome in outcomes),
        calls=mean([float(outcome.calls) for outcome in outcomes]),
        prompt_tokens=mean([float(outcome.prompt_tokens) for outcome in outcomes]),
        reply_tokens=mean([float(outcome.completion_tokens) for outcome in outcomes]),
        longest_reply=max((outcome.completion_tokens for outcome in outcomes), default=0),
        seconds=seconds / asked if asked else 0.0,
        cost=None if not costs or None in costs else sum(each for each in costs if each is not None),
        leaks=leaks,
    )


async def asked_row(
    bench: Bench, loaded: LoadedSet, name: str, questions: Sequence[Question], show: Progress, strategy: str = "sets"
) -> ModelRow:
    """Asks `questions` one after the other."""
    label = RunLabel(set_name=name, strategy=strategy, reasoner="endpoint", seed=0)
    costs: list[float | None] = []
    began = time.perf_counter()
    report, outcomes = await bench.ask(
        loaded,
        label,
        questions,
        progress=lambda done: show(name, done, len(questions)),
        see=lambda _question, _outcome, answer, _steps: costs.append(answer.usage.cost if answer else None),
    )
    return row_of(name, outcomes, costs, time.perf_counter() - began, report.leaks.leaks)


def compare_models(graph: AskedGraph, endpoint: Mapping[str, object], show: Progress) -> list[ModelRow]:
    """The reasoner in the box, the model beside it, and the model alone. `endpoint`: settings of the model."""
    ways: tuple[tuple[str, ReasonerName, Mapping[str, object]], ...] = (
        ("embedded", "embedded", {}),
        ("embedded, with the model's second opinion", "endpoint", {**TO_THE_MODEL, **endpoint}),
        (
            "the model alone",
            "endpoint",
            {**TO_THE_MODEL, **endpoint, "endpoint_use": "alone", "endpoint_fallbacks": ()},
        ),
    )
    return [asyncio.run(_by(graph, *way, show)) for way in ways]


async def _by(
    graph: AskedGraph, name: str, reasoner: ReasonerName, changes: Mapping[str, object], show: Progress
) -> ModelRow:
    async with Bench(reasoner, changes=changes) as bench:
        loaded = bench.load("asked", graph.files, graph.policy)
        return await asked_row(bench, loaded, name, graph.questions, show)


def rows_markdown(rows: Sequence[ModelRow], currency: str) -> str:
    """The table that an owner reads."""
    heads = (
        "who answers",
        "asked",
        "right",
        "wrong",
        "refused",
        "errors",
        "calls",
        "tokens",
        "seconds",
        "price of all",
    )
    lines = [
        (
            row.name,
            str(row.asked),
            f"{row.right:.1f}",
            str(row.wrong),
            str(row.refused),
            str(row.errors),
            f"{row.calls:.2f}",
            f"{row.prompt_tokens:.0f} + {row.reply_tokens:.0f}",
            f"{row.seconds:.2f}",
            "" if row.cost is None else f"{row.cost:.4f} {currency}",
        )
        for row in rows
    ]
    return markdown_table(heads, lines)
