"""Answers that are known to be right or wrong, with the scores that their confidence is worked out from.

Four sources: the natural questions of the seen half, asked where the reader answers by every reading that leaves
nothing over, so that there are wrong answers to learn from; the same questions once more over a schema without a
relation that they need, where whatever is read is wrong; the questions of the public sets, for graphs whose
questions are read as paths; and WebQSP's, with a clinic's about its things, for graphs where paths vote.
"""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

from app.llm.confidence import features_of
from app.llm.in_house import ReadingScores
from app.llm.tasks import StepInput
from app.reader.meaning.read_meaning import ReadMeaning, read_meaning
from app.reader.scoring.path_scoring import PathScorer
from client_sdk.answers.answer import Answer
from evaluation.bench.bench import Bench, LoadedSet, Step, sample
from evaluation.bench.question_sets import WEBQSP, QuestionSets, Show, clinic_of_webqsp, sets_asked
from evaluation.bench.report import QuestionOutcome, RunLabel
from evaluation.datasets.derived_sets import halves_of_topics, transplanted
from evaluation.datasets.questions import Question
from evaluation.natural.run import NaturalOutcome, Selection, ask_natural
from kg_store.text.labels import plain_words

Road = Literal["path", "vote"]
_DRAWS: Final = 6
"""Of things that each question of a clinic is asked about."""
_LABEL: Final = re.compile(r'"([^"]*)"')


@dataclass(frozen=True, slots=True)
class ConfidenceExample:
    """One answer. `group` is left out as a whole when the fit is tested; `is_given`: the service would give it."""

    road: str
    group: str
    features: Mapping[str, float]
    is_right: bool
    is_given: bool = True
    weight: float = 1.0
    is_intact: bool = True
    """False of a question that its graph was made unable to answer."""


async def natural_examples(limit: int | None, seed: int, show: Show) -> list[ConfidenceExample]:
    """Those of the seen half; none of the other is asked. `limit` is for each graph. Raises QuestionsError."""
    async with Bench(answers_unsure=True) as bench:
        run = await ask_natural(bench, Selection(("seen",), limit=limit, seed=seed), show)
        answered = [example for each in run.outcomes for example in _of_outcome(each, bench.scorer)]
        unheld = [each for outcome in run.outcomes for each in _without_relations(outcome, bench.scorer)]
    # What the reader does not understand of these questions was mended or is refused by now, as they were looked at
    # while it was made. Of other people's it reads as much as if a relation were missing.
    share = sum(each.verdict != "right" for each in run.outcomes) / max(1, len(unheld))
    return [*answered, *(replace(each, weight=share) for each in unheld if each is not None)]


def _of_outcome(outcome: NaturalOutcome, scorer: PathScorer) -> Iterator[ConfidenceExample]:
    scores, answer = _scores(outcome.steps), outcome.answer
    if scores is not None and answer is not None and answer.answered:
        read = _first_reading(outcome, scorer)
        # The fit itself decides which readings by the whole question are given: all of them count.
        is_given = scores.road == "whole" or (read is not None and read.is_sure)
        yield ConfidenceExample(
            scores.road, outcome.question.graph, _features(scores, answer), outcome.verdict == "right", is_given
        )


def _without_relations(outcome: NaturalOutcome, scorer: PathScorer) -> Iterator[ConfidenceExample | None]:
    """For each relation that a right answer needs, what is read without it; None where that is refused."""
    read, answer = _first_reading(outcome, scorer), outcome.answer
    if read is None or not read.is_sure or outcome.verdict != "right" or answer is None or not answer.answered:
        return
    given = next(step.asked for step in outcome.steps if isinstance(step.asked, StepInput))
    for relation in sorted({part for label in _LABEL.findall(read.meaning.expression) for part in _parts(label)}):
        other = read_meaning(scorer, _lacking(given, relation))
        if other is None or not other.is_whole:
            yield None
            continue
        road, features = other.scores.road, _features(other.scores, answer)
        group = outcome.question.graph
        yield ConfidenceExample(road, group, features, is_right=False, is_given=other.is_sure, is_intact=False)


