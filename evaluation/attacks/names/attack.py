"""Names in egress: questions with names in every form, asked of the real service, and every byte sent is scanned."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from random import Random
from typing import Literal

from app.egress.guard import BlockedError
from app.llm.reasoner import ReasonerError
from app.llm.tasks import StepInput, Task
from app.privacy.errors import PrivacyError
from app.strategies.sets.prompts import STEP
from client_sdk.protocol import ChatOptions, ChatRequest, Message, StrategyName
from evaluation.attacks.names.corpus import AS_IT_IS, PlantedQuestion, ask_as_it_is, ask_in_every_form
from evaluation.attacks.names.graph import GRAPH, SCRIPTS, peoples
from evaluation.attacks.names.scripts import OTHER_SCRIPTS
from evaluation.attacks.names.values import ask_for_values
from evaluation.attacks.setup.bounds import Attempted
from evaluation.attacks.setup.targets import AML, OPENLY, TITLES, VICTIM, AttackTarget, AttackTargets
from evaluation.bench.bench import ReasonerName
from evaluation.bench.question_sets import DEMO, PQ_3H, Show
from evaluation.checks.decoded_text import words_of
from evaluation.checks.leak_scan import LeakScanner
from kg_store.catalog import PrivateGraph
from kg_store.names.name_words import (
    may_be_ordinary,
)
from kg_store.terms import NodeKind
from kg_store.text.english import is_ordinary

QUESTIONS = 2_600
MIN_TRIES = 2_000
MAX_BLOCKED = 0.03
FOUND_WITHOUT_ANONYMISER = 0.98
_MIN_WORD_LENGTH = 3
# Each strategy with a reasoner: the same questions by several roads.
_ROADS: Mapping[StrategyName, ReasonerName] = {"sets": "embedded", "arog": "scripted", "dialogue": "scripted"}


@dataclass(frozen=True, slots=True)
class NameTrial:
    """The findings in the bytes that one question sent, and in the same question as it was typed.

    `leaked`: names and words of names. `limits`: the same in small letters, where the documents promise nothing.
    `sent`: how many requests it took; none where the graph holds nothing of what it names.
    """

    asked: PlantedQuestion
    blocked: bool
    leaked: frozenset[str] = field(repr=False)
    limits: frozenset[str] = field(repr=False)
    public: frozenset[str] = field(repr=False)
    found_as_typed: bool
    strategy: StrategyName = "sets"
    sent: int = 1


@dataclass(frozen=True, slots=True)
class Judge:
    """Tells what was found in bytes. `names` are those of the graph, folded; `public` its public words."""

    scanner: LeakScanner
    names: Collection[str] = field(repr=False)
    public: Container[str] = field(repr=False)

    def tried(self, asked: PlantedQuestion, blocked: bool, sent: Sequence[bytes], as_typed: bytes) -> NameTrial:
        found = self.scanner.scan(sent)
        seen = {phrase for phrase in found.leaks if phrase in asked.planted}
        limits = {phrase for phrase in seen if asked.planted[phrase] and self._is_limit(asked, phrase)}
        public = frozenset(phrase for phrase in found.public_words if phrase in asked.planted)
        control = self.scanner.scan([as_typed])
        typed = any(phrase in asked.planted for phrase in (*control.leaks, *control.public_words))
        return NameTrial(asked, blocked, frozenset(seen - limits), frozenset(limits), public, typed)

    def _is_limit(self, asked: PlantedQuestion, phrase: str) -> bool:
        """A form that is not listed; or everyday words and slips of them, but for whole names."""
        if not asked.form.listed:
            return True
        return phrase not in self.names and all(map(self._is_everyday, phrase.split(" ")))

    def _is_everyday(self, word: str) -> bool:
        return len(word) < _MIN_WORD_LENGTH or word in self.public or is_ordinary(word) or may_be_ordinary(word)


async def names_in_egress(targets: AttackTargets) -> list[Attempted]:
    """All forms over the demo, a made-up graph of many scripts and, with data, PathQuestion and `aml.ttl`."""
    sources = [*targets.among(DEMO, PQ_3H, AML), GRAPH]
    count = targets.at_most(QUESTIONS) // len(sources)
    tried: list[NameTrial] = []
    for strategy, reasoner in _ROADS.items():
        for source in sources:
            target = await _opened(targets, source, reasoner, OPENLY if strategy == "dialogue" else {})
            title = f"names, {TITLES.get(source, source)}, {strategy}"
            tried += await try_all(
                target, strategy, _corpus(target, count), partial(_tell, targets.show, title, count)
            )
    return lines(tried, targets.at_most(MIN_TRIES))


def _tell(show: Show, title: str, count: int, done: int) -> None:
    show(title, done, count)


async def _opened(
    targets: AttackTargets, source: str, reasoner: ReasonerName, changes: Mapping[str, object]
) -> AttackTarget:
    if source != GRAPH:
        return await targets.open(source, reasoner, changes)
    beside = await targets.open(DEMO, reasoner, changes)
    with tempfile.TemporaryDirectory(prefix="arog-peoples-") as folder:
        file = Path(folder) / "peoples.ttl"
        file.write_text(peoples(), encoding="utf-8")
        return AttackTarget(beside.bench, beside.bench.load(GRAPH, [file], None), [], beside.victim, beside.endpoint)


def _corpus(target: AttackTarget, count: int) -> list[PlantedQuestion]:
    dice = Random(0)  # noqa: S311  # a sample, no secret  # nosec B311
    graph = target.bench.graph(target.loaded)
    as_it_is = ask_as_it_is(target.questions, dice, count // 10)
    values = ask_for_values(target.loaded.secrets, dice, count // 10)
    foreign = [name for names in SCRIPTS.values() for name in names] if target.loaded.graph == GRAPH else []
    scripts = ask_in_every_form(foreign, dice, count // 3, OTHER_SCRIPTS) if foreign else []
    rest = count - len(as_it_is) - len(values) - len(scripts)
    return [*as_it_is, *values, *scripts, *ask_in_every_form(_names_of(graph, dice), dice, rest)]


def _names_of(graph: PrivateGraph, dice: Random) -> list[str]:
    """Without figures, as transactions and streets have them; those in small letters also as people write names."""
    entities = [each.id for each in graph.blind.schema.signatures if each.kind is NodeKind.ENTITY]
    records = graph.vault.records(graph.blind.members(entities).tolist()).values()
    names = {name.replace("_", " ") for record in records for name in record.names if len(name) >= _MIN_WORD_LENGTH}
    found = sorted(name for name in names if not any(map(str.isdigit, name)))
    return [name.title() if name == name.lower() and dice.random() < 0.5 else name for name in found]


async def try_all(
    target: AttackTarget, strategy: StrategyName, questions: Sequence[PlantedQuestion], progress: Callable[[int], None]
) -> list[NameTrial]:
    """Asks one after the other, each in a conversation of its own."""
    judge = judge_of(target, questions)
    found = []
    for done, asked in enumerate(questions):
        first = target.bench.sent_so_far
        blocked = await _is_blocked(target, strategy, asked)
        sent = target.bench.sent_so_far - first
        tried = judge.tried(asked, blocked, target.bench.sent_from(first), _as_typed(target, asked))
        found.append(replace(tried, strategy=strategy, sent=sent))
        progress(done)
    return found


def judge_of(target: AttackTarget, questions: Sequence[PlantedQuestion]) -> Judge:
    planted = {phrase for asked in questions for phrase in asked.planted}
    names = {" ".join(word.folded for word in words_of(name)) for name in target.loaded.secrets}
    several = frozenset(name for name in names if " " in name)
    return Judge(target.bench.scanner(target.loaded, planted), several, target.bench.graph(target.loaded).public)


async def _is_blocked(target: AttackTarget, strategy: StrategyName, asked: PlantedQuestion) -> bool:
    if target.endpoint is not None:
        target.endpoint.expect(asked.plan, asked.turns[-1])
    request = ChatRequest(
        graph=target.loaded.graph,
        messages=[Message(role=role, content=text) for role, text in _dialogue(asked.turns)],
        strategy=strategy,
        options=ChatOptions(suggestions=0),
        public_key=target.victim.public_text,
    )
    try:
        await target.bench.services.chat.answer(VICTIM, request)
    except BlockedError:
        return True
    except (ReasonerError, PrivacyError):
        return False
    return False


def _dialogue(turns: Sequence[str]) -> Iterator[tuple[Literal["user", "assistant"], str]]:
    for text in turns[:-1]:
        yield from (("user", text), ("assistant", "All right."))
    yield "user", turns[-1]


def _as_typed(target: AttackTarget, asked: PlantedQuestion) -> bytes:
    """The first request of `sets` as it would be without the anonymiser."""
    dialogue = [{"role": role, "text": text} for role, text in _dialogue(asked.turns)][:-1]
    step = StepInput.model_validate(
        {"question": asked.turns[-1], "dialogue": dialogue, "things": [], "evidence": [], "candidates": []}
    )
    return target.bench.services.thinking.reasoner.egress_of(Task(STEP, step)).body


def lines(tried: Sequence[NameTrial], least: int) -> list[Attempted]:
    """A line for each group of forms, then what holds for all of them."""
    by_group = sorted(tried, key=lambda each: each.asked.form.group)
    found = [
        _line(f"names in egress, {group}", list(each))
        for group, each in groupby(by_group, lambda each: each.asked.form.group)
    ]
    every = _line("names in egress, all", tried).model_copy(update={"least": least})
    by_strategy = [_of_strategy(tried, strategy) for strategy in dict.fromkeys(each.strategy for each in tried)]
    named = [each for each in tried if each.asked.form.group != AS_IT_IS]
    return [
        *found,
        *by_strategy,
        every,
        Attempted(
            name="names in egress, questions blocked",
            tries=len(tried),
            successes=_count(tried, "blocked"),
            most=MAX_BLOCKED,
        ),
        Attempted(
            name="names in egress, everyday words and unlisted forms in small letters (not promised)",
            tries=len(tried),
            successes=_count(tried, "limits"),
            most=1.0,
        ),
        Attempted(name="names in egress, public words", tries=len(tried), successes=_count(tried, "public"), most=1.0),
        Attempted(
            name="names found in the same questions as they were typed",
            tries=len(named),
            successes=_count(named, "found_as_typed"),
            control=FOUND_WITHOUT_ANONYMISER,
        ),
    ]


def _line(name: str, tried: Sequence[NameTrial]) -> Attempted:
    blocked, limits, public = (_count(tried, what) for what in ("blocked", "limits", "public"))
    note = f"{blocked} blocked, {limits} not promised, {public} public words"
    return Attempted(name=name, tries=len(tried), successes=_count(tried, "leaked"), note=note)


def _of_strategy(tried: Sequence[NameTrial], strategy: StrategyName) -> Attempted:
    """The questions of one road that sent something."""
    own = [each for each in tried if each.strategy == strategy]
    line = _line(f"names in egress, sent by {strategy}", [each for each in own if each.sent])
    return line.model_copy(update={"note": f"of {len(own)} questions"})


def _count(
    tried: Sequence[NameTrial], what: Literal["blocked", "leaked", "limits", "public", "found_as_typed"]
) -> int:
    return sum(bool(getattr(each, what)) for each in tried)
