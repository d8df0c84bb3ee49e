"""Frequency: who is asked about, by how often; the attacker knows how popular everybody is, and counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence

from evaluation.attacks.setup.bounds import Attempted
from evaluation.attacks.setup.egress import Prompt, prompts_of
from evaluation.attacks.setup.related_questions import askable
from evaluation.attacks.setup.targets import TITLES, AttackTargets
from evaluation.attacks.users.simulated_users import (
    SimulatedConversation,
    UserPopulation,
    favourites,
    simulate_conversations,
    topics_of,
)
from evaluation.attacks.users.traits import masked
from evaluation.bench.question_sets import METAQA, PQ_3H

CONVERSATIONS, QUESTIONS = 200, 5
POINTS = 0.02
_SEED = 29

Shape = Callable[[Sequence[Prompt]], Hashable]
"""Things that an attacker takes for the same, wherever they are met again."""


def by_candidates(prompts: Sequence[Prompt]) -> Hashable:
    """Which ways on the first request of a question offers."""
    return frozenset(tuple(candidate.path) for candidate in prompts[0].candidates)


def by_counts(prompts: Sequence[Prompt]) -> Hashable:
    """Counts the ways on, and adds the kinds of the topics."""
    first = prompts[0]
    kinds = tuple(thing.concept for thing in first.things if thing.name in first.question)
    return kinds, len(first.candidates) + first.further


def by_evidence(prompts: Sequence[Prompt]) -> Hashable:
    """Which paths lead from it to how many things of which kind."""
    return frozenset((*fact.path, fact.size, fact.end_concept) for fact in prompts[-1].evidence)


def by_wording(prompts: Sequence[Prompt]) -> Hashable:
    return masked(prompts[0].question)


SHAPES: dict[str, Shape] = {
    "candidates": by_candidates, "counts": by_counts, "evidence": by_evidence, "wording": by_wording,
}  # fmt: skip


async def frequency(targets: AttackTargets) -> list[Attempted]:
    lines = []
    for source in targets.among(PQ_3H, METAQA[3]):
        target = await targets.open(source, "scripted")
        questions = askable(target.questions)
        crowd = UserPopulation(1, targets.at_most(CONVERSATIONS), QUESTIONS, alike=True)
        progress = targets.counter(f"{TITLES[source]}, frequency", crowd.conversations)
        talks = await simulate_conversations(target, questions, crowd, _SEED, progress)
        lines += counted(talks, favourites(list(topics_of(questions)), _SEED), TITLES[source])
    return lines


def counted(talks: Sequence[SimulatedConversation], popular: Sequence[str], title: str) -> list[Attempted]:
    """Guesses by pseudonyms that are kept (control), by those of a conversation, and by shapes over all of them."""
    queries = [query for talk in talks for query in _queries(talk)]
    truth = [topic for topic, _ in queries]
    blind = truth.count(popular[0]) / max(1, len(truth))
    most = {"blind": blind, "most": blind + POINTS, "least": 100}
    within = [guess for talk in talks for guess in _ranked([topic for topic, _ in _queries(talk)], popular)]
    lines = [
        _line(
            f"{title}, frequency of pseudonyms kept for ever",
            truth,
            _ranked(truth, popular),
            blind=blind,
            control=0.35,
        ),
        _line(f"{title}, frequency within a conversation", truth, within, **most),
    ]
    for name, shape in SHAPES.items():
        guesses = _ranked([shape(prompts) for _, prompts in queries], popular)
        lines.append(_line(f"{title}, frequency of {name} over conversations", truth, guesses, **most))
    return lines


def _queries(talk: SimulatedConversation) -> list[tuple[str, list[Prompt]]]:
    """The topic of each question that reached the endpoint, and its requests."""
    found = [(topic, prompts_of(turn)) for topic, turn in zip(talk.topics, talk.exchange.turns, strict=True)]
    return [(topic, prompts) for topic, prompts in found if prompts]


def _ranked(seen: Sequence[Hashable], popular: Sequence[str]) -> list[str]:
    """The n-th most frequent is taken for the n-th most popular."""
    order = {thing: at for at, (thing, _) in enumerate(Counter(seen).most_common())}
    return [popular[min(order[thing], len(popular) - 1)] for thing in seen]


def _line(name: str, truth: Sequence[str], guesses: Sequence[str], **bounds: float) -> Attempted:
    right = sum(guess == true for guess, true in zip(guesses, truth, strict=True))
    return Attempted.model_validate({"name": name, "tries": len(truth), "successes": right, **bounds})
