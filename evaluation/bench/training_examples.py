"""Training examples: questions with gold plans or answers, asked of the real service, with all paths shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.language.readings import WordedPath
from app.llm.tasks import StepInput, Thing
from app.reader.language.answer_form import read_form
from app.reader.language.question_words import words_in
from app.reader.scoring.candidate_paths import known_paths, roots_of
from evaluation.bench.bench import Bench, LoadedSet, Step
from evaluation.bench.report import RunLabel
from evaluation.checks.metrics import comparable
from evaluation.datasets.gold_plan import folded_path, plan_paths, surfaces_of
from evaluation.datasets.questions import Question
from evaluation.training.reasoner import Example
from kg_store.catalog import PrivateGraph
from kg_store.graph.traversal import reached
from kg_store.terms import Hop, Mids, as_mids
from kg_store.terms import Step as GraphStep

# Larger sets are skipped: a random member is hardly ever the answer, and reading all names takes long.
_MAX_ENDS = 1_000
_NOTHING = as_mids([])


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
    """Returns one example per single-turn question for which a shown path is the gold one or reaches an answer.

    Questions with a plan are judged by their plan, others by their answers.
    """
    found: dict[str, Example] = {}
    hits = _PathHits(bench.graph(loaded))

    def see(question: Question, _outcome: object, _answer: object, steps: Sequence[Step]) -> None:
        shown = [step.asked for step in steps if isinstance(step.asked, StepInput)]
        example = _example(question, shown, hits) if shown and len(question.texts) == 1 else None
        if example is not None:
            found[question.id] = example

    label = RunLabel(set_name="training", strategy="sets", reasoner="embedded", seed=0)
    await bench.ask(loaded, label, questions, progress=progress, see=see)
    return Gathered([*found.values()], len(questions) - len(found))


def _example(question: Question, shown: Sequence[StepInput], hits: _PathHits) -> Example | None:
    """Returns the example of a question, or None if no shown path is right.

    With a plan, only a single path from a single topic counts as right. Without one, a path is as right as the share
    of its ends that are answers.
    """
    last, found = shown[-1], list[Example]()
    entities, _, _ = roots_of(last)
    group = question.topic_entities[0] if question.topic_entities else question.id
    for root in entities if len(entities) == 1 or not question.has_plan else ():
        paths = {
            path.steps: WordedPath(path.steps, path.concepts) for given in shown for path in known_paths(given, root)
        }
        form = read_form(last.question, words_in(last.question).count(root.name))
        if question.has_plan:
            gold = plan_paths(question.plan) if question.plan else []
            steps = gold[0][1] if len(gold) == 1 and gold[0][0].startswith("topic:") else None
            right = tuple(float(steps is not None and folded_path(each) == folded_path(steps)) for each in paths)
        elif form.form == "things":
            right = hits.of(hits.meant_by(root, question.texts[-1], last), [*paths], question.answers)
        else:
            # The answer to a question that counts, compares or ranks does not show which set is meant.
            continue
        found.append(Example(form.rest, root.name, root.concept, tuple(paths.values()), right, group))
    # If a question names several things, its topic is the one whose paths reach an answer.
    return max((each for each in found if any(each.right)), key=lambda each: max(each.right), default=None)


class _PathHits:
    """Walks the paths that a reasoner was shown and compares the names at their ends with the gold answers.

    For evaluation and training on the owner's own answers only: names stay inside, and shares come out.
    """

    def __init__(self, graph: PrivateGraph) -> None:
        self._graph = graph
        schema = graph.blind.schema
        hops = [Hop(relation.id, inverse) for relation in schema.relations for inverse in (False, True)]
        self._hops = {schema.label(hop): hop for hop in reversed(hops)}
        self._names: dict[int, frozenset[str]] = {}

    def of(self, mids: Mids, paths: Sequence[tuple[str, ...]], answers: Sequence[str]) -> tuple[float, ...]:
        """Returns for each path the chance, 0 to 1, that a random member of its set is a gold answer."""
        gold = {comparable(answer) for answer in answers}
        walked: dict[tuple[str, ...], Mids] = {(): mids}
        return tuple(self._share(self._ends(path, walked), gold) for path in paths)

    def meant_by(self, root: Thing, typed: str, given: StepInput) -> Mids:
        """Returns the things that the pseudonym `root` stands for, by linking the words of `typed` that it replaced.

        The result is empty if these words can't be found.
        """
        surface = surfaces_of(typed, given.question, [thing.name for thing in given.things]).get(root.name, "")
        linker = self._graph.linker
        mentions = linker.find_mentions(typed) or linker.find_unmarked(typed, self._graph.public)
        found = [mention.mids for mention in mentions if typed[mention.start : mention.end] == surface]
        if not found and len(mentions) == 1:
            found = [mentions[0].mids]
        return as_mids([mid for mids in found for mid in mids])

    def _ends(self, path: tuple[str, ...], walked: dict[tuple[str, ...], Mids]) -> Mids:
        if path not in walked:
            before, step = self._ends(path[:-1], walked), self._step(path[-1])
            # Sets above the limit are not walked on from.
            goes_on = step is not None and 0 < len(before) <= _MAX_ENDS
            walked[path] = reached(self._graph.blind, before, (step,)) if step and goes_on else _NOTHING
        return walked[path]

    def _step(self, label: str) -> GraphStep | None:
        hops = [self._hops.get(part) for part in label.split("|")]
        known = tuple(hop for hop in hops if hop is not None)
        return known if len(known) == len(hops) else None

    def _share(self, ends: Mids, gold: set[str]) -> float:
        if not 0 < len(ends) <= _MAX_ENDS:
            return 0.0
        mids = ends.tolist()
        for mid, record in self._graph.vault.records([mid for mid in mids if mid not in self._names]).items():
            self._names[mid] = frozenset(
                comparable(name) for name in (*record.names, record.lexical) if name is not None
            )
        return sum(not gold.isdisjoint(self._names.get(mid, ())) for mid in mids) / len(mids)
