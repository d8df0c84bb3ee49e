"""Replay: the attacker runs the service itself, over its own copy of the graph, and asks what was asked of others.

Whoever would have made the very same requests may be the one who was asked about; everybody else is not. So nothing
that requests depend on is left out, whatever it is: how many ways on there are, which come first, when a page is
turned. It takes a copy of the whole graph, of the code and of its settings, and the questions' wording, which is sent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from evaluation.attacks.setup.bounds import Attempted
from evaluation.attacks.setup.exchanges import Prompt, exchange
from evaluation.attacks.setup.related_questions import askable, made_questions
from evaluation.attacks.setup.targets import TITLES, AttackTarget, AttackTargets, dice_of
from evaluation.attacks.structure.attack import LARGE, Guesses
from evaluation.attacks.structure.known_graph import KnownGraph
from evaluation.attacks.structure.matching import NEVER, Matcher, Piece, revealed_by
from evaluation.bench.bench import sample
from evaluation.bench.question_sets import DEMO, PQ_3H
from evaluation.datasets.questions import Question

QUESTIONS, REPLAYED = 100, 20
MAX_SHARE = 0.10  # a conversation of one question
_SEED = 31
# What holds of a thing whatever the service does with its ways on.
_SURE: tuple[Piece, ...] = ("concepts", "evidence", "sizes", "ends")
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]*")


async def replay(targets: AttackTargets) -> list[Attempted]:
    return [await _on(targets, source) for source in targets.among(DEMO, PQ_3H)]


async def _on(targets: AttackTargets, source: str) -> Attempted:
    target = await targets.open(source, "scripted")
    count, graph = targets.at_most(QUESTIONS), target.bench.graph(target.loaded)
    questions = askable(target.questions) if source != DEMO else made_questions(graph, count, _SEED)
    asked = sample([each for each in questions if each.plan and each.plan.topics], count, _SEED)
    known = KnownGraph.of(graph.blind, 1.0, _SEED)
    progress, guesses = targets.counter(f"{TITLES[source]}, replay", len(asked)), Guesses()
    for done, question in enumerate(asked, start=1):
        progress(done)
        await _guess(target, known, question, guesses)
    name = f"{TITLES[source]}, structure, 100% known, by asking the same of others of a kind of {LARGE} or more"
    return guesses.of_large_kinds().line(name, MAX_SHARE)


async def _guess(target: AttackTarget, known: KnownGraph, question: Question, into: Guesses) -> None:
    """The expected share right; nothing where the question names no single thing.

    Of more than `REPLAYED` candidates so many are drawn, and the others count as these did.
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
    drawn = dice_of(_SEED).sample(others, min(REPLAYED, len(others)))
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
    """The contents of requests, with pseudonyms replaced by their place, and without the conversation's own order."""
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
