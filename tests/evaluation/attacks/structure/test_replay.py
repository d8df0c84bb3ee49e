"""Replay: the same question asked twice makes the same requests, and a request of another kind is told from it."""

from __future__ import annotations

import pytest

from app.llm.tasks import Candidate, Evidence
from evaluation.attacks.setup.exchanges import exchange, prompts_of
from evaluation.attacks.setup.related_questions import made_questions
from evaluation.attacks.setup.targets import AttackTargets
from evaluation.attacks.structure.known_graph import KnownGraph
from evaluation.attacks.structure.replay import asks_the_same, replay, summarise_prompts
from evaluation.bench.question_sets import DEMO
from tests.evaluation.attacks.made import step


def test_pseudonyms_and_order_make_no_difference_and_all_else_does() -> None:
    def shown(name: str, end: str, *paths: str, size: str = "2-5") -> list[object]:
        return summarise_prompts(
            prompts_of(
                [
                    step(
                        [Evidence(start=name, path=["spouse"], end=end, end_concept="person", size=size)],
                        [Candidate(number=at, start=name, path=[path], concept="") for at, path in enumerate(paths)],
                        name,
                        f"Who is {name} married to?",
                    )
                ]
            )
        )

    first = shown("Eaaaa1", "Sbbbb1", "spouse", "lives in")
    assert first == shown("Ezzzz9", "Syyyy9", "lives in", "spouse")
    assert first != shown("Ezzzz9", "Syyyy9", "lives in", "works at")
    assert first != shown("Ezzzz9", "Eyyyy9", "lives in", "spouse")
    assert first != shown("Ezzzz9", "Syyyy9", "lives in", "spouse", size="6-20")


@pytest.mark.model
async def test_asked_of_the_same_thing_again_the_service_makes_the_same_requests() -> None:
    async with AttackTargets(limit=3) as targets:
        target = await targets.open(DEMO, "scripted")
        graph = target.bench.graph(target.loaded)
        known = KnownGraph.of(graph.blind, 1.0, 0)
        judged = 0
        for question in made_questions(graph, 4, seed=2):
            asked = await exchange(target, question)
            prompts = asked.prompts
            named = [word for word in (thing.name for thing in prompts[0].things) if word in prompts[0].question]
            if len(named) == 1 and len(asked.truth[named[0]]) == 1:
                judged += 1
                node = known.number_of(int(asked.truth[named[0]][0]))
                assert await asks_the_same(target, known, question, node, summarise_prompts(prompts))
                assert not await asks_the_same(target, known, question, node, summarise_prompts(prompts)[:-1])
        assert judged
        (line,) = await replay(targets)
        assert 0 <= line.successes <= line.tries <= 3
        assert line.tries
