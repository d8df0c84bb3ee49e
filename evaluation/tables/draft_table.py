"""The table of checked drafts: an endpoint spoils right answers on purpose, and the service must not give them.

Questions of every form are asked over the demo graph; the lines say how many spoilt drafts got through.
"""

from __future__ import annotations

import random
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict

from app.llm.endpoint.request_body import read_step
from app.llm.tasks import AnswerInput, AnswerReply, StepInput, StepReply, TaskModel, TaskName
from app.strategies.drafts import REFUSALS
from client_sdk.answers.answer import Answer
from evaluation.bench.bench import TO_THE_MODEL, Step
from evaluation.bench.question_sets import DEMO, Show
from evaluation.bench.report import QuestionOutcome
from evaluation.datasets.questions import PlanSet, QueryPlan, Question
from evaluation.fakes.scripted_endpoint import ScriptedEndpoint
from evaluation.tables.measures import Asker, Measure, asking, none
from kg_store.algebra.expressions import Call, Expression, Name, parse, written
from kg_store.catalog import PrivateGraph
from kg_store.graph.kinds import kinds_of
from kg_store.graph.traversal import members_of
from kg_store.storage.vault import readable_name

Way = Literal["wrong type", "yes for no", "negation dropped"]
WAYS: Final[tuple[Way, ...]] = ("wrong type", "yes for no", "negation dropped")
YES: Final = "Yes, that is so."
NO: Final = "No, that is not so."


@dataclass(frozen=True, slots=True)
class Corruption:
    """One way to spoil an answer.

    A way may spoil an answer into several expressions; `at` picks one of them. With `said` the expression stays right,
    and this false text is sent beside it.
    """

    way: Way
    at: int
    said: str = ""

    def of(self, answer: str, asked: TaskModel) -> str | None:
        """Returns the spoilt expression; None if the way has no such form for this answer."""
        if self.said:
            return answer
        found = self.forms(self.way, answer, asked)
        return found[self.at] if self.at < len(found) else None

    @staticmethod
    def forms(way: Way, answer: str, asked: TaskModel) -> list[str]:
        """Returns all expressions that `answer` can be spoilt to in one way."""
        return list(dict.fromkeys(_FORMS[way](parse(answer), asked)))


class MisleadingEndpoint(ScriptedEndpoint):
    """An endpoint that spoils the answer to each question by the next of `corruptions`; None leaves it right."""

    corruptions: Iterator[Corruption | None] = iter(())

    _corruption: Corruption | None = None

    def expect(self, plan: QueryPlan | None, typed: str = "") -> None:
        super().expect(plan, typed)
        self._corruption = next(self.corruptions, None)

    def reply_to(self, task: TaskName, block: str) -> TaskModel:
        reply = super().reply_to(task, block)
        if self._corruption is None or not isinstance(reply, StepReply | AnswerReply) or not reply.answer:
            return reply
        shown = read_step(block) if task == "step" else AnswerInput.model_validate_json(block)
        spoilt = self._corruption.of(reply.answer[0], shown)
        return reply if spoilt is None else reply.model_copy(update={"answer": [spoilt]})


def _wrong_types(right: Expression, asked: TaskModel) -> Iterator[str]:
    """Yields answers of a wrong type: things for a number or a yes, a number for things, things of another kind."""
    if isinstance(right, Call) and right.function in ("count", "exists", "holds", "none", "average"):
        yield written(right.operands[0])
    else:
        yield f"count({written(right)})"
    inner = right.operands[0] if isinstance(right, Call) and right.function == "count" else right
    for other in _of_other_kinds(inner, asked):
        yield f"count({other})" if inner is not right else other
    if isinstance(inner, Call) and inner.function == "intersect":
        kept = written(inner.operands[0])
        yield f"count({kept})" if inner is not right else kept


def _of_other_kinds(right: Expression, asked: TaskModel) -> list[str]:
    """Returns things, sets and candidates of the prompt that are of other kinds than the right answer."""
    if not isinstance(asked, StepInput | AnswerInput) or _gives_truth(right):
        return []
    ends = {fact.end: fact.end_concept for fact in asked.evidence} | {each.name: each.concept for each in asked.things}
    own = set(ends.get(_first_name(right), "").split(", "))
    others = [end for end, concept in ends.items() if own.isdisjoint(concept.split(", ")) and end[0] != "V"]
    candidates = asked.candidates if isinstance(asked, StepInput) else []
    ways = [way for way in candidates if own.isdisjoint(way.concept.split(", "))]
    return [*others[:1], *(f"way({way.number})" for way in ways[:2])]


def _gives_truth(right: Expression) -> bool:
    return isinstance(right, Call) and right.function in ("exists", "holds", "none", "average")


