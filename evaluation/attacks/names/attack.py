"""Names in egress: questions with names in every form, asked of the real service, and every byte sent is scanned."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from client_sdk.protocol import StrategyName
from evaluation.attacks.names.forms import GRAPH, OTHER_SCRIPTS, SCRIPTS, peoples
from evaluation.attacks.names.questions import (
    AS_IT_IS,
    PlantedQuestion,
    ask_as_it_is,
    ask_for_values,
    ask_in_every_form,
)
from evaluation.attacks.setup.bounds import Attempted
from evaluation.attacks.setup.exchanges import Turn, as_typed, sent_by
from evaluation.attacks.setup.targets import AML, OPENLY, TITLES, AttackTarget, AttackTargets, dice_of, load_text
from evaluation.bench.bench import ReasonerName
from evaluation.bench.question_sets import DEMO, PQ_3H
from evaluation.checks.decoded_text import words_of
from evaluation.checks.leak_scan import LeakScanner
from kg_store.catalog import PrivateGraph
from kg_store.names.name_table import may_be_ordinary
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
    `sent`: false where the graph holds nothing of what it names.
    """

    asked: PlantedQuestion
    blocked: bool
    leaked: frozenset[str] = field(repr=False)
    limits: frozenset[str] = field(repr=False)
    public: frozenset[str] = field(repr=False)
    found_as_typed: bool
    strategy: StrategyName = "sets"
    sent: bool = True


@dataclass(frozen=True, slots=True)
class Judge:
    """Tells what was found in bytes. `names` are those of the graph, folded; `public` its public words."""

    scanner: LeakScanner
    names: Collection[str] = field(repr=False)
    public: Container[str] = field(repr=False)

    def tried(self, asked: PlantedQuestion, blocked: bool, sent: Sequence[bytes], typed: bytes) -> NameTrial:
        found, control = self.scanner.scan(sent), self.scanner.scan([typed])
        seen = {phrase for phrase in found.leaks if phrase in asked.planted}
        limits = {phrase for phrase in seen if asked.planted[phrase] and self._is_limit(asked, phrase)}
        public = frozenset(phrase for phrase in found.public_words if phrase in asked.planted)
        as_typed = any(phrase in asked.planted for phrase in (*control.leaks, *control.public_words))
        return NameTrial(asked, blocked, frozenset(seen - limits), frozenset(limits), public, as_typed)

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
            opened = DEMO if source == GRAPH else source
            target = await targets.open(opened, reasoner, OPENLY if strategy == "dialogue" else {})
            if source == GRAPH:
                target = replace(target, loaded=load_text(target.bench, f"{GRAPH}.ttl", peoples()), questions=[])
            progress = targets.counter(f"names, {TITLES.get(source, source)}, {strategy}", count)
            tried += await _try_all(target, strategy, _corpus(target, count), progress)
    return lines(tried, targets.at_most(MIN_TRIES))


def _corpus(target: AttackTarget, count: int) -> list[PlantedQuestion]:
    dice, graph = dice_of(0), target.bench.graph(target.loaded)
    made = ask_as_it_is(target.questions, dice, count // 10)
    made += ask_for_values(target.loaded.secrets, dice, count // 10)
    if target.loaded.graph == GRAPH:
        foreign = [name for names in SCRIPTS.values() for name in names]
        made += ask_in_every_form(foreign, dice, count // 3, OTHER_SCRIPTS)
    return [*made, *ask_in_every_form(_names_of(graph, dice), dice, count - len(made))]


def _names_of(graph: PrivateGraph, dice: Random) -> list[str]:
    """Without figures, as transactions and streets have them; those in small letters also as people write names."""
    entities = [each.id for each in graph.blind.schema.signatures if each.kind is NodeKind.ENTITY]
    records = graph.vault.records(graph.blind.members(entities).tolist()).values()
    names = {name.replace("_", " ") for record in records for name in record.names if len(name) >= _MIN_WORD_LENGTH}
    found = sorted(name for name in names if not any(map(str.isdigit, name)))
    return [name.title() if name == name.lower() and dice.random() < 0.5 else name for name in found]


async def _try_all(
    target: AttackTarget, strategy: StrategyName, questions: Sequence[PlantedQuestion], progress: Callable[[int], None]
) -> list[NameTrial]:
    """Asks one after the other, each in a conversation of its own."""
    planted = {phrase for asked in questions for phrase in asked.planted}
    names = {" ".join(word.folded for word in words_of(name)) for name in target.loaded.secrets}
    several = frozenset(name for name in names if " " in name)
    judge = Judge(target.bench.scanner(target.loaded, planted), several, target.bench.graph(target.loaded).public)
    found = []
    for done, asked in enumerate(questions):
        if target.endpoint is not None:
            target.endpoint.expect(asked.plan, asked.turns[-1])
        turns: list[Turn] = []
        for text in asked.turns:
            turns += [("user", text), ("assistant", "All right.")]
        turns.pop()
        sent, blocked = await sent_by(target.bench, target.loaded.graph, turns, strategy, target.victim)
        tried = judge.tried(asked, blocked, sent, as_typed(target.bench, turns))
        found.append(replace(tried, strategy=strategy, sent=bool(sent)))
        progress(done)
    return found


def lines(tried: Sequence[NameTrial], least: int) -> list[Attempted]:
    """A line for each group of forms and each strategy, then what holds for all of them."""
    groups = sorted({each.asked.form.group for each in tried})
    blocked = (each.blocked for each in tried)
    limits = (bool(each.limits) for each in tried)
    public = (bool(each.public) for each in tried)
    as_typed = (each.found_as_typed for each in tried if each.asked.form.group != AS_IT_IS)
    not_promised = "names in egress, everyday words and unlisted forms in small letters (not promised)"
    return [
        *(_line(group, [each for each in tried if each.asked.form.group == group]) for group in groups),
        *(_of_strategy(tried, strategy) for strategy in dict.fromkeys(each.strategy for each in tried)),
        _line("all", tried).model_copy(update={"least": least}),
        Attempted.of("names in egress, questions blocked", blocked, most=MAX_BLOCKED),
        Attempted.of(not_promised, limits, most=1.0),
        Attempted.of("names in egress, public words", public, most=1.0),
        Attempted.of(
            "names found in the same questions as they were typed", as_typed, control=FOUND_WITHOUT_ANONYMISER
        ),
    ]


def _line(name: str, tried: Sequence[NameTrial]) -> Attempted:
    blocked = sum(each.blocked for each in tried)
    limits, public = sum(bool(each.limits) for each in tried), sum(bool(each.public) for each in tried)
    note = f"{blocked} blocked, {limits} not promised, {public} public words"
    return Attempted.of(f"names in egress, {name}", (bool(each.leaked) for each in tried), note=note)


def _of_strategy(tried: Sequence[NameTrial], strategy: StrategyName) -> Attempted:
    """The questions of one road that sent something."""
    own = [each for each in tried if each.strategy == strategy]
    line = _line(f"sent by {strategy}", [each for each in own if each.sent])
    return line.model_copy(update={"note": f"of {len(own)} questions"})
