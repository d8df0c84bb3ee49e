"""Structure: guess who a pseudonym is, from the shape of the graph around it or by asking the service the same again.

The attacker has the bytes of every request and a copy of the true graph with a share of its triples. It knows how
prompts are written, and no name of a conversation. A guess is drawn from the nodes that fit best: one among n equally
good ones counts 1/n.

Control: requests that show a whole neighbourhood of two hops, as those of ARoG's code do. They are made from the true
graph and matched like the recorded ones. If entities are not found from these, a failure elsewhere proves nothing.

Replay: the attacker runs the service over its own copy of the whole graph and asks the same question about other
entities. Only entities that cause the very same requests remain possible, so that everything that requests depend on
is used (how many candidates there are, their order, when the next page of them is shown). This takes a copy of the
graph, the code, its settings, and the wording of the question, which is sent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from app.llm.tasks import AnswerInput, Candidate, ChooseInput, Evidence, TaskModel, TaskName, Thing
from app.strategies.retrieval import bucket
from client_sdk.protocol import StrategyName
from evaluation.attacks.exchanges import (
    Exchange,
    Prompt,
    askable,
    conversations,
    exchange,
    exchange_all,
    made_questions,
    prompts_of,
)
from evaluation.attacks.matching import NEVER, PIECES, KnownGraph, Matcher, Piece, Trail, revealed_by, share_right
from evaluation.attacks.targets import AML, OPENLY, TITLES, AttackTarget, AttackTargets, Attempted, dice_of
from evaluation.bench.bench import sample
from evaluation.bench.question_sets import DEMO, METAQA, PQ_3H
from evaluation.datasets.questions import Question
from kg_store.terms import NO_MIDS

SHARES = (1.0, 0.7, 0.3)
CONVERSATIONS, COMPARED, NEIGHBOURHOODS = 200, 50, 500
PER_PROMPT, PER_CONVERSATION, REFUSED = 0.05, 0.10, 0.03
# Two hops identified 32 to 94 % when the design was made. No bound for `aml`: its accounts are random and all alike.
CONTROL = {DEMO: 0.32, PQ_3H: 0.32, METAQA[3]: 0.32, AML: None}
# Choices of prompt parts to trust; some parts mislead: candidates may be those of a kind, concepts may be widened.
READINGS: tuple[tuple[Piece, ...], ...] = (
    PIECES,
    ("concepts", "evidence", "sizes", "ends"),
    ("candidates", "evidence", "sizes", "ends"),
    ("evidence", "sizes", "ends"),
    ("concepts", "evidence", "ends"),
    ("concepts", "evidence"),
)
LARGE = 20
TOPIC = "Etopic"
_SEED = 11
QUESTIONS, REPLAYED = 100, 20
MAX_SHARE = 0.10  # for conversations of one question
_REPLAY_SEED = 31
# Parts of prompts that are true of the thing itself, however the service chooses its candidates.
_SURE: tuple[Piece, ...] = ("concepts", "evidence", "sizes", "ends")
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]*")


@dataclass(slots=True)
class Guesses:
    """For each guess the chance that it is right (`right`), and that of who knows only the concept (`blind`)."""

    right: list[float] = field(default_factory=list)
    blind: list[float] = field(default_factory=list)

    def add(self, right: float, known: KnownGraph, concept: str) -> None:
        self.right.append(right)
        self.blind.append(1.0 / max(1, int(known.of_concept(concept).sum())))

    def of_large_kinds(self) -> Guesses:
        """Keeps guesses at kinds of at least `LARGE` members; in smaller ones a blind guess is often right."""
        kept = [pair for pair in zip(self.right, self.blind, strict=True) if pair[1] <= 1 / LARGE]
        return Guesses([right for right, _ in kept], [blind for _, blind in kept])

    def line(self, name: str, most: float = 1.0, control: float | None = None) -> Attempted:
        blind = sum(self.blind) / max(1, len(self.blind))
        least = 20 if most < 1 or control is not None else 0
        return Attempted.of(name, self.right, blind=blind, most=most, control=control, least=least)


async def structure(targets: AttackTargets) -> list[Attempted]:
    lines = []
    for source in targets.among(*CONTROL):
        target = await targets.open(source, "scripted")
        lines += await _on(targets, target, TITLES[source], CONTROL[source])
        if source == PQ_3H:
            lines += await _compared(targets, target, TITLES[source], "arog")
        if source in (DEMO, PQ_3H):
            openly = await targets.open(source, "scripted", OPENLY)
            lines += await _compared(targets, openly, TITLES[source], "dialogue")
    return lines


async def _on(targets: AttackTargets, target: AttackTarget, title: str, control: float | None) -> list[Attempted]:
    graph, told = target.bench.graph(target.loaded).blind, f"{title}, structure"
    exchanges = await _asked(targets, target, told, CONVERSATIONS)
    known = KnownGraph.of(graph, 1.0, _SEED)
    refused = (not answered for exchange in exchanges for answered in exchange.answered)
    lines = [
        _of_neighbourhoods(known, targets.at_most(NEIGHBOURHOODS), title, control),
        # Answerable questions that got no answer, for any reason: an upper bound of what limiting prompts costs.
        Attempted.of(f"{title}, questions without their answer", refused, most=REFUSED),
    ]
    for share in SHARES:
        known = known if share == 1 else KnownGraph.of(graph, share, _SEED)
        bounds = (PER_PROMPT, PER_CONVERSATION) if share == 1 else (1.0, 1.0)
        lines += guessed(known, share, exchanges, f"{told}, {share:.0%} known", bounds)
    return lines


async def _compared(
    targets: AttackTargets, target: AttackTarget, title: str, strategy: StrategyName
) -> list[Attempted]:
    """Attacks a strategy that shows each thing's own relations, for comparison and without a bound."""
    told = f"{title}, structure by {strategy}"
    exchanges = await _asked(targets, target, told, COMPARED, strategy)
    known = KnownGraph.of(target.bench.graph(target.loaded).blind, 1.0, _SEED)
    return guessed(known, 1.0, exchanges, told, (1.0, 1.0))


