"""The trail of a question: which path its answer followed, what came next, and where the gold path was."""

from __future__ import annotations

import pytest

from app.llm.embeddings.embedder import Embedder
from app.llm.tasks import (
    AnswerInput,
    AnswerReply,
    Candidate,
    ChooseInput,
    ChooseReply,
    Evidence,
    StepInput,
    StepReply,
    Thing,
)
from app.reader.scoring.path_scoring import PathScorer
from evaluation.bench.path_trail import PathTrail, trail_of
from evaluation.datasets.gold_plan import plan_paths
from evaluation.datasets.questions import PlanSet, QueryPlan, Question
from evaluation.fakes.recording_reasoner import Step

PLAN = QueryPlan(
    sets={"A": PlanSet(start="topic:0", path=("spouse", "born_in"))}, answer=("A",), topics=("ann quill",)
)
QUESTION = Question(id="1", question="where was ann quill's wife born", answers=("Ulm",), plan=PLAN)
WIFE = Evidence(start="Ea1b2c", start_concept="person", path=["spouse"], end="Eb2c3d", end_concept="person", size="1")


@pytest.fixture(scope="module")
def scorer(embedder: Embedder) -> PathScorer:
    return PathScorer(embedder)


def step(*candidates: Candidate, evidence: tuple[Evidence, ...] = (), answer: tuple[str, ...] = ()) -> Step:
    asked = StepInput(
        question="where was Ea1b2c's wife born",
        dialogue=[],
        path=[],
        things=[Thing(name="Ea1b2c", concept="person", size="1")],
        evidence=list(evidence),
        candidates=list(candidates),
        round=1,
        last_round=False,
        width=3,
    )
    action = "answer" if answer else "follow"
    return Step(asked, StepReply(action=action, answer=list(answer)))


def way(number: int, start: str, *path: str) -> Candidate:
    return Candidate(number=number, start=start, path=list(path), concept="thing")


def trail(scorer: PathScorer, *steps: Step, question: Question = QUESTION) -> PathTrail:
    found = trail_of(question, steps, scorer)
    assert found is not None
    return found


def test_the_followed_path_leads_to_what_the_answer_names(scorer: PathScorer) -> None:
    found = trail(scorer, step(way(1, "Eb2c3d", "born in"), evidence=(WIFE,), answer=("Eb2c3d",)))
    assert [each.path.steps for each in found.followed] == [("spouse",)]
    assert found.runner_up is not None
    assert found.runner_up.path.steps == ("spouse", "born in")
    assert found.words["Ea1b2c"] == "ann quill"
    (gold,) = found.gold
    assert (gold.root, gold.scored) == ("Ea1b2c", found.runner_up)
    assert found.offered


def test_an_answer_inside_functions_has_all_paths_to_its_operands(scorer: PathScorer) -> None:
    again = Evidence(
        start="Eb2c3d", start_concept="person", path=["born in"], end="Sc3d4e", end_concept="place", size="2-5"
    )
    found = trail(scorer, step(evidence=(WIFE, again), answer=("count(intersect(Eb2c3d, Sc3d4e))",)))
    assert [each.path.steps for each in found.followed] == [("spouse",), ("spouse", "born in")]


def test_a_gold_path_that_was_never_on_offer_is_told(scorer: PathScorer) -> None:
    assert trail(scorer, step(way(1, "Ea1b2c", "children"))).offered is False
    assert trail(scorer, step(way(1, "Ea1b2c", "spouse", "born in"))).offered
    assert trail(scorer, step(way(1, "Ea1b2c", "spouse"))).offered
    # After the last round nothing is offered any more: what the rounds before offered counts.
    assert trail(scorer, step(way(1, "Ea1b2c", "spouse")), step()).offered
    # Once its beginning is walked, the rest has to be on offer.
    begun = step(way(1, "Eb2c3d", "children"), evidence=(WIFE,))
    assert trail(scorer, step(way(1, "Ea1b2c", "spouse")), begun).offered is False


def test_without_a_plan_nothing_is_said_of_the_gold_path(scorer: PathScorer) -> None:
    asked = Question(id="1", question=QUESTION.question, answers=("Ulm",))
    found = trail(scorer, step(way(1, "Ea1b2c", "spouse")), question=asked)
    assert (found.gold, found.offered) == ((), None)


def test_the_answer_task_shows_paths_too_and_others_do_not(scorer: PathScorer) -> None:
    asked = AnswerInput(
        question="where was Ea1b2c's wife born",
        dialogue=[],
        path=[],
        things=[Thing(name="Ea1b2c", concept="person", size="1")],
        evidence=[WIFE],
        last_round=True,
    )
    reply = AnswerReply(thought="", sufficient=True, answer=["Eb2c3d"])
    found = trail(scorer, Step(asked, reply))
    assert [each.path.steps for each in found.followed] == [("spouse",)]
    ways = [way(1, "Eb2c3d", "born in")]
    choosing = Step(ChooseInput(question="", path=[], candidates=ways, width=1), ChooseReply(choices=[]))
    assert trail_of(QUESTION, [choosing], scorer) is None
    assert found.offered is False
    assert trail(scorer, choosing, Step(asked, reply)).offered


@pytest.mark.parametrize(
    ("sets", "answer", "paths"),
    [
        ({"A": ("topic:0", ("a", "b"))}, ("A",), [("topic:0", ("a", "b"))]),
        ({"A": ("topic:0", ("a",)), "B": ("difference(A, topic:0)", ("b",))}, ("B",), [("topic:0", ("a", "b"))]),
        ({"A": ("topic:0", ("a",)), "B": ("set:A", ("b",))}, ("count(B)",), [("topic:0", ("a", "b"))]),
        (
            {"A": ("topic:0", ("a",)), "B": ("topic:1", ("b",))},
            ("intersect(A, B)",),
            [("topic:0", ("a",)), ("topic:1", ("b",))],
        ),
        ({"A": ("topic:0", ("a",)), "K": ("kind:ward", ())}, ("intersect(A, K)",), [("topic:0", ("a",))]),
        ({"K": ("kind:ward", ())}, ('argmax(K, "beds")',), [("kind:ward", ())]),
        ({}, ('compare(topic:0, topic:1, "age")',), [("topic:0", ()), ("topic:1", ())]),
    ],
)
def test_a_plan_is_read_as_whole_paths(
    sets: dict[str, tuple[str, tuple[str, ...]]],
    answer: tuple[str, ...],
    paths: list[tuple[str, tuple[str, ...]]],
) -> None:
    planned = {letter: PlanSet(start=start, path=path) for letter, (start, path) in sets.items()}
    assert plan_paths(QueryPlan(sets=planned, answer=answer)) == paths
