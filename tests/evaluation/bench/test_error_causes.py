"""Every cause of a wrong answer is told from the paths that were followed and those that the gold plan has."""

from __future__ import annotations

import pytest

from app.reader.plans.candidate_paths import KnownPath, ScoredPath
from client_sdk.answers.answer import Answer
from client_sdk.protocol import Usage
from evaluation.bench.asker import QuestionOutcome
from evaluation.bench.error_causes import cause_of
from evaluation.bench.path_trail import GoldPath, PathTrail
from evaluation.checks.metrics import Score
from evaluation.datasets.questions import PlanSet, QueryPlan, Question

GOLD = ("spouse", "^parents")


def scored(*steps: str, root: str = "Ea1b2c", concept: str = "person") -> ScoredPath:
    return ScoredPath(KnownPath(root, steps, ("",) * (len(steps) - 1) + (concept,), "Eend12", None, None), 0.5)


def trail(
    *followed: ScoredPath,
    gold: tuple[tuple[str, ...], ...] = (GOLD,),
    expressions: tuple[str, ...] | None = None,
    offered: bool | None = True,
    runner_up: ScoredPath | None = None,
) -> PathTrail:
    paths = tuple(GoldPath("Ea1b2c", steps, scored(*steps)) for steps in gold)
    said = ("Eend12",) if followed else ()
    return PathTrail(said if expressions is None else expressions, followed, runner_up, paths, offered, {})


def question(answer: str = "A", answers: tuple[str, ...] = ("Bo",), **more: object) -> Question:
    plan = QueryPlan(sets={"A": PlanSet(start="topic:0", path=GOLD)}, answer=(answer,))
    return Question.model_validate({"id": "1", "question": "?", "answers": answers, "plan": plan, **more})


def answer(ambiguous: bool = False) -> Answer:
    choices: dict[str, tuple[str, ...]] = {"Ann": ("Ann Lee", "Ann Quill")} if ambiguous else {}
    return Answer("a", "c", "", "", True, True, (), (), choices, (), Usage())


def outcome(answered: bool = True, missed: tuple[str, ...] = ()) -> QuestionOutcome:
    return QuestionOutcome("1", "", Score(0, 0), answered, True, not missed, missed_topics=missed)


@pytest.mark.parametrize(
    ("paths", "cause"),
    [
        (trail(scored("spouse")), "one hop too few"),
        (trail(scored("^parents")), "one hop too few"),
        (trail(scored("spouse", "^parents", "spouse")), "one hop too many"),
        (trail(scored("parents", "spouse", "^parents")), "one hop too many"),
        (trail(scored("spouse", "parents")), "wrong direction"),
        (trail(scored("spouse", "^parents", root="Eother1")), "started elsewhere"),
        (trail(scored("gender", root="Eother1")), "started elsewhere"),
        (trail(scored("gender", concept="gender")), "wrong kind of answer"),
        (trail(scored("siblings")), "wrong relation"),
        (trail(scored("spouse"), scored("siblings")), "a leg missing or added"),
        (trail(scored(*GOLD), expressions=("count(Eend12)",)), "wrong form"),
        (trail(scored(*GOLD), expressions=('argmax(Eend12, "age")',)), "wrong form"),
        (trail(scored(*GOLD), offered=False), "right path not offered"),
        (trail(scored("Spouse", "^Parents")), "other"),
    ],
)
def test_paths_tell_the_cause(paths: PathTrail, cause: str) -> None:
    assert cause_of(question(), outcome(), answer(), paths) == cause


def test_a_path_through_a_mediator_walked_backwards_is_a_wrong_direction() -> None:
    gold = trail(scored("^play|cast"), gold=(("^cast|play",),))
    assert cause_of(question(), outcome(), answer(), gold) == "wrong direction"


def test_the_right_path_may_give_wrong_names() -> None:
    right = trail(scored(*GOLD))
    assert cause_of(question(), outcome(), answer(ambiguous=True), right) == "linking ambiguous"
    differs = question(reproduced=False)
    assert cause_of(differs, outcome(), answer(), right) == "right path, gold differs from the graph"
    sets = {"A": PlanSet(start="topic:0", path=GOLD[:1]), "B": PlanSet(start="difference(A, topic:0)", path=GOLD[1:])}
    others = question(plan=QueryPlan(sets=sets, answer=("B",)))
    assert cause_of(others, outcome(), answer(), right) == "right path, went on from the topic itself"
    extreme = question('argmax(A, "age")')
    oldest = trail(scored(*GOLD), expressions=('argmin(Eend12, "height")',))
    assert cause_of(extreme, outcome(), answer(), oldest) == "wrong relation"


def test_refusals_are_told_by_where_the_gold_path_came() -> None:
    refused = outcome(answered=False)
    assert cause_of(question(), refused, answer(), trail()) == "refused though answerable"
    first = trail(runner_up=scored(*GOLD))
    assert cause_of(question(), refused, answer(), first) == "refused though the gold path came first"
    assert cause_of(question(), refused, answer(), trail(offered=False)) == "right path not offered"
    # An answer that came out empty is no refusal of the reasoner's.
    assert cause_of(question(), refused, answer(), trail(scored("spouse"))) == "one hop too few"


def test_what_is_no_matter_of_paths_comes_first() -> None:
    paths = trail(scored("spouse"))
    assert cause_of(question(), outcome(), None, paths) == "no answer came"
    assert cause_of(question(), outcome(missed=("Ann",)), answer(), paths) == "linking missed"
    assert cause_of(question(answers=()), outcome(), answer(), paths) == "answered though unanswerable"
    unplanned = Question(id="1", question="?", answers=("Bo",))
    assert cause_of(unplanned, outcome(), answer(), trail(scored("a"), offered=None)) == "no gold path is known"
