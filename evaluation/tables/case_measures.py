"""Cases in the embedded reasoner's table: one half of WebQSP's topics is rated, the other half is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from client_sdk.answers.answer import Answer
from client_sdk.protocol import MAX_CORRECT, MAX_CORRECT_CHARS, AnswerRating
from evaluation.bench.asker import QuestionOutcome
from evaluation.bench.bench import CALLER, TENANT
from evaluation.bench.question_sets import WEBQSP
from evaluation.bench.sampling import NOTHING_ASKED, Asker
from evaluation.datasets.questions import Question
from evaluation.datasets.splits import halves_of_topics
from evaluation.fakes.recording_reasoner import Step
from evaluation.tables import measures as measure
from evaluation.tables.measures import Measure

MAX_POINTS_BEHIND = -2.5
"""By how many points the questions with cases may hit less often than those without: below zero, they hit more."""
_NAME = "cases of the other half's topics rated right, linked"


async def case_measures(asker: Asker) -> list[Measure]:
    """The same questions with and without cases, each half by what was rated of the other."""
    loaded, questions = asker.sets.of(WEBQSP)
    halves = halves_of_topics(asker.sample(questions))
    store = asker.sets.bench.services.store.cases
    plain, leaning = NOTHING_ASKED, NOTHING_ASKED
    for number, (taught, tested) in enumerate((halves, halves[::-1]), start=1):
        store.forget_graph(TENANT, loaded.graph)
        rater = _Rater()
        plain += await asker.ask(f"WebQSP, half {number} without cases", loaded, taught, rater.see)
        # Only now: a question of this half must not lean on another one of it.
        for rating in rater.ratings:
            asker.sets.bench.services.ratings.rate(CALLER, rating)
        leaning += await asker.ask(f"WebQSP, half {3 - number} with cases", loaded, tested)
    store.forget_graph(TENANT, loaded.graph)
    return [
        measure.hits("WebQSP, without cases, linked", plain.outcomes, None, plain.leaks),
        measure.hits(f"WebQSP, {_NAME}", leaning.outcomes, None, leaning.leaks),
        measure.hits("of these filtered", [each for each in leaning.outcomes if each.filtered]),
        measure.behind("with cases: behind without them", leaning.outcomes, plain.outcomes, MAX_POINTS_BEHIND),
    ]


@dataclass(frozen=True, slots=True)
class _Rater:
    """Gathers the rating of each answer by its gold, as its asker would give it; a wrong one is told what is right."""

    ratings: list[AnswerRating] = field(default_factory=list)

    def see(self, question: Question, outcome: QuestionOutcome, answer: Answer | None, _steps: Sequence[Step]) -> None:
        if answer is None or not question.is_answerable:
            return
        is_right = outcome.answered and outcome.score.f1 == 1.0
        rating = AnswerRating(
            conversation=answer.conversation,
            answer=answer.id,
            rating="right" if is_right else "wrong",
            correct=None if is_right else [name[:MAX_CORRECT_CHARS] for name in question.answers[:MAX_CORRECT]],
        )
        self.ratings.append(rating)
