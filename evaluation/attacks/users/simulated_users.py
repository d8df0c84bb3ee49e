"""Simulated users: each asks about the same few things again and again, in conversations of their own."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from evaluation.attacks.setup.exchanges import Exchange, exchange_all
from evaluation.attacks.setup.related_questions import joined
from evaluation.attacks.setup.targets import AttackTarget
from evaluation.datasets.questions import Question

TOPICS = 50


@dataclass(frozen=True, slots=True)
class SimulatedConversation:
    """One conversation: whose it was, the questions that were asked in it, and what went to the endpoint."""

    user: int
    questions: tuple[Question, ...] = field(repr=False)
    exchange: Exchange = field(repr=False)

    @property
    def topics(self) -> list[str]:
        return [question.topic_entities[0] for question in self.questions]


@dataclass(frozen=True, slots=True)
class UserPopulation:
    """The numbers of users, conversations and questions. `alike`: all have the same favourites; else
    each has an order of the topics of its own."""

    users: int
    conversations: int
    questions: int
    alike: bool = False


def topics_of(questions: Sequence[Question], count: int = TOPICS) -> dict[str, list[Question]]:
    """The topics with the most questions, and their questions; in the order of their names."""
    by_topic: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        if len(question.topic_entities) == 1:
            by_topic[question.topic_entities[0]].append(question)
    most = sorted(by_topic, key=lambda topic: (-len(by_topic[topic]), topic))[:count]
    return {topic: by_topic[topic] for topic in sorted(most)}


def zipf(count: int) -> list[float]:
    """Chances of ranks 1 to `count` by Zipf's law with the exponent 1."""
    whole = sum(1 / rank for rank in range(1, count + 1))
    return [1 / rank / whole for rank in range(1, count + 1)]


def favourites(topics: Sequence[str], seed: int) -> list[str]:
    """One order of the topics, the most liked first."""
    order = list(topics)
    random.Random(seed).shuffle(order)  # noqa: S311  # a sample, no secret  # nosec B311
    return order


async def simulate_conversations(
    target: AttackTarget,
    questions: Sequence[Question],
    crowd: UserPopulation,
    seed: int,
    progress: Callable[[int], None],
) -> list[SimulatedConversation]:
    """All conversations of a crowd, asked one after the other."""
    draw = random.Random(seed)  # noqa: S311  # a sample, no secret  # nosec B311
    by_topic = topics_of(questions)
    chances = zipf(len(by_topic))
    asked: list[tuple[int, tuple[Question, ...]]] = []
    for user in range(crowd.users):
        order = favourites(list(by_topic), seed if crowd.alike else seed + 1 + user)
        for _ in range(crowd.conversations):
            topics = draw.choices(order, chances, k=crowd.questions)
            asked.append((user, tuple(draw.choice(by_topic[topic]) for topic in topics)))
    turns = [joined(each, f"talk-{number}") for number, (_, each) in enumerate(asked)]
    exchanges = await exchange_all(target, turns, progress=progress)
    return [
        SimulatedConversation(user, questions, exchange)
        for (user, questions), exchange in zip(asked, exchanges, strict=True)
    ]
