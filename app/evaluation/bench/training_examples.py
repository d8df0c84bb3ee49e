"""Examples of questions with gold plans: asked of the real service, beside all paths that its reasoner was shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.evaluation.bench.bench import Bench, LoadedSet
from app.evaluation.bench.path_trail import same_steps
from app.evaluation.bench.report import RunLabel
from app.evaluation.datasets.gold_plan import plan_paths
from app.evaluation.datasets.questions import Question
from app.evaluation.fakes.recording_reasoner import Step
from app.llm.embedded.language.answer_form import read_form
from app.llm.embedded.language.question_words import words_in
from app.llm.embedded.plans.candidate_paths import known_paths, roots_of
from app.llm.embedded.scoring.path_scoring import WordedPath
from app.llm.tasks import StepInput
from app.training.examples import Example


@dataclass(frozen=True, slots=True)
class Gathered:
    """The examples of a set, and how many of its questions gave none."""

    examples: list[Example]
    left_out: int


async def gather(
    bench: Bench,
    loaded: LoadedSet,
    questions: Sequence[Question],
    progress: Callable[[int], None] = lambda _done: None,
) -> Gathered:
    """One example a question of one turn and one topic whose gold path was among the paths shown."""
    found: dict[str, Example] = {}

    def see(question: Question, _outcome: object, _answer: object, steps: Sequence[Step]) -> None:
        example = _example(question, [step.asked for step in steps if isinstance(step.asked, StepInput)])
        if example is not None:
            found[question.id] = example

    label = RunLabel(set_name="training", strategy="sets", reasoner="embedded", seed=0)
    await bench.ask(loaded, label, questions, progress=progress, see=see)
    return Gathered([*found.values()], len(questions) - len(found))


def _example(question: Question, shown: Sequence[StepInput]) -> Example | None:
    """None where the plan is not one path from one topic, or no step showed that path in whole."""
    gold = plan_paths(question.plan) if question.plan and len(question.texts) == 1 else []
    if len(gold) != 1 or not gold[0][0].startswith("topic:") or not shown:
        return None
    entities, _, _ = roots_of(shown[-1])
    if len(entities) != 1:
        return None
    root = entities[0]
    paths = {path.steps: WordedPath(path.steps, path.concepts) for given in shown for path in known_paths(given, root)}
    right = tuple(same_steps(steps, gold[0][1]) for steps in paths)
    if not any(right):
        return None
    form = read_form(shown[-1].question, words_in(shown[-1].question).count(root.name))
    return Example(form.rest, root.name, root.concept, tuple(paths.values()), right, question.topic_entities[0])