def _yeses(right: Expression, _asked: TaskModel) -> Iterator[str]:
    """Yields wrong yes-or-no expressions: one with its last condition dropped, and one with the opposite meaning."""
    if not _gives_truth(right) or not isinstance(right, Call) or right.function == "average":
        return
    inner = right.operands[0]
    if right.function == "holds":
        yield f"exists({written(inner)})"
        return
    if isinstance(inner, Call):
        yield f"exists({written(inner.operands[0])})"
    turned = "exists" if right.function == "none" else "none"
    yield f"{turned}({written(inner)})"


def _undenied(right: Expression, _asked: TaskModel) -> Iterator[str]:
    """The answer with its set difference replaced by the first set, the subtracted set or their intersection."""
    choices: tuple[Callable[[Call], Expression], ...] = (
        lambda call: call.operands[0],
        lambda call: call.operands[1],
        lambda call: replace(call, function="intersect"),
    )
    for choose in choices:
        changed = _without_difference(right, choose)
        if changed != right:
            yield written(changed)


def _without_difference(expression: Expression, choose: Callable[[Call], Expression]) -> Expression:
    if not isinstance(expression, Call):
        return expression
    if expression.function == "difference":
        return choose(expression)
    return replace(expression, operands=tuple(_without_difference(each, choose) for each in expression.operands))


_FORMS: Final[dict[Way, Callable[[Expression, TaskModel], Iterator[str]]]] = {
    "wrong type": _wrong_types,
    "yes for no": _yeses,
    "negation dropped": _undenied,
}


def _first_name(expression: Expression) -> str:
    return expression.pseudonym if isinstance(expression, Name) else _first_name(expression.operands[0])


NAMES_EACH: Final = 2
"""The number of questions made from each template with a slot."""

_SLOT: Final = re.compile(r"\{(\w+)\}")


