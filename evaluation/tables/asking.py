"""Asks samples of question sets for the rows of a table, and keeps what all of them add up to."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from evaluation.bench.bench import Bench, LoadedSet, ReasonerName, See, ignore_outcome, sample
from evaluation.bench.question_sets import QuestionSets, Show
from evaluation.bench.report import QuestionOutcome, RunLabel
from evaluation.datasets.questions import Question
from evaluation.fakes.scripted_endpoint import ScriptedEndpoint


@dataclass(frozen=True, slots=True)
class AskedSample:
    """The result of one sample, or of several together; `leaks` is what the scanner found in their bytes."""

    outcomes: list[QuestionOutcome] = field(repr=False)
    leaks: int

    def __add__(self, other: AskedSample) -> AskedSample:
        return AskedSample([*self.outcomes, *other.outcomes], self.leaks + other.leaks)

    def those(self, chosen: Callable[[QuestionOutcome], bool]) -> list[QuestionOutcome]:
        return [*filter(chosen, self.outcomes)]


NOTHING_ASKED = AskedSample([], 0)


def is_planned(question: Question) -> bool:
    """True where a plan is known, and the graph agrees with the gold answers: what a scripted endpoint is asked."""
    return question.has_plan and question.reproduced


@dataclass(slots=True)
class Asker:
    """`limit` questions a set, drawn by `seed`; `total` is everything that was asked."""

    sets: QuestionSets
    limit: int
    seed: int
    show: Show
    reasoner: ReasonerName = "embedded"
    total: AskedSample = NOTHING_ASKED

    def sample(self, questions: Sequence[Question], shared_by: int = 1) -> list[Question]:
        """This set's questions; several sets may share one row's number."""
        return sample(questions, max(1, self.limit // shared_by), self.seed)

    async def ask_set(
        self,
        title: str,
        source: str,
        keep: Callable[[Question], bool] = lambda _question: True,
        strategy: str = "sets",
    ) -> AskedSample:
        """A sample of those questions of a public set that are to be kept. Raises QuestionsError."""
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
        """The outcomes in the order of `questions`; `see` sees each of them as it comes."""
        report, outcomes = await self.sets.bench.ask(
            loaded,
            RunLabel(set_name=title, strategy=strategy, reasoner=self.reasoner, seed=self.seed),
            questions,
            progress=lambda done: self.show(title, done, len(questions)),
            see=see,
        )
        asked = AskedSample(outcomes, report.leaks.leaks)
        self.total += asked
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
) -> AsyncIterator[Asker]:
    """A bench with the public sets below `data`; `endpoint` and `changes` as of Bench."""
    with tempfile.TemporaryDirectory(prefix="arog-sets-") as folder:
        async with Bench(reasoner, scripted=endpoint, changes=changes) as bench:
            yield Asker(QuestionSets(bench, data, Path(folder), show), limit, seed, show, reasoner)
