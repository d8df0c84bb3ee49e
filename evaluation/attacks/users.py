"""Attackers who watch users: who is asked about, by how often, and which conversations are of the same user.

Simulated users ask about the same few things again and again, in conversations of their own.

Frequency: the attacker knows how popular everybody is, and counts. Linkage: a classifier (logistic regression over how
alike two conversations are, trait by trait) is trained on one half of the users and tried on the other. Who is asked
about, and when, is in no trait: pseudonyms are blotted out, times left out.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from evaluation.attacks.exchanges import Exchange, Prompt, askable, exchange_all, joined, prompts_of
from evaluation.attacks.targets import TITLES, AttackTarget, AttackTargets, Attempted, area, dice_of
from evaluation.bench.question_sets import METAQA, PQ_3H
from evaluation.datasets.questions import Question
from kg_store.terms import PSEUDONYM

TOPICS = 50
COUNTED, USERS, CONVERSATIONS, QUESTIONS = 200, 200, 10, 5
POINTS, KEPT_FOR_EVER = 0.02, 0.35
MAX_LINKED, KEPT_THROUGH, MIN_PAIRS = 0.6, 0.75, 200
TRAITS = ("wording", "relations", "concepts", "sizes", "candidates", "counts", "totals", "order")
# Traits of the question itself, which no pseudonym can hide from whoever is to answer it.
OF_THE_QUESTION = ("wording", "relations")
_FREQUENCY_SEED, _LINKAGE_SEED = 29, 23
_WORD = re.compile(r"[^\W_]+|\*")

Numbers = npt.NDArray[np.float64]
Marks = Mapping[str, Sequence[str]]
"""One conversation's share of each trait."""


@dataclass(frozen=True, slots=True)
class SimulatedConversation:
    """One conversation: whose it was, the questions that were asked in it, and what went to the endpoint."""

    user: int
    questions: tuple[Question, ...] = field(repr=False)
    exchange: Exchange = field(repr=False)

    @property
    def topics(self) -> list[str]:
        return [question.topic_entities[0] for question in self.questions]


def topics_of(questions: Sequence[Question], count: int = TOPICS) -> dict[str, list[Question]]:
    """The topics with the most questions, and their questions; in the order of their names."""
    by_topic: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        if len(question.topic_entities) == 1:
            by_topic[question.topic_entities[0]].append(question)
    most = sorted(by_topic, key=lambda topic: (-len(by_topic[topic]), topic))[:count]
    return {topic: by_topic[topic] for topic in sorted(most)}


async def simulate_conversations(
    target: AttackTarget,
    questions: Sequence[Question],
    orders: Sequence[Sequence[str]],
    count: int,
    seed: int,
    progress: Callable[[int], None],
) -> list[SimulatedConversation]:
    """`count` conversations of each user, one after the other; each asks about `topics_of` in an order of its own."""
    draw, by_topic, asked = dice_of(seed), topics_of(questions), list[tuple[int, tuple[Question, ...]]]()
    chances = [1 / rank for rank in range(1, len(by_topic) + 1)]  # Zipf's law with the exponent 1
    for user, order in enumerate(orders):
        for _ in range(count):
            topics = draw.choices(order, chances, k=QUESTIONS)
            asked.append((user, tuple(draw.choice(by_topic[topic]) for topic in topics)))
    turns = [joined(each, f"talk-{number}") for number, (_, each) in enumerate(asked)]
    exchanges = await exchange_all(target, turns, progress=progress)
    return [SimulatedConversation(*each, exchange) for each, exchange in zip(asked, exchanges, strict=True)]


async def frequency(targets: AttackTargets) -> list[Attempted]:
    """The n-th most frequent thing is taken for the n-th most popular."""
    lines = []
    for source in targets.among(PQ_3H, METAQA[3]):
        target = await targets.open(source, "scripted")
        questions = askable(target.questions)
        topics, count = list(topics_of(questions)), targets.at_most(COUNTED)
        popular = dice_of(_FREQUENCY_SEED).sample(topics, len(topics))
        progress = targets.counter(f"{TITLES[source]}, frequency", count)
        talks = await simulate_conversations(target, questions, [popular], count, _FREQUENCY_SEED, progress)
        lines += counted(talks, popular, TITLES[source])
    return lines