class _Template(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
    text: str
    sets: dict[str, list[str]]
    answer: str


def draft_questions(names: Mapping[str, list[str]], seed: int) -> list[Question]:
    """Makes questions with plans, but without gold answers, from the templates of `draft_questions.toml`.

    `names` maps concepts to the names of their things, which fill the slots.
    """
    dice = random.Random(seed)  # noqa: S311  # a sample, no secret  # nosec B311
    text = Path(__file__).with_name("draft_questions.toml").read_text("utf-8")
    templates = [_Template.model_validate(each) for each in tomllib.loads(text)["question"]]
    found: dict[str, Question] = {}
    for template in templates:
        sets = {letter: PlanSet(start=start, path=tuple(path)) for letter, (start, *path) in template.sets.items()}
        plan = QueryPlan(sets=sets, answer=(template.answer,), text="The answer is {1}.")
        for _ in range(NAMES_EACH):
            asked = _SLOT.sub(lambda slot: dice.choice(names[slot[1]]), template.text)
            found[asked] = Question(id=asked, question=asked, answers=(), plan=plan)
    return list(found.values())


MAX_LET_THROUGH: Final = 0.05
_Draft = tuple[Question, Corruption | None]


@dataclass(frozen=True, slots=True)
class AskedDraft:
    """One question as the service answered it: the answer's `names` and text (`said`), and the reasoner's `step`."""

    question: Question
    names: frozenset[str]
    said: str
    is_answered: bool
    step: Step | None
    corruption: Corruption | None = None

    def is_wrong(self, gold: frozenset[str]) -> bool:
        """Returns True if an answer is given that is not the gold one, or that tells the false text beside it."""
        said = self.corruption.said if self.corruption else ""
        return self.is_answered and (self.names != gold or bool(said and said.rstrip(".") in self.said))

    def is_right(self, gold: frozenset[str]) -> bool:
        """Returns True if the spoilt draft still gives the gold answer, which is no fault; a false text always is."""
        is_lie = self.corruption is not None and bool(self.corruption.said)
        return self.is_answered and not is_lie and not self.is_wrong(gold)

    def corruptions(self, way: Way) -> list[Corruption]:
        if not self.is_answered or self.step is None or not isinstance(self.step.reply, StepReply | AnswerReply):
            return []
        forms = Corruption.forms(way, self.step.reply.answer[0], self.step.asked)
        lies = [Corruption(way, 0, said) for said in (YES, NO) if self.names == {"no" if said is YES else "yes"}]
        return [*(Corruption(way, at) for at in range(len(forms))), *(lies if way == "yes for no" else ())]


async def run_draft_table(_data: Path, limit: int, seed: int, only: str, show: Show) -> list[Measure]:
    """Measures `limit` spoilt drafts for each strategy whose name holds `only`."""
    measures: list[Measure] = []
    for strategy in (name for name in ("sets", "arog") if only.casefold() in name):
        measures += await _of_strategy(strategy, limit, seed, show)
    return measures


async def _of_strategy(strategy: str, limit: int, seed: int, show: Show) -> list[Measure]:
    endpoint = MisleadingEndpoint()
    async with asking(Path(), limit, seed, show, "scripted", endpoint, TO_THE_MODEL) as asker:
        bench, (loaded, _) = asker.sets.bench, asker.sets.of(DEMO)
        questions = draft_questions(_names_in(bench.graph(loaded)), seed)
        first = bench.sent_so_far
        right = await _ask(
            asker, endpoint, f"{strategy}: right drafts", strategy, [(each, None) for each in questions]
        )
        again = sum(b"Your last reply to this can't be used" in body for body in bench.sent_from(first))
        drafts = _drafts_of(right, limit, seed)
        wrong = await _ask(asker, endpoint, f"{strategy}: wrong drafts", strategy, drafts)
    refused = sum(each.said.startswith(tuple(REFUSALS.values())) for each in right)
    return [
        *_let_through(strategy, wrong, {each.question.id: each.names for each in right}),
        none(f"{strategy}, right drafts: refused by mistake", len(right), refused),
        none(f"{strategy}, right drafts: asked for once more", len(right), again),
        none(f"{strategy}, names that reached the endpoint", len(right) + len(wrong), asker.total.leaks),
    ]


async def _ask(
    asker: Asker, endpoint: MisleadingEndpoint, title: str, strategy: str, drafts: Sequence[_Draft]
) -> list[AskedDraft]:
    endpoint.corruptions = iter([spoilt for _, spoilt in drafts])
    seen: list[AskedDraft] = []

    def see(question: Question, outcome: QuestionOutcome, answer: Answer | None, steps: Sequence[Step]) -> None:
        given = [step for step in steps if isinstance(step.reply, StepReply | AnswerReply) and step.reply.answer]
        said, last = answer.text if answer else "", given[-1] if given else None
        names, spoilt = frozenset(outcome.names), drafts[len(seen)][1]
        seen.append(AskedDraft(question, names, said, outcome.answered, last, spoilt))

    await asker.ask(title, asker.sets.of(DEMO)[0], [question for question, _ in drafts], see, strategy)
    return seen


def _let_through(strategy: str, wrong: Sequence[AskedDraft], gold: Mapping[str, frozenset[str]]) -> list[Measure]:
    """Returns a line for each way to spoil an answer, and one for all, on how many spoilt drafts became wrong answers.

    Spoilt drafts that still give the right answer are not counted.
    """
    judged = [
        (each.corruption.way if each.corruption else "", each.is_wrong(gold[each.question.id]))
        for each in wrong
        if not each.is_right(gold[each.question.id])
    ]
    ways = [
        let_through(f"{strategy}, {way}", [is_wrong for of, is_wrong in judged if of == way], bound=None)
        for way in WAYS
    ]
    return [*ways, let_through(f"{strategy}, all three", [is_wrong for _, is_wrong in judged])]


def let_through(name: str, found: Sequence[bool], bound: float | None = MAX_LET_THROUGH) -> Measure:
    """Returns the line for the share of wrong drafts that were given as answers."""
    share = sum(found) / len(found) if found else 1.0
    return Measure(
        name=f"{name}: let through",
        questions=len(found),
        bound="" if bound is None else f"at most {bound:.2f}",
        reached=f"{share:.3f} ({sum(found)})",
        passed=bound is None or share <= bound,
    )


def _names_in(graph: PrivateGraph) -> dict[str, list[str]]:
    """Returns the names of each kind's things in alphabetical order, without names that several things share."""
    records = {kind: graph.vault.records(members_of(graph.blind, kind)) for kind in kinds_of(graph.blind.schema)}
    names = {kind: [readable_name(record) for record in found.values()] for kind, found in records.items()}
    times = Counter(name for found in names.values() for name in found)
    return {kind: sorted(name for name in found if times[name] == 1) for kind, found in names.items()}


def _drafts_of(right: Sequence[AskedDraft], limit: int, seed: int) -> list[_Draft]:
    """Draws equally many drafts for each way, among all drafts that can be spoilt so."""
    dice = random.Random(seed)  # noqa: S311  # a sample, no secret  # nosec B311
    chosen: list[_Draft] = []
    for at, way in enumerate(WAYS):
        found = [(each.question, spoilt) for each in right for spoilt in each.corruptions(way)]
        chosen += dice.sample(found, min(len(found), (limit + at) // len(WAYS)))
    return chosen
