"""An endpoint that misbehaves in every way: right answers, refusals and typed errors, and nothing else."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from app.accounts.quotas import read_budget
from app.chat.search import ODD_COUNTS
from app.demo import GRAPH_FILE, POLICY_FILE, QUESTIONS_FILE
from client_sdk.answers.answer import Answer
from evaluation.bench.bench import CALLER, Bench
from evaluation.bench.report import RunLabel
from evaluation.datasets.questions import read_questions
from evaluation.fakes.faulty_endpoint import FAULTS, FaultyEndpoint
from evaluation.tables.endpoint_table import run_with_faults

QUESTIONS = read_questions(QUESTIONS_FILE)
POLICY = POLICY_FILE.read_text("utf-8")
# What even a second try does not mend within the deadline, or nobody can tell from a reply that is meant so.
NOT_MENDED = {"hang": {"DeadlineExceededError"}, "nonsense in the schema": {"right", "refused"}}
# The same endpoint answers every strategy: each fault meets one of them.
FAULTS_OF = {"sets": [*FAULTS], "arog": [*FAULTS][::4]}

pytestmark = [pytest.mark.usefixtures("no_waiting"), pytest.mark.model]


async def endings(strategy: str, *, always: bool) -> dict[str, set[str]]:
    """The end of a question that takes two calls, for each fault: of its first reply, or of every reply."""
    question = next(each for each in QUESTIONS if each.id == "nickname")
    endpoint = FaultyEndpoint(share=0.0)
    met: dict[str, set[str]] = {}
    async with Bench("scripted", scripted=endpoint, changes={"endpoint_deadline_s": 1.5}) as bench:
        loaded = bench.load("demo", [GRAPH_FILE], POLICY)
        label = RunLabel(set_name="demo", strategy=strategy, reasoner="scripted")
        for fault in FAULTS_OF[strategy]:
            endpoint.next = [fault] * (40 if always else 1)
            report, (outcome,) = await bench.ask(loaded, label, [question])
            right = outcome.answered and outcome.score.f1 == 1.0
            met[fault] = {outcome.problem or ("right" if right else "wrong" if outcome.answered else "refused")}
            assert report.leaks.leaks == 0
            for route in bench.endpoints:
                route.breaker.reset()
    return met


@pytest.mark.parametrize("strategy", ["sets", "arog"])
async def test_one_fault_is_mended(strategy: str) -> None:
    met = await endings(strategy, always=False)
    assert list(met) == FAULTS_OF[strategy]
    assert {fault: ended for fault, ended in met.items() if not ended <= NOT_MENDED.get(fault, {"right"})} == {}


@pytest.mark.parametrize("strategy", ["sets", "arog"])
async def test_a_fault_that_stays_ends_in_a_right_answer_a_refusal_or_a_typed_error(strategy: str) -> None:
    met = await endings(strategy, always=True)
    typed = {
        "ReplyUnusableError",
        "ReasonerUnavailableError",
        "EndpointRateLimitError",
        "DeadlineExceededError",
        "CircuitOpenError",
    }
    assert {fault: ended for fault, ended in met.items() if not ended <= typed | {"right", "refused"}} == {}
    mended = {"slow", "streamed", "stream without its end"} & set(met)
    assert mended <= {fault for fault, ended in met.items() if ended == {"right"}}
    assert mended


LIMIT = 200_000
COUNTS = [fault for fault in FAULTS if "count" in fault or "usage" in fault]
# Of one question, whatever the endpoint counts: all of them fit into the day.
MOST = LIMIT / (2 * len(COUNTS))


async def test_no_count_of_an_endpoint_lowers_a_tenants_day_or_spends_its_limit() -> None:
    question = next(each for each in QUESTIONS if each.id == "nickname")
    endpoint, notes, odd = FaultyEndpoint(share=0.0), list[str](), {}
    changes = {"tenant_tokens_per_day": LIMIT, "endpoint_prompt_price": 1.0, "endpoint_completion_price": 1.0}
    async with Bench("scripted", scripted=endpoint, changes=changes) as bench:
        loaded = bench.load("demo", [GRAPH_FILE], POLICY)
        label = RunLabel(set_name="demo", strategy="sets", reasoner="scripted")

        def see(_question: object, _outcome: object, answer: Answer | None, _steps: object) -> None:
            notes.extend(answer.usage.left_out if answer else ())

        used = [0]
        for fault in COUNTS * 2:
            endpoint.next = [fault] * 40
            notes.clear()
            _, (outcome,) = await bench.ask(loaded, label, [question], see=see)
            used.append(read_budget(bench.services.store.engine, bench.services.store.budgets, CALLER.tenant).used)
            told = (outcome.problem, outcome.score.f1, 0 < used[-1] - used[-2] < MOST, notes.count(ODD_COUNTS))
            if told != ("", 1.0, True, 1):
                odd[fault] = told
    assert odd == {}
    assert COUNTS


async def test_many_faults_leave_no_leak_no_wrong_answer_and_nothing_behind() -> None:
    before = len(asyncio.all_tasks())
    report = await run_with_faults([GRAPH_FILE], POLICY, QUESTIONS * 2, share=0.5, seed=3, call_deadline_s=1.0)
    assert report.passed, report
    assert (report.asked, report.wrong, report.leaks, report.logged, report.left) == (80, 0, 0, Counter(), Counter())
    assert set(report.injected) == set(FAULTS)
    assert report.right >= 48
    assert len(asyncio.all_tasks()) == before
