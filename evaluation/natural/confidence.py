"""Fit the formula of the confidence to answers that are known to be right or wrong, and test it on other graphs.

There are four sources: the seen half of the natural questions, answered even when unsure, so that there are wrong
answers to learn from; the same questions over a schema that lacks a relation they need, where every reading is wrong;
the questions of public sets, read as one path each; and WebQSP's questions, with a clinic's questions about WebQSP's
things, where many paths vote for an answer.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

from app.graphs.markdown_table import markdown_table
from app.llm.confidence import INTERCEPT, chance, features_of
from app.llm.in_house import ReadingScores
from app.llm.tasks import StepInput
from app.reader.meaning.read_meaning import ReadMeaning, read_meaning
from app.reader.scoring.path_scoring import PathScorer
from client_sdk.answers.answer import Answer
from evaluation.bench.bench import Bench, LoadedSet, Step
from evaluation.bench.question_sets import WEBQSP, Show, clinic_of_webqsp, sets_asked
from evaluation.bench.report import QuestionOutcome
from evaluation.checks.metrics import calibration_error
from evaluation.datasets.derived_sets import halves_of_topics, transplanted
from evaluation.datasets.questions import Question
from evaluation.natural.run import NaturalOutcome, Selection, ask_natural
from evaluation.tables.measures import Asker, asking
from kg_store.text.labels import plain_words

_DRAWS: Final = 6
"""The number of things that each question of a clinic is asked about."""
_LABEL: Final = re.compile(r'"([^"]*)"')
STRENGTHS: Final = (0.1, 0.3, 1.0, 3.0, 10.0)
"""Candidates for the inverse of the penalty (scikit-learn's C); the best on left-out graphs is used."""
LOWERING: Final = frozenset({"doubtful_names", "silent", "steps"})
"""Features that must not raise the confidence."""


@dataclass(frozen=True, slots=True)
class ConfidenceExample:
    """One answer with its features and `is_right`.

    `group` is a graph or set: the fit is tested on a group after training on all others. `is_given`: the answer is
    sure enough for the service to give it.
    """

    road: str
    group: str
    features: Mapping[str, float]
    is_right: bool
    is_given: bool = True
    weight: float = 1.0
    is_intact: bool = True
    """False if the graph was changed so that it can't answer the question."""


async def natural_examples(limit: int | None, seed: int, show: Show) -> list[ConfidenceExample]:
    """Returns the examples of the seen half, `limit` questions per graph. Raises QuestionsError.

    The shut half, which nobody looks at, is not asked.
    """
    async with Bench(answers_unsure=True) as bench:
        run = await ask_natural(bench, Selection(("seen",), limit=limit, seed=seed), show)
        answered = [example for each in run.outcomes for example in _of_outcome(each, bench.scorer)]
        unheld = [each for outcome in run.outcomes for each in _without_relations(outcome, bench.scorer)]
    # The reader was developed on these questions and understands them too well. Other people's questions go wrong as
    # if a relation were missing: together, those examples weigh as much as the questions not answered rightly.
    share = sum(each.verdict != "right" for each in run.outcomes) / max(1, len(unheld))
    return [*answered, *(replace(each, weight=share) for each in unheld if each is not None)]


def _of_outcome(outcome: NaturalOutcome, scorer: PathScorer) -> Iterator[ConfidenceExample]:
    scores, answer = _scores(outcome.steps), outcome.answer
    if scores is not None and answer is not None and answer.answered:
        read = _first_reading(outcome, scorer)
        # The fit itself decides which readings by the whole question are given, so that all of them count.
        is_given = scores.road == "whole" or (read is not None and read.is_sure)
        yield ConfidenceExample(
            scores.road, outcome.question.graph, _features(scores, answer), outcome.verdict == "right", is_given
        )


def _without_relations(outcome: NaturalOutcome, scorer: PathScorer) -> Iterator[ConfidenceExample | None]:
    """Yields a wrong example for each relation of a right answer: how the question is read if the schema lacks it.

    None is yielded where the question is then refused.
    """
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
    """Returns the task as a graph without `relation` would give it; all labels that contain it are removed."""
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
    """Returns the examples of the public sets, `limit` questions of each. Raises QuestionsError."""
    async with asking(data, limit, seed, show) as asker:
        asked = [await _asked(asker, "path", *each) for each in sets_asked(asker.sets, seed, "")]
        return [example for found in asked for example in found]


async def vote_examples(data: Path, limit: int, seed: int, show: Show) -> list[ConfidenceExample]:
    """Returns examples of WebQSP's questions, and of a clinic's questions about things of WebQSP's graph.

    Every question is answered, however low its score. The topics are split into two halves, each of which is a group.
    Raises QuestionsError.
    """
    async with asking(data, limit, seed, show, least_score=-math.inf) as asker:
        loaded, questions = asker.sets.of(WEBQSP)
        clinic = clinic_of_webqsp(asker.sets)
        planted = [
            each.model_copy(update={"id": f"{each.id}-{number}"})
            for number in range(_DRAWS)
            for each in transplanted(clinic.questions, clinic.names, seed + number)
        ]
        found: list[ConfidenceExample] = []
        for number, half in enumerate((*halves_of_topics(questions), planted[::2], planted[1::2])):
            found += await _asked(asker, "vote", f"half {number % 2 + 1} of the topics", loaded, half)
        return found


async def _asked(
    asker: Asker, road: Literal["path", "vote"], group: str, loaded: LoadedSet, questions: Sequence[Question]
) -> list[ConfidenceExample]:
    """Returns the examples of one road and set.

    An answer by vote is right if its first thing is; any other answer must be right as a whole.
    """
    found: list[ConfidenceExample] = []

    def see(question: Question, outcome: QuestionOutcome, answer: Answer | None, steps: Sequence[Step]) -> None:
        scores = _scores(steps)
        if answer is not None and answer.answered and scores is not None and scores.road == road:
            score = outcome.score.hit if road == "vote" else outcome.score.f1
            is_right, features = question.is_answerable and score == 1.0, _features(scores, answer)
            found.append(ConfidenceExample(road, group, features, is_right, is_intact=question.is_answerable))

    await asker.ask(group, loaded, asker.sample(questions), see)
    return found


_Examples = Sequence[ConfidenceExample]


@dataclass(frozen=True, slots=True)
class ConfidenceFit:
    """The weights of one road (one way to read questions), and how well they predict.

    `given` and `share_right` count the answers over unchanged graphs, and `error` is their calibration error.
    `error_elsewhere` is that of all answers the service would give, where each is predicted by a fit to all groups but
    its own.
    """

    road: str
    weights: Mapping[str, float]
    strength: float
    given: int
    share_right: float
    error: float
    error_elsewhere: float


async def run_fits(data: Path, limit: int, seed: int, show: Show) -> list[ConfidenceFit]:
    """Fits all roads to `limit` questions of each public set and all natural ones of the seen half.

    Raises QuestionsError.
    """
    meanings = await natural_examples(None, seed, show)
    paths, votes = await path_examples(data, limit, seed, show), await vote_examples(data, limit, seed, show)
    return [fit("meaning", meanings), fit("whole", meanings), fit("path", paths), fit("vote", votes)]


def fit(road: str, examples: _Examples) -> ConfidenceFit:
    """Returns the best fit to the examples of `road`. Raises ValueError if they are all right or all wrong."""
    own = [each for each in examples if each.road == road]

    def loss(strength: float) -> float:
        """Returns the mean logarithmic loss on left-out groups."""
        told = _elsewhere(own, strength)
        total = sum(-each.weight * math.log(one if each.is_right else 1 - one) for one, each in told)
        return total / sum(each.weight for _, each in told)

    strength = min(STRENGTHS, key=loss)
    weights = _weights(own, strength)
    given = [each for each in own if each.is_given and each.is_intact]
    told = [(chance(each.features, weights), each.is_right) for each in given]
    apart = _elsewhere(own, strength)
    elsewhere = calibration_error([(o, e.is_right) for o, e in apart], weights=[e.weight for _, e in apart])
    right = sum(each.is_right for each in given) / len(given)
    return ConfidenceFit(road, weights, strength, len(given), right, calibration_error(told), elsewhere)


def _elsewhere(examples: _Examples, strength: float) -> list[tuple[float, ConfidenceExample]]:
    """Returns each answer that the service would give, with its confidence by a fit to all groups but its own."""
    found = []
    for group in dict.fromkeys(each.group for each in examples):
        weights = _weights([each for each in examples if each.group != group], strength)
        found += [(chance(e.features, weights), e) for e in examples if e.group == group and e.is_given]
    return found


def _weights(examples: _Examples, strength: float) -> dict[str, float]:
    """Fits the weights, leaving out features of LOWERING that would raise the confidence: few examples have them."""
    # The import takes a second, so that only a fit should wait for it.
    from sklearn.linear_model import LogisticRegression

    names, left_out = sorted(examples[0].features), dict[str, float]()
    while True:
        model = LogisticRegression(C=strength, max_iter=1000)
        model.fit(
            [[each.features[name] for name in names] for each in examples],
            [each.is_right for each in examples],
            sample_weight=[each.weight for each in examples],
        )
        found = {name: float(weight) for name, weight in zip(names, model.coef_[0], strict=True)}
        wrong = {name for name in LOWERING.intersection(names) if found[name] > 0}
        if not wrong:
            return {**left_out, INTERCEPT: float(model.intercept_[0]), **found}
        left_out = {**left_out, **dict.fromkeys(wrong, 0.0)}
        names = [name for name in names if name not in wrong]


def as_toml(fits: Sequence[ConfidenceFit]) -> str:
    """Returns the weights in the form of app/llm/confidence.toml."""
    parts = ["# Written by `arog eval confidence --write`: not to be edited."]
    for each in fits:
        parts += ["", f"[{each.road}]", *(f"{name} = {weight:.3f}" for name, weight in each.weights.items())]
    return "\n".join(parts) + "\n"


def fits_markdown(fits: Sequence[ConfidenceFit]) -> str:
    """Returns a Markdown table with one row per road."""
    head = ("read as", "answers given", "share right", "calibration error", "of all, on graphs left out", "weights")
    rows = [
        (
            f"a {each.road}",
            str(each.given),
            f"{each.share_right:.3f}",
            f"{each.error:.3f}",
            f"{each.error_elsewhere:.3f}",
            ", ".join(f"{name.replace('_', ' ')} {weight:+.2f}" for name, weight in each.weights.items()),
        )
        for each in fits
    ]
    return markdown_table(head, rows)