async def _asked(
    targets: AttackTargets, target: AttackTarget, told: str, most: int, strategy: StrategyName = "sets"
) -> list[Exchange]:
    """Asks conversations made of the set's questions, or of questions generated from the graph if it has none."""
    count = targets.at_most(most)
    questions = askable(target.questions) or made_questions(target.bench.graph(target.loaded), 10 * count, _SEED)
    asked: list[Question] = conversations(questions, count, _SEED)
    return await exchange_all(target, asked, strategy, targets.counter(told, len(asked)))


def guessed(
    known: KnownGraph, share: float, exchanges: Sequence[Exchange], name: str, most: tuple[float, float]
) -> list[Attempted]:
    """Returns a line for guesses from single prompts and one for guesses from whole conversations.

    Each uses the entry of `READINGS` (parts of prompts to take into account) that guesses best; `most` holds their two
    bounds. A bounded line is followed by one for kinds with many members.
    """
    whole = [(exchange, exchange.prompts) for exchange in exchanges]
    alone = [(exchange, [prompt]) for exchange, prompts in whole for prompt in prompts]
    lines = []
    for words, taken, bound in (("per prompt", alone, most[0]), ("per conversation", whole, most[1])):
        found = [_by_reading(Matcher(known, share, pieces), known, taken) for pieces in READINGS]
        best = max(found, key=lambda guesses: sum(guesses.right))
        lines.append(best.line(f"{name}, {words}", bound))
        if bound < 1:
            lines.append(best.of_large_kinds().line(f"{name}, {words}, of kinds of {LARGE} or more"))
    return lines


def _by_reading(matcher: Matcher, known: KnownGraph, taken: Iterable[tuple[Exchange, Sequence[Prompt]]]) -> Guesses:
    """Guesses every entity that the prompts show, and returns the chances that the guesses are right."""
    guesses = Guesses()
    for asked, prompts in taken:
        seen = revealed_by(prompts)
        for word, fits in matcher.fits(seen).items():
            truth = asked.truth.get(word, NO_MIDS)
            if word.startswith("E") and len(truth) == 1:
                guesses.add(share_right(fits, known.number_of(int(truth[0]))), known, seen.concepts[word])
    return guesses


def _of_neighbourhoods(known: KnownGraph, count: int, title: str, control: float | None) -> Attempted:
    matcher, guesses = Matcher(known, 1.0), Guesses()
    for node in _sample_nodes(known, count):
        seen = revealed_by(prompts_of(neighbourhood(known, node)))
        guesses.add(share_right(matcher.fits(seen)[TOPIC], node), known, seen.concepts[TOPIC])
    return guesses.line(f"{title}, whole neighbourhoods of two hops", control=control)


def neighbourhood(known: KnownGraph, node: int) -> list[bytes]:
    """Makes two requests that show all paths of up to two steps from `node`, and where each leads."""
    candidates, evidence = [], []
    for number, path in enumerate(_paths(known, node), start=1):
        candidates.append(Candidate(number=number, start=TOPIC, path=list(path), concept=""))
        if (ends := known.ends(path)) is not None:
            end = f"{'E' if int(ends.pairs[node]) == 1 else 'S'}end{number}"
            size = bucket(int(ends.count[node]))
            evidence.append(Evidence(start=TOPIC, path=list(path), end=end, end_concept="", size=size))
    things = [Thing(name=TOPIC, concept=known.words[int(known.concept[node])])]
    choose = ChooseInput(question="", path=[], candidates=candidates, width=3)
    answer = AnswerInput(question="", dialogue=[], path=[], things=things, evidence=evidence, last_round=True)
    return [_request("choose_relations", choose), _request("answer", answer)]


def _sample_nodes(known: KnownGraph, count: int) -> list[int]:
    """Draws nodes that a question could be about: those with at least one outgoing relation."""
    able = np.zeros(known.size, dtype=np.bool_)
    for step in known.steps:
        if not step.startswith("^"):
            able |= known.has((step,))
    nodes = np.flatnonzero(able)
    chosen = np.random.default_rng(_SEED).permutation(len(nodes))[:count]
    return [int(node) for node in nodes[np.sort(chosen)]]


