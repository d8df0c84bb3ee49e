"""Linkage and frequency: what is a user's own, or a topic's own, is found; where all look alike, nobody is."""

from __future__ import annotations

from random import Random

import pytest

from app.llm.tasks import Candidate
from evaluation.attacks.exchanges import Exchange
from evaluation.attacks.targets import AttackTargets
from evaluation.attacks.users import (
    QUESTIONS,
    SimulatedConversation,
    auc_of,
    counted,
    frequency,
    linkage,
    linked,
    simulate_conversations,
    topics_of,
)
from evaluation.bench.question_sets import DEMO
from evaluation.datasets.questions import PlanSet, QueryPlan, Question
from tests.evaluation.attacks.made import step

pytestmark = pytest.mark.slow

TOPICS = [f"topic {number}" for number in range(6)]


def question(topic: str) -> Question:
    plan = QueryPlan(sets={"A": PlanSet(start="topic:0", path=("spouse",))}, answer=("A",))
    return Question(id=topic, question=f"Who is it, {topic}?", answers=("x",), topic_entities=(topic,), plan=plan)


def talk(user: int, topics: list[str], own: dict[str, str]) -> SimulatedConversation:
    """A conversation in which the requests about a topic offer the way on that is its `own`."""
    turns = tuple(
        (step(candidates=[Candidate(number=1, start="Eaaaa1", path=[own[topic]], concept="")], question="Who?"),)
        for topic in topics
    )
    asked = tuple(question(topic) for topic in topics)
    return SimulatedConversation(user, asked, Exchange(asked[-1], turns, (True,) * len(topics), {}))


ALIKE = dict.fromkeys(TOPICS, "spouse")
TOLD = {topic: f"relation {number}" for number, topic in enumerate(TOPICS)}


def crowd(own: dict[str, str]) -> list[SimulatedConversation]:
    """Six users who ask about two topics each."""
    draw = Random(1)
    return [
        talk(user, draw.choices([TOPICS[user], TOPICS[(user + 1) % 6]], k=4), own)
        for user in range(6)
        for _ in range(8)
    ]


def test_users_are_told_apart_by_what_is_shown_of_their_topics_and_by_nothing_else() -> None:
    lines = {line.name: line for line in linked(crowd(TOLD), "made")}
    assert lines["made, same user, AUC"].rate > 0.9
    assert not lines["made, same user, AUC"].passed
    assert lines["made, same user, by candidates alone, AUC"].rate > 0.9
    assert lines["made, same user, by wording alone, AUC"].rate == pytest.approx(0.5)


def test_users_whose_requests_look_alike_are_not_told_apart_and_the_control_still_finds_them() -> None:
    lines = {line.name: line for line in linked(crowd(ALIKE), "made")}
    assert lines["made, same user, AUC"].rate == pytest.approx(0.5)
    assert lines["made, same user, by the asked relation alone, AUC"].rate == pytest.approx(0.5)
    assert lines["made, same user, pseudonyms kept through all conversations, AUC"].rate > 0.9


def test_users_of_the_second_half_alone_are_tried() -> None:
    users = [0] * 3 + [1] * 3 + [2] * 4 + [3] * 4
    _, pairs = auc_of(users, [{"any": [str(user)]} for user in users])
    assert pairs == 2 * 6


def popular_talks(own: dict[str, str]) -> list[SimulatedConversation]:
    """Topic 0 is asked about 36 times, topic 1 half as often, and so on; never twice in one conversation."""
    return [talk(0, [topic], own) for rank, topic in enumerate(TOPICS, 1) for _ in range(36 // rank)]


def test_topics_are_found_by_how_often_a_shape_of_their_own_is_met() -> None:
    lines = {line.name: line for line in counted(popular_talks(TOLD), TOPICS, "made")}
    blind = 36 / (36 + 18 + 12 + 9 + 7 + 6)
    by_candidates = lines["made, frequency of candidates over conversations"]
    assert by_candidates.rate == 1
    assert by_candidates.blind == pytest.approx(blind)
    assert not by_candidates.passed
    assert lines["made, frequency within a conversation"].rate == pytest.approx(blind)
    assert lines["made, frequency of pseudonyms kept for ever"].rate == 1


def test_topics_whose_shapes_are_alike_are_found_no_oftener_than_by_a_blind_guess() -> None:
    for line in counted(popular_talks(ALIKE), TOPICS, "made")[1:]:
        assert line.rate == pytest.approx(line.blind)


def test_the_topics_with_the_most_questions_are_asked_about() -> None:
    assert list(topics_of([question("b"), question("a"), question("b"), question("c")], 2)) == ["a", "b"]


@pytest.mark.model
async def test_a_crowd_asks_the_service_and_what_was_sent_is_kept_for_each_conversation() -> None:
    async with AttackTargets() as targets:
        target = await targets.open(DEMO, "scripted")
        done: list[int] = []
        asked = [each for each in target.questions if len(each.texts) == 1 and each.plan]
        talks = await simulate_conversations(target, asked, [list(topics_of(asked))] * 2, 1, 3, done.append)
        assert [each.user for each in talks] == [0, 1]
        assert done == [1, 2]
        assert all(len(each.exchange.turns) == QUESTIONS and each.exchange.prompts for each in talks)
        assert await frequency(targets) == await linkage(targets) == []
