"""Structure: on small graphs of a known shape the attack finds what is unique, and nobody where all are alike; the
same question asked twice makes the same requests."""

from __future__ import annotations

import numpy as np
import pytest

from app.llm.tasks import Candidate, Evidence, StepInput
from evaluation.attacks import structure as attack
from evaluation.attacks.exchanges import (
    Exchange,
    askable,
    conversations,
    exchange,
    exchange_all,
    made_questions,
    prompt_of,
    prompts_of,
)
from evaluation.attacks.matching import PIECES, KnownGraph, Matcher, Piece, joining, revealed_by, share_right
from evaluation.attacks.structure import (
    TOPIC,
    asks_the_same,
    guessed,
    neighbourhood,
    replay,
    structure,
    summarise_prompts,
)
from evaluation.attacks.targets import AttackTargets
from evaluation.bench.question_sets import DEMO
from tests.evaluation.attacks.made import request, step

# Ten people in a ring of friends, each with a town; person 3 alone has two, and no town is another's.
PEOPLE = 10


def graph(triples: list[tuple[int, str, int]], size: int, concepts: list[str]) -> KnownGraph:
    hops = {}
    for relation in {relation for _, relation, _ in triples}:
        heads, tails = np.array([(head, tail) for head, each, tail in triples if each == relation]).T
        hops |= {relation: joining(heads, tails, size), "^" + relation: joining(tails, heads, size)}
    return KnownGraph(np.arange(size), concepts, np.zeros(size, dtype=np.bool_), hops)


RING = [(person, "friend", (person + 1) % PEOPLE) for person in range(PEOPLE)]
TOWNS = [(person, "lives in", PEOPLE + person) for person in range(PEOPLE)]
ALIKE = graph([*RING, *TOWNS], 2 * PEOPLE, ["person"] * PEOPLE + ["town"] * PEOPLE)
UNIQUE = graph(
    [*RING, *TOWNS, (3, "lives in", 2 * PEOPLE)], 2 * PEOPLE + 1, ["person"] * PEOPLE + ["town"] * (PEOPLE + 1)
)


def test_a_request_is_read_off_its_bytes_and_a_probe_is_none() -> None:
    prompt = prompt_of(step(candidates=[Candidate(number=1, start="Eaaaa1", path=["friend"], concept="person")]))
    assert prompt is not None
    assert (prompt.task, prompt.things[0].name, prompt.candidates[0].path) == ("step", "Eaaaa1", ["friend"])
    assert prompt_of(request(StepInput(question="", things=[], evidence=[], candidates=[]), "probe")) is None


def test_a_unique_shape_is_found_and_the_ends_of_its_paths_with_it() -> None:
    seen = revealed_by(
        prompts_of(
            [
                step([Evidence(start="Eaaaa1", path=["lives in"], end="Sbbbb1", end_concept="town", size="2-5")]),
                step([Evidence(start="Eaaaa1", path=["friend"], end="Ebbbb1", end_concept="person")]),
                step([Evidence(start="Ebbbb1", path=["lives in"], end="Ecccc1", end_concept="town")], name="Ebbbb1"),
            ]
        )
    )
    fits = Matcher(UNIQUE, 1.0).fits(seen)
    assert [share_right(fits[word], truth) for word, truth in (("Eaaaa1", 3), ("Ebbbb1", 4), ("Ecccc1", 14))] == [
        1
    ] * 3


def test_a_later_turn_tells_who_an_earlier_pseudonym_was() -> None:
    first = step([Evidence(start="Eaaaa1", path=["friend"], end="Ebbbb1", end_concept="person")])
    later = step(
        [Evidence(start="Ebbbb1", path=["lives in"], end="Scccc1", end_concept="town", size="2-5")], name="Ebbbb1"
    )
    alone = Matcher(UNIQUE, 1.0).fits(revealed_by(prompts_of([first])))["Eaaaa1"]
    joined = Matcher(UNIQUE, 1.0).fits(revealed_by(prompts_of([first, later])))["Eaaaa1"]
    assert share_right(alone, 2) == pytest.approx(1 / PEOPLE)
    assert share_right(joined, 2) == 1


def test_nobody_is_found_among_things_that_are_all_alike() -> None:
    for node in range(PEOPLE):
        seen = revealed_by(prompts_of(neighbourhood(ALIKE, node)))
        assert share_right(Matcher(ALIKE, 1.0).fits(seen)[TOPIC], node) == pytest.approx(1 / PEOPLE)


def test_whole_neighbourhoods_find_what_is_unique_within_two_hops() -> None:
    found = [
        share_right(Matcher(UNIQUE, 1.0).fits(revealed_by(prompts_of(neighbourhood(UNIQUE, node))))[TOPIC], node)
        for node in range(PEOPLE)
    ]
    # Person 3 by its towns, 2 and 4 by a friend's; those of the others look the same.
    assert found == pytest.approx([1 / 7, 1 / 7, 1, 1, 1, *[1 / 7] * 5])