def _paths(known: KnownGraph, node: int) -> Iterator[Trail]:
    for first in known.steps:
        if known.has((first,))[node]:
            yield (first,)
            yield from ((first, second) for second in known.steps if known.has((first, second))[node])


def _request(task: TaskName, asked: TaskModel) -> bytes:
    block = f"```json\n{asked.model_dump_json(exclude_defaults=True)}\n```"
    shape = {"type": "json_schema", "json_schema": {"name": task}}
    return json.dumps({"messages": [{"role": "user", "content": block}], "response_format": shape}).encode()


async def replay(targets: AttackTargets) -> list[Attempted]:
    return [await _replayed_on(targets, source) for source in targets.among(DEMO, PQ_3H)]


async def _replayed_on(targets: AttackTargets, source: str) -> Attempted:
    target = await targets.open(source, "scripted")
    count, graph = targets.at_most(QUESTIONS), target.bench.graph(target.loaded)
    questions = askable(target.questions) if source != DEMO else made_questions(graph, count, _REPLAY_SEED)
    asked = sample([each for each in questions if each.plan and each.plan.topics], count, _REPLAY_SEED)
    known = KnownGraph.of(graph.blind, 1.0, _REPLAY_SEED)
    progress, guesses = targets.counter(f"{TITLES[source]}, replay", len(asked)), Guesses()
    for done, question in enumerate(asked, start=1):
        progress(done)
        await _guess(target, known, question, guesses)
    name = f"{TITLES[source]}, structure, 100% known, by asking the same of others of a kind of {LARGE} or more"
    return guesses.of_large_kinds().line(name, MAX_SHARE)


async def _guess(target: AttackTarget, known: KnownGraph, question: Question, into: Guesses) -> None:
    """Adds the chance that the attacker's guess is right; adds nothing if the question names no single thing.

    If there are more than `REPLAYED` candidates, that many are drawn, and the share found among them stands for all.
    """
    asked = await exchange(target, question)
    prompts = asked.prompts
    topic = next((thing for prompt in prompts for thing in prompt.things if thing.name in prompt.question), None)
    if topic is None or len(asked.truth.get(topic.name, ())) != 1:
        return
    truth = known.number_of(int(asked.truth[topic.name][0]))
    fits = Matcher(known, 1.0, _SURE).fits(revealed_by(prompts))[topic.name]
    possible = fits > fits.max() + np.log(NEVER) / 2
    if not possible[truth]:
        into.add(0.0, known, topic.concept)
        return
    others = [node for node in np.flatnonzero(possible).tolist() if node != truth]
    drawn = dice_of(_REPLAY_SEED).sample(others, min(REPLAYED, len(others)))
    wanted = summarise_prompts(prompts)
    same = [await asks_the_same(target, known, question, node, wanted) for node in drawn]
    into.add(1.0 / (1.0 + (len(others) * sum(same) / len(same) if same else 0.0)), known, topic.concept)


async def asks_the_same(
    target: AttackTarget, known: KnownGraph, question: Question, node: int, wanted: Sequence[object]
) -> bool:
    mid = int(known.mids[node])
    names = target.bench.graph(target.loaded).vault.records([mid])[mid].names
    assert question.plan is not None
    typed = question.texts[0]
    if not names or question.plan.topics[0] not in typed:
        return False
    name = names[0].replace("_", " ")
    plan = question.plan.model_copy(update={"topics": (name,)})
    other = question.model_copy(update={"question": typed.replace(question.plan.topics[0], name), "plan": plan})
    return summarise_prompts((await exchange(target, other)).prompts) == wanted


def summarise_prompts(prompts: Sequence[Prompt]) -> list[object]:
    """Returns the contents of requests in a form that is equal for equal requests of two conversations.

    Pseudonyms are replaced by what they stand for (which topic, or an end), and lists are sorted.
    """
    places: dict[str, str] = {}
    for prompt in prompts:
        shown = {thing.name for thing in prompt.things}
        for number, word in enumerate(word for word in _WORD.findall(prompt.question) if word in shown):
            places.setdefault(word, f"topic {number}")
    for fact in sorted({(f.start, tuple(f.path), f.end) for prompt in prompts for f in prompt.evidence}, key=str):
        places.setdefault(fact[2], fact[2][:1])
    return [tuple(_said(prompt, places)) for prompt in prompts]


def _said(prompt: Prompt, places: dict[str, str]) -> Iterator[object]:
    def place(word: str) -> str:
        return places.get(word, word[:1])

    yield prompt.task, prompt.round, prompt.further
    yield " ".join(places.get(word, word) for word in _WORD.findall(prompt.question))
    yield sorted((place(thing.name), thing.concept, thing.size) for thing in prompt.things)
    yield sorted((place(each.start), *each.path, each.concept) for each in prompt.candidates)
    yield sorted(
        (place(fact.start), *fact.path, place(fact.end), fact.end_concept, fact.size) for fact in prompt.evidence
    )
