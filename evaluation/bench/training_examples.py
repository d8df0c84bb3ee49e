"""Examples of questions with gold plans or answers: asked of the real service, beside all paths that it showed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from app.language.readings import WordedPath
from app.llm.tasks import StepInput, Thing
from app.reader.language.answer_form import read_form
from app.reader.language.question_words import words_in
from app.reader.plans.candidate_paths import known_paths, roots_of
from evaluation.bench.bench import Bench, LoadedSet
from evaluation.bench.path_hits import PathHits
from evaluation.bench.path_trail import same_steps
from evaluation.bench.report import RunLabel
from evaluation.datasets.gold_plan import plan_paths
from evaluation.datasets.questions import Question
from evaluation.fakes.recording_reasoner import Step
from evaluation.training.reasoner import Example


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
    """One example a question of one turn, of which a path shown is the gold one, or reaches an answer.

    A question with a plan is learnt from by its plan; one without by its answers alone.
    """
    found: dict[str, Example] = {}
    hits = PathHits(bench.graph(loaded))

    def see(question: Question, _outcome: object, _answer: object, steps: Sequence[Step]) -> None:
        shown = [step.asked for step in steps if isinstance(step.asked, StepInput)]
        example = _example(question, shown, hits) if shown and len(question.texts) == 1 else None
        if example is not None:
            found[question.id] = example

    label = RunLabel(set_name="training", strategy="sets", reasoner="embedded", seed=0)
    await bench.ask(loaded, label, questions, progress=progress, see=see)
    return Gathered([*found.values()], len(questions) - len(found))


def _example(question: Question, shown: Sequence[StepInput], hits: PathHits) -> Example | None:
    """None where no path shown is right."""
    entities, _, _ = roots_of(shown[-1])
    if question.has_plan:
        found = [_by_plan(question, shown, root) for root in entities] if len(entities) == 1 else []
    else:
        found = [_by_answers(question, shown, root, hits) for root in entities]
    # Of several things that a question names its topic is the one whose paths reach an answer.
    return max((each for each in found if any(each.right)), key=lambda each: max(each.right), default=None)


def _by_plan(question: Question, shown: Sequence[StepInput], root: Thing) -> Example:
    """No path is right where the plan is not one path from one topic."""
    gold = plan_paths(question.plan) if question.plan else []
    steps = gold[0][1] if len(gold) == 1 and gold[0][0].startswith("topic:") else None
    paths = _paths(shown, root)
    right = tuple(float(steps is not None and same_steps(each, steps)) for each in paths)
    return _beside(question, shown, root, paths, right)


def _by_answers(question: Question, shown: Sequence[StepInput], root: Thing, hits: PathHits) -> Example:
    """Each path is as right as the share of what it reaches that is an answer.

    None is where the question counts, compares or wants the first of a set: its answer does not tell of the set.
    """
    meant = hits.meant_by(root, question.texts[-1], shown[-1])
    paths = _paths(shown, root)
    example = _beside(question, shown, root, paths, hits.of(meant, [*paths], question.answers))
    form = read_form(shown[-1].question, words_in(shown[-1].question).count(root.name)).form
    return example if form == "things" else replace(example, right=(0.0,) * len(paths))


def _paths(shown: Sequence[StepInput], root: Thing) -> dict[tuple[str, ...], WordedPath]:
    return {path.steps: WordedPath(path.steps, path.concepts) for given in shown for path in known_paths(given, root)}


def _beside(
    question: Question,
    shown: Sequence[StepInput],
    root: Thing,
    paths: dict[tuple[str, ...], WordedPath],
    right: tuple[float, ...],
) -> Example:
    form = read_form(shown[-1].question, words_in(shown[-1].question).count(root.name))
    group = question.topic_entities[0] if question.topic_entities else question.id
    return Example(form.rest, root.name, root.concept, tuple(paths.values()), right, group)