@pytest.mark.parametrize(("pieces", "share"), [(PIECES, 1.0), (("evidence",), 1 / PEOPLE)])
def test_what_an_attacker_does_not_go_by_does_not_help(pieces: tuple[Piece, ...], share: float) -> None:
    shown = step([Evidence(start="Eaaaa1", path=["lives in"], end="Sbbbb1", end_concept="town", size="2-5")])
    fits = Matcher(UNIQUE, 1.0, pieces).fits(revealed_by(prompts_of([shown])))
    assert share_right(fits["Eaaaa1"], 3) == pytest.approx(share)


def test_a_triple_that_is_not_known_rules_nobody_out() -> None:
    known = graph([*RING, *TOWNS[1:]], 2 * PEOPLE, ["person"] * PEOPLE + ["town"] * PEOPLE)
    shown = step([Evidence(start="Eaaaa1", path=["lives in"], end="Ebbbb1", end_concept="town")])
    fits = Matcher(known, 0.7).fits(revealed_by(prompts_of([shown])))["Eaaaa1"]
    assert fits[1] > fits[0] > fits[PEOPLE + 1]


def test_evidence_through_a_set_is_walked_from_where_the_set_hangs() -> None:
    shown = step(
        [
            Evidence(start="Eaaaa1", path=["lives in"], end="Sbbbb1", end_concept="town", size="2-5"),
            Evidence(start="Sbbbb1", path=["^lives in"], end="Scccc1", end_concept="person", size="1"),
        ]
    )
    seen = revealed_by(prompts_of([shown]))
    assert {(reach.root, reach.path) for reach in seen.reaches} == {
        ("Eaaaa1", ("lives in",)),
        ("Eaaaa1", ("lives in", "^lives in")),
    }


@pytest.mark.model
async def test_conversations_of_the_demo_are_recorded_as_they_were_sent_and_judged_by_what_they_meant() -> None:
    async with AttackTargets() as targets:
        target = await targets.open(DEMO, "scripted")
        graph = target.bench.graph(target.loaded)
        asked = conversations(askable(target.questions), 2, seed=1, turns=2)
        exchanges: list[Exchange] = await exchange_all(target, asked)
        known = KnownGraph.of(graph.blind, 1.0, 0)
        for each in exchanges:
            assert len(each.turns) == 2
            assert all(each.answered)
            shown = {thing.name for prompt in each.prompts for thing in prompt.things}
            assert shown <= set(each.truth)
        lines = guessed(known, 1.0, exchanges, "demo", (1.0, 1.0))
        assert [line.name for line in lines] == ["demo, per prompt", "demo, per conversation"]
        assert all(0 < line.rate <= 1 and line.tries for line in lines)


@pytest.mark.model
async def test_the_control_finds_most_of_the_demo() -> None:
    async with AttackTargets(limit=3) as targets:
        lines = {line.name: line for line in await structure(targets)}
    assert lines["demo, whole neighbourhoods of two hops"].rate > 0.32
    assert lines["demo, structure, 100% known, per conversation"].most == 0.10


@pytest.mark.model
async def test_made_questions_are_the_same_in_every_run_and_each_has_its_plan() -> None:
    drawn = []
    for _ in range(2):
        async with AttackTargets() as targets:
            target = await targets.open(DEMO, "scripted")
            drawn.append(made_questions(target.bench.graph(target.loaded), 12, seed=1))
    assert drawn[0] == drawn[1]
    assert len({question.id for question in drawn[0]}) == 12
    assert all(question.plan and question.plan.sets["A"].path for question in drawn[0])


@pytest.mark.model
async def test_made_questions_ask_for_the_kind_at_the_end_of_a_backward_step() -> None:
    async with AttackTargets() as targets:
        target = await targets.open(DEMO, "scripted")
        made = made_questions(target.bench.graph(target.loaded), 60, seed=1, most_steps=1)
    asked = [(question.plan.sets["A"].path[0], question.texts[0]) for question in made if question.plan]
    assert {label[0] == "^" for label, _ in asked} == {True, False}
    assert all(text.startswith("Which " if label[0] == "^" else "What is the ") for label, text in asked)


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
async def test_asked_of_the_same_thing_again_the_service_makes_the_same_requests(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(attack, "REPLAYED", 2)
    async with AttackTargets(limit=2) as targets:
        target = await targets.open(DEMO, "scripted")
        graph = target.bench.graph(target.loaded)
        known = KnownGraph.of(graph.blind, 1.0, 0)
        judged = 0
        for question in made_questions(graph, 2, seed=2):
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
        assert 0 <= line.successes <= line.tries <= 2
        assert line.tries