def counted(talks: Sequence[SimulatedConversation], popular: Sequence[str], title: str) -> list[Attempted]:
    """Guesses by pseudonyms that are kept (control), by those of a conversation, and by shapes over all of them."""
    by_talk = [_queries(talk) for talk in talks]
    truth = [topic for queries in by_talk for topic, _ in queries]
    blind = truth.count(popular[0]) / max(1, len(truth))

    def line(way: str, guesses: Sequence[str], least: int = 100, control: float | None = None) -> Attempted:
        right = (guess == true for guess, true in zip(guesses, truth, strict=True))
        most = 0.0 if control else blind + POINTS
        return Attempted.of(f"{title}, frequency {way}", right, blind=blind, most=most, control=control, least=least)

    within = [guess for queries in by_talk for guess in _ranked([topic for topic, _ in queries], popular)]
    lines = [
        line("of pseudonyms kept for ever", _ranked(truth, popular), 1, KEPT_FOR_EVER),
        line("within a conversation", within),
    ]
    for name, shape in SHAPES.items():
        guesses = _ranked([shape(prompts) for queries in by_talk for _, prompts in queries], popular)
        lines.append(line(f"of {name} over conversations", guesses))
    return lines


def _queries(talk: SimulatedConversation) -> list[tuple[str, list[Prompt]]]:
    """The topic of each question that reached the endpoint, and its requests."""
    found = [(topic, prompts_of(turn)) for topic, turn in zip(talk.topics, talk.exchange.turns, strict=True)]
    return [(topic, prompts) for topic, prompts in found if prompts]


def _ranked(seen: Sequence[Hashable], popular: Sequence[str]) -> list[str]:
    order = {thing: at for at, (thing, _) in enumerate(Counter(seen).most_common())}
    return [popular[min(order[thing], len(popular) - 1)] for thing in seen]


def _kinds_and_count(prompts: Sequence[Prompt]) -> Hashable:
    first = prompts[0]
    kinds = tuple(thing.concept for thing in first.things if thing.name in first.question)
    return kinds, len(first.candidates) + first.further


# Things that an attacker takes for the same, wherever they are met again: which ways on the first request of a
# question offers; how many, from what kinds; which paths lead to how many things of which kind; the words.
SHAPES: dict[str, Callable[[Sequence[Prompt]], Hashable]] = {
    "candidates": lambda prompts: frozenset(tuple(candidate.path) for candidate in prompts[0].candidates),
    "counts": _kinds_and_count,
    "evidence": lambda prompts: frozenset((*f.path, f.size, f.end_concept) for f in prompts[-1].evidence),
    "wording": lambda prompts: PSEUDONYM.sub("*", prompts[0].question),
}


async def linkage(targets: AttackTargets) -> list[Attempted]:
    """By what went to the model endpoint."""
    lines = []
    for source in targets.among(PQ_3H):
        target = await targets.open(source, "scripted")
        questions, users = askable(target.questions), max(4, targets.at_most(USERS))
        topics = list(topics_of(questions))
        orders = [dice_of(_LINKAGE_SEED + 1 + user).sample(topics, len(topics)) for user in range(users)]
        progress = targets.counter(f"{TITLES[source]}, linkage", users * CONVERSATIONS)
        talks = await simulate_conversations(target, questions, orders, CONVERSATIONS, _LINKAGE_SEED, progress)
        lines += linked(talks, TITLES[source])
    return lines


def linked(talks: Sequence[SimulatedConversation], title: str) -> list[Attempted]:
    """The attack by all traits, and what carries it: each trait alone, the question's alone, and the floor."""
    users = [talk.user for talk in talks]

    def line(way: str, marks: Sequence[Marks], most: float = 1.0, control: float | None = None) -> Attempted:
        found, pairs = auc_of(users, marks)
        name, bounds = f"{title}, same user{way}, AUC", {"most": most, "control": control, "least": MIN_PAIRS}
        return Attempted(name=name, tries=pairs, successes=found * pairs, blind=0.5, **bounds)

    seen = [traits_of(talk.exchange.prompts) for talk in talks]
    stable: list[Marks] = [{**marks, "topics": talk.topics} for marks, talk in zip(seen, talks, strict=True)]
    # Of each question the last relation of its plan, and no more: what whoever answers it has to be told.
    plans = [[question.plan for question in talk.questions if question.plan] for talk in talks]
    planned = [[each for plan in of_talk for each in list(plan.sets.values())[-1:]] for of_talk in plans]
    floor: list[Marks] = [{"asked": [each.path[-1] for each in sets if each.path]} for sets in planned]
    lines = [
        line(", pseudonyms kept through all conversations", stable, control=KEPT_THROUGH),
        line("", seen, most=MAX_LINKED),
        line(", by the asked relation alone", floor),
    ]
    for names in (OF_THE_QUESTION, *((trait,) for trait in TRAITS)):
        marks = [{name: each[name] for name in names} for each in seen]
        lines.append(line(f", by {' and '.join(names)} alone", marks))
    return lines


