"""Attackers who watch users: they guess who is asked about from frequencies, and link conversations of the same user.

Simulated users ask about the same few topics again and again, each time in a new conversation.

Frequency: the attacker knows how popular each topic is, and counts. Linkage: logistic regression on how alike two
conversations are, trait by trait, is trained on one half of the users and tested on the other. Traits hold neither
topics nor times: pseudonyms are masked and times left out.
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
# Traits of the question itself, which the model must see in order to answer.
OF_THE_QUESTION = ("wording", "relations")
_FREQUENCY_SEED, _LINKAGE_SEED = 29, 23
_WORD = re.compile(r"[^\W_]+|\*")

Numbers = npt.NDArray[np.float64]
Marks = Mapping[str, Sequence[str]]
"""The features of one conversation, by trait."""


@dataclass(frozen=True, slots=True)
class SimulatedConversation:
    """One conversation: its user, the questions asked in it, and what was sent to the endpoint."""

    user: int
    questions: tuple[Question, ...] = field(repr=False)
    exchange: Exchange = field(repr=False)

    @property
    def topics(self) -> list[str]:
        return [question.topic_entities[0] for question in self.questions]


def topics_of(questions: Sequence[Question], count: int = TOPICS) -> dict[str, list[Question]]:
    """Returns the `count` topics with the most questions, in alphabetical order, each with its questions."""
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
    """Holds `count` conversations for each user; `orders` lists each user's topics, the favourite first.

    Topics are drawn by Zipf's law: the n-th in the list with a chance proportional to 1/n.
    """
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
    """Guesses that the n-th most frequent thing is the n-th most popular topic."""
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
    """Returns a line for each way to guess topics by counting what occurs how often.

    Counted are: pseudonyms, if they never changed (control); pseudonyms within one conversation; and each of `SHAPES`
    (what of a request stays the same in other conversations).
    """
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
    """Returns the topic of each question that reached the endpoint, with its requests."""
    found = [(topic, prompts_of(turn)) for topic, turn in zip(talk.topics, talk.exchange.turns, strict=True)]
    return [(topic, prompts) for topic, prompts in found if prompts]


def _ranked(seen: Sequence[Hashable], popular: Sequence[str]) -> list[str]:
    order = {thing: at for at, (thing, _) in enumerate(Counter(seen).most_common())}
    return [popular[min(order[thing], len(popular) - 1)] for thing in seen]


def _kinds_and_count(prompts: Sequence[Prompt]) -> Hashable:
    first = prompts[0]
    kinds = tuple(thing.concept for thing in first.things if thing.name in first.question)
    return kinds, len(first.candidates) + first.further


# Features by which an attacker recognises a topic in other conversations: the candidates of a question's first
# request; their number and the kinds of things; the evidence's paths with sizes and kinds of ends; the wording.
SHAPES: dict[str, Callable[[Sequence[Prompt]], Hashable]] = {
    "candidates": lambda prompts: frozenset(tuple(candidate.path) for candidate in prompts[0].candidates),
    "counts": _kinds_and_count,
    "evidence": lambda prompts: frozenset((*f.path, f.size, f.end_concept) for f in prompts[-1].evidence),
    "wording": lambda prompts: PSEUDONYM.sub("*", prompts[0].question),
}


async def linkage(targets: AttackTargets) -> list[Attempted]:
    """Links conversations of the same user by what was sent to the model endpoint."""
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
    """Returns lines for how well conversations of one user are linked: by all traits, by each alone, and further ones.

    The further ones are: by the traits of the question; a control with pseudonyms that never change; and by the asked
    relation alone, which is the least that can be reached, since the model must be told it.
    """
    users = [talk.user for talk in talks]

    def line(way: str, marks: Sequence[Marks], most: float = 1.0, control: float | None = None) -> Attempted:
        found, pairs = auc_of(users, marks)
        name, bounds = f"{title}, same user{way}, AUC", {"most": most, "control": control, "least": MIN_PAIRS}
        return Attempted(name=name, tries=pairs, successes=found * pairs, blind=0.5, **bounds)

    seen = [traits_of(talk.exchange.prompts) for talk in talks]
    stable: list[Marks] = [{**marks, "topics": talk.topics} for marks, talk in zip(seen, talks, strict=True)]
    # The lower limit: the last relation of each question's plan, which a model must be told to answer it.
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
    """Returns the features of one conversation by trait; a feature that occurs twice is listed twice."""
    found: dict[str, list[str]] = {trait: [] for trait in TRAITS}
    for before, first in zip([None, *prompts], prompts, strict=False):
        # The number of candidates on the first page of the first round depends only on what the question names.
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
    """Returns the AUC over pairs of conversations of the second half of users, and how many pairs share their user."""
    whose = np.array(users)
    half = sorted(set(users))[len(set(users)) // 2]
    learn, test = np.flatnonzero(whose < half), np.flatnonzero(whose >= half)
    alike = np.stack([_alike([each[name] for each in marks]) for name in marks[0]])
    learnt, learnt_same = _pairs(alike, whose, learn)
    # The import takes seconds, so that only this attack should wait for it.
    from sklearn.linear_model import LogisticRegression

    # Both classes have the same total weight; the light penalty does not depend on the number of pairs.
    fit = LogisticRegression(C=1e4 / len(learnt), class_weight="balanced", solver="newton-cg")
    fit.fit(learnt, learnt_same)
    features, same = _pairs(alike, whose, test)
    scores = fit.decision_function(features)
    return area(scores[same], scores[~same]), int(same.sum())


def _alike(marks: Sequence[Sequence[str]]) -> Numbers:
    """Returns the similarity of all pairs of conversations in one trait: the cosine of their tf-idf vectors."""
    if not any(marks):
        return np.zeros((len(marks), len(marks)))
    from sklearn.feature_extraction.text import TfidfVectorizer

    words = TfidfVectorizer(analyzer=list, sublinear_tf=True, smooth_idf=False).fit(marks)
    # idf becomes log((1 + n) / df), so that a feature that all have weighs almost nothing; the library gives it 1.
    words.idf_ += np.log1p(1 / len(marks)) - 1
    table = words.transform(marks)
    alike: Numbers = (table @ table.T).toarray()
    return alike


def _pairs(
    alike: Numbers, whose: npt.NDArray[np.int64], chosen: npt.NDArray[np.int64]
) -> tuple[Numbers, npt.NDArray[np.bool_]]:
    """Returns the similarity of each pair of chosen conversations in each trait, and whether the user is the same."""
    first, second = np.triu_indices(len(chosen), 1)
    left, right = chosen[first], chosen[second]
    return alike[:, left, right].T, whose[left] == whose[right]