def _lacking(given: StepInput, relation: str) -> StepInput:
    """The task as a graph without `relation` would have it, under any of the names that a source gives it."""
    steps = tuple(step for step in given.steps if relation not in _parts(step.label))
    own = {name: tuple(each for each in labels if relation not in _parts(each)) for name, labels in given.own.items()}
    return given.model_copy(update={"steps": steps, "own": own})


def _parts(label: str) -> set[str]:
    return {part.lstrip("^") for part in plain_words(label).split("|")}


def _first_reading(outcome: NaturalOutcome, scorer: PathScorer) -> ReadMeaning | None:
    given = next((step.asked for step in outcome.steps if isinstance(step.asked, StepInput)), None)
    return read_meaning(scorer, given) if given is not None and given.steps else None


def _scores(steps: Iterable[Step]) -> ReadingScores | None:
    return next((step.scores for step in reversed(list(steps)) if step.scores is not None), None)


def _features(scores: ReadingScores, answer: Answer) -> dict[str, float]:
    return features_of(scores, doubtful_names=bool(answer.inexact or answer.ambiguous))


async def path_examples(data: Path, limit: int, seed: int, show: Show) -> list[ConfidenceExample]:
    """Those of the public sets, `limit` questions of each. Raises QuestionsError."""
    found: list[ConfidenceExample] = []
    with tempfile.TemporaryDirectory(prefix="arog-sets-") as folder:
        async with Bench() as bench:
            sets = QuestionSets(bench, data, Path(folder), show)
            for title, loaded, questions in sets_asked(sets, seed, ""):
                chosen = sample(questions, limit, seed)
                found += (await _asked(bench, title, loaded, chosen, _Gathered("path", title), show)).examples
    return found


async def vote_examples(data: Path, limit: int, seed: int, show: Show) -> list[ConfidenceExample]:
    """Those of WebQSP's questions, and of a clinic's with a thing of WebQSP's graph in their topic's place, where all
    are answered. Either half of the topics is a group. Raises QuestionsError."""
    found: list[ConfidenceExample] = []
    with tempfile.TemporaryDirectory(prefix="arog-sets-") as folder:
        async with Bench(least_score=-math.inf) as bench:
            sets = QuestionSets(bench, data, Path(folder), show)
            loaded, questions = sets.of(WEBQSP)
            clinic = clinic_of_webqsp(sets)
            planted = [
                each.model_copy(update={"id": f"{each.id}-{number}"})
                for number in range(_DRAWS)
                for each in transplanted(clinic.questions, clinic.names, seed + number)
            ]
            halves = halves_of_topics(questions)
            for number, half in enumerate((*halves, planted[::2], planted[1::2])):
                title = f"half {number % 2 + 1} of the topics"
                chosen = sample(list(half), limit, seed)
                found += (await _asked(bench, title, loaded, chosen, _Gathered("vote", title), show)).examples
    return found


async def _asked(
    bench: Bench, title: str, loaded: LoadedSet, chosen: Sequence[Question], gathered: _Gathered, show: Show
) -> _Gathered:
    await bench.ask(
        loaded,
        RunLabel(set_name=title, strategy="sets", reasoner="embedded", seed=0),
        chosen,
        progress=lambda done: show(title, done, len(chosen)),
        see=gathered.see,
    )
    return gathered


class _Gathered:
    """Gathers those of one road and set; `see` is what Bench.ask calls. Of a vote's answer the first thing has to be
    right, else all of it."""

    def __init__(self, road: Road, group: str) -> None:
        self._road, self._group = road, group
        self.examples: list[ConfidenceExample] = []

    def see(self, question: Question, outcome: QuestionOutcome, answer: Answer | None, steps: Sequence[Step]) -> None:
        scores = _scores(steps)
        if answer is not None and answer.answered and scores is not None and scores.road == self._road:
            score = outcome.score.hit if self._road == "vote" else outcome.score.f1
            is_right, features = question.is_answerable and score == 1.0, _features(scores, answer)
            self.examples.append(
                ConfidenceExample(self._road, self._group, features, is_right, is_intact=question.is_answerable)
            )
