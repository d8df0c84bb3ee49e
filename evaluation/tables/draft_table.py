"""The table of checked drafts: an endpoint that spoils right answers on purpose, and how many of those get through."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from app.demo import GRAPH_FILE, POLICY_FILE
from app.llm.tasks import AnswerReply, StepReply
from app.strategies.checked_drafts import REFUSALS
from client_sdk.answers.answer import Answer
from evaluation.bench.asker import QuestionOutcome
from evaluation.bench.bench import TO_THE_MODEL, Bench, LoadedSet
from evaluation.bench.question_sets import Show
from evaluation.bench.report import RunLabel
from evaluation.datasets.draft_questions import draft_questions
from evaluation.datasets.questions import Question
from evaluation.fakes.misleading_endpoint import NO, WAYS, YES, Corruption, MisleadingEndpoint, Way
from evaluation.fakes.recording_reasoner import Step
from evaluation.tables.measures import Measure
from kg_store.catalog import PrivateGraph
from kg_store.graph.traversal import kinds_of, members_of
from kg_store.storage.vault import readable_name

MAX_LET_THROUGH: Final = 0.05
RIGHT, AGAIN = "right drafts", "asked for once more"


@dataclass(frozen=True, slots=True)
class _Asked:
    """One question and its answer. `said` is the text of its answer; `step` the draft that answered it."""

    question: Question
    names: frozenset[str]
    said: str
    is_answered: bool
    step: Step | None
    corruption: Corruption | None = None


@dataclass(slots=True)
class _Run:
    """One endpoint, asked by one strategy."""

    bench: Bench
    endpoint: MisleadingEndpoint
    loaded: LoadedSet
    strategy: str
    show: Show
    leaks: int = 0
    seen: list[_Asked] = field(default_factory=list)

    async def ask(self, title: str, drafts: Sequence[tuple[Question, Corruption | None]]) -> list[_Asked]:
        self.endpoint.corruptions = iter([corruption for _, corruption in drafts])
        self.seen = []
        label = RunLabel(set_name="drafts", strategy=self.strategy, reasoner="scripted", seed=0)
        name = f"{self.strategy}: {title}"

        def see(question: Question, outcome: QuestionOutcome, answer: Answer | None, steps: Sequence[Step]) -> None:
            given = [step for step in steps if isinstance(step.reply, StepReply | AnswerReply) and step.reply.answer]
            said = answer.text if answer else ""
            last, spoilt = given[-1] if given else None, drafts[len(self.seen)][1]
            names = frozenset(outcome.names)
            self.seen.append(_Asked(question, names, said, outcome.answered, last, spoilt))

        report, _ = await self.bench.ask(
            self.loaded, label, [each for each, _ in drafts],
            progress=lambda done: self.show(name, done, len(drafts)), see=see,
        )  # fmt: skip
        self.leaks += report.leaks.leaks
        return self.seen


async def run_draft_table(limit: int, seed: int, only: str, show: Show) -> list[Measure]:
    """`limit` spoilt drafts by each strategy whose name holds `only`."""
    measures: list[Measure] = []
    for strategy in (name for name in ("sets", "arog") if only.casefold() in name):
        endpoint = MisleadingEndpoint()
        async with Bench("scripted", scripted=endpoint, changes=TO_THE_MODEL) as bench:
            loaded = bench.load("drafts", [GRAPH_FILE], POLICY_FILE.read_text("utf-8"))
            run = _Run(bench, endpoint, loaded, strategy, show)
            measures += await _measured(run, draft_questions(_names_in(bench.graph(loaded)), seed), limit, seed)
    return measures


async def _measured(run: _Run, questions: Sequence[Question], limit: int, seed: int) -> list[Measure]:
    first = run.bench.sent_so_far
    right = await run.ask(RIGHT, [(question, None) for question in questions])
    again = sum(b"Your last reply to this can't be used" in body for body in run.bench.sent_from(first))
    drafts = _drafts_of(right, limit, seed)
    wrong = await run.ask("wrong drafts", drafts)
    gold = {each.question.id: each.names for each in right}
    refused = sum(each.said.startswith(tuple(REFUSALS.values())) for each in right)
    through = [(each, _is_wrong(each, gold[each.question.id])) for each in wrong if not _is_right(each, gold)]
    ways = [[is_wrong for each, is_wrong in through if each.corruption and each.corruption.way == way] for way in WAYS]
    titles = [f"{run.strategy}, {way}: let through" for way in WAYS]
    return [
        *(_at_most(title, found, bound=None) for title, found in zip(titles, ways, strict=True)),
        _at_most(f"{run.strategy}, all three: let through", [is_wrong for _, is_wrong in through]),
        _none(f"{run.strategy}, right drafts: refused by mistake", len(right), refused),
        _none(f"{run.strategy}, right drafts: {AGAIN}", len(right), again),
        _none(f"{run.strategy}, names that reached the endpoint", len(right) + len(wrong), run.leaks),
    ]


def _names_in(graph: PrivateGraph) -> dict[str, list[str]]:
    """The names of each kind's things that nothing else is called by, in the order of the alphabet."""
    records = {kind: graph.vault.records(members_of(graph.blind, kind)) for kind in kinds_of(graph.blind.schema)}
    names = {kind: [readable_name(record) for record in found.values()] for kind, found in records.items()}
    times = Counter(name for found in names.values() for name in found)
    return {kind: sorted(name for name in found if times[name] == 1) for kind, found in names.items()}