def traits_of(prompts: Sequence[Prompt]) -> dict[str, list[str]]:
    """Words that stand for the traits of one conversation; what stands in it twice is there twice."""
    found: dict[str, list[str]] = {trait: [] for trait in TRAITS}
    for before, first in zip([None, *prompts], prompts, strict=False):
        # The first page of a question's first round: what it counts is a property of what the question names.
        if first.round == 1 and (before is None or before.round > 1 or before.question != first.question):
            kinds = " ".join(sorted(thing.concept for thing in first.things if thing.name in first.question))
            found["totals"].append(f"{len(first.candidates) + first.further} ways on from {kinds}")
    for question in dict.fromkeys(prompt.question for prompt in prompts):
        words = _WORD.findall(PSEUDONYM.sub("*", question).casefold())
        found["wording"] += [*words, *map(" ".join, pairwise(words)), " ".join(words)]
    for fact in {fact.model_dump_json(): fact for prompt in prompts for fact in prompt.evidence}.values():
        path = " > ".join(fact.path)
        found["relations"] += [path, *fact.path]
        found["concepts"].append(fact.end_concept)
        found["sizes"].append(f"{path} {fact.size} {fact.end[0]}")
    for prompt in prompts:
        found["concepts"] += [f"{thing.concept} {thing.size}" for thing in prompt.things]
        paths = [" > ".join(candidate.path) for candidate in prompt.candidates]
        found["candidates"] += [*paths, " ; ".join(sorted(paths))]
        found["counts"] += [f"{len(paths)} of {len(paths) + prompt.further}", f"{len(paths)}"]
        found["order"] += [" before ".join(pair) for pair in pairwise(paths)]
    return found


def auc_of(users: Sequence[int], marks: Sequence[Marks]) -> tuple[float, int]:
    """The area under the curve over the pairs of the second half of the users, and how many pairs are of one user."""
    whose = np.array(users)
    half = sorted(set(users))[len(set(users)) // 2]
    learn, test = np.flatnonzero(whose < half), np.flatnonzero(whose >= half)
    alike = np.stack([_alike([each[name] for each in marks]) for name in marks[0]])
    learnt, learnt_same = _pairs(alike, whose, learn)
    # Loading the library takes seconds: only this attack waits for it.
    from sklearn.linear_model import LogisticRegression

    # Both classes count the same in all; a light penalty, whatever the number of pairs.
    fit = LogisticRegression(C=1e4 / len(learnt), class_weight="balanced", solver="newton-cg")
    fit.fit(learnt, learnt_same)
    features, same = _pairs(alike, whose, test)
    scores = fit.decision_function(features)
    return area(scores[same], scores[~same]), int(same.sum())


def _alike(marks: Sequence[Sequence[str]]) -> Numbers:
    """Compares all pairs of conversations by one trait: the cosine of their words, rare ones counting more."""
    if not any(marks):
        return np.zeros((len(marks), len(marks)))
    from sklearn.feature_extraction.text import TfidfVectorizer

    words = TfidfVectorizer(analyzer=list, sublinear_tf=True, smooth_idf=False).fit(marks)
    # log((1 + n) / df): what all have weighs next to nothing, where the library lets it count once.
    words.idf_ += np.log1p(1 / len(marks)) - 1
    table = words.transform(marks)
    alike: Numbers = (table @ table.T).toarray()
    return alike


def _pairs(
    alike: Numbers, whose: npt.NDArray[np.int64], chosen: npt.NDArray[np.int64]
) -> tuple[Numbers, npt.NDArray[np.bool_]]:
    """Each pair of the chosen conversations: how alike in each trait, and whether they are of one user."""
    first, second = np.triu_indices(len(chosen), 1)
    left, right = chosen[first], chosen[second]
    return alike[:, left, right].T, whose[left] == whose[right]
