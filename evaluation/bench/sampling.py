"""Asker: runs samples of sets for the embedded reasoner's table, and keeps what all of them add up to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from client_sdk.answers.answer import Answer
from evaluation.bench.asker import QuestionOutcome
from evaluation.bench.bench import LoadedSet, See, ignore_outcome, sample
from evaluation.bench.error_log import ErrorLog
from evaluation.bench.question_sets import QuestionSets, Show
from evaluation.bench.report import RunLabel
from evaluation.datasets.questions import Question
from evaluation.fakes.recording_reasoner import Step


@dataclass(frozen=True, slots=True)
class AskedSample:
    """The result of one sample, or of several together; `leaks` is what the scanner found in their bytes."""

    outcomes: list[QuestionOutcome] = field(repr=False)
    leaks: int

    def __add__(self, other: AskedSample) -> AskedSample:
        return AskedSample([*self.outcomes, *other.outcomes], self.leaks + other.leaks)


NOTHING_ASKED = AskedSample([], 0)


@dataclass(slots=True)
class Asker:
    """`limit` questions a set, drawn by `seed`; `total` is everything that was asked.

    `errors` is the folder for files of wrong answers, which hold names; none are written without it.
    """

    sets: QuestionSets
    limit: int
    seed: int
    show: Show
    errors: Path | None = None
    total: AskedSample = NOTHING_ASKED

    def sample(self, questions: Sequence[Question], shared_by: int = 1) -> list[Question]:
        """This set's questions; several sets may share one row's number."""
        return sample(questions, max(1, self.limit // shared_by), self.seed)

    async def ask(
        self, title: str, loaded: LoadedSet, questions: Sequence[Question], see: See = ignore_outcome
    ) -> AskedSample:
        """The outcomes in the order of `questions`; `see` sees each of them as it comes."""
        bench = self.sets.bench
        log = ErrorLog(bench.scorer) if self.errors else None
        label = RunLabel(set_name=title, strategy="sets", reasoner="embedded", seed=self.seed)
        report, outcomes = await bench.ask(
            loaded,
            label,
            questions,
            progress=lambda done: self.show(title, done, len(questions)),
            see=_both(log.see, see) if log else see,
        )
        if log and self.errors and not all(question.half == "unseen" for question in questions):
            file = self.errors / f"errors-{title.lower().replace(' ', '-').replace(',', '')}.md"
            log.write(label, file, report.leaks.leaked)
        asked = AskedSample(outcomes, report.leaks.leaks)
        self.total += asked
        return asked


def _both(first: See, second: See) -> See:
    def see(question: Question, outcome: QuestionOutcome, answer: Answer | None, steps: Sequence[Step]) -> None:
        first(question, outcome, answer, steps)
        second(question, outcome, answer, steps)

    return see