def _drafts_of(right: Sequence[_Asked], limit: int, seed: int) -> list[tuple[Question, Corruption | None]]:
    """Of each way as many as of the others, drawn among all drafts that can be spoilt so."""
    dice = random.Random(seed)  # noqa: S311  # a sample, no secret  # nosec B311
    chosen: list[tuple[Question, Corruption | None]] = []
    for at, way in enumerate(WAYS):
        found = [(each.question, spoilt) for each in right if each.is_answered for spoilt in _corruptions(each, way)]
        chosen += dice.sample(found, min(len(found), (limit + at) // len(WAYS)))
    return chosen


def _corruptions(asked: _Asked, way: Way) -> list[Corruption]:
    if asked.step is None or not isinstance(asked.step.reply, StepReply | AnswerReply):
        return []
    count = len(Corruption.forms(way, asked.step.reply.answer[0], asked.step.asked))
    lies = [Corruption(way, 0, said) for said in (YES, NO) if asked.names == {"no" if said is YES else "yes"}]
    return [*(Corruption(way, at) for at in range(count)), *(lies if way == "yes for no" else ())]


def _is_wrong(asked: _Asked, gold: frozenset[str]) -> bool:
    """True of an answer that is given and is not the right one, or says another thing beside it."""
    said = asked.corruption.said if asked.corruption else ""
    return asked.is_answered and (asked.names != gold or bool(said and said.rstrip(".") in asked.said))


def _is_right(asked: _Asked, gold: dict[str, frozenset[str]]) -> bool:
    """True where what was spoilt comes to the same: that is no wrong draft. A lie beside the right is one."""
    is_lie = asked.corruption is not None and bool(asked.corruption.said)
    return asked.is_answered and not is_lie and not _is_wrong(asked, gold[asked.question.id])


def _at_most(name: str, found: Sequence[bool], bound: float | None = MAX_LET_THROUGH) -> Measure:
    share = sum(found) / len(found) if found else 1.0
    return Measure(
        name=name,
        questions=len(found),
        bound="" if bound is None else f"at most {bound:.2f}",
        reached=f"{share:.3f} ({sum(found)})",
        passed=bound is None or share <= bound,
    )


def _none(name: str, questions: int, found: int) -> Measure:
    return Measure(name=name, questions=questions, bound="0", reached=str(found), passed=found == 0)
