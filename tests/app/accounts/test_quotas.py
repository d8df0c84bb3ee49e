"""Budgets of tokens: a tenant's day in the database, and what a caller and an admin see of it."""

from __future__ import annotations

import datetime as dt
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import Engine

from app.accounts.quotas import Budgets, RevealBudgets, TenantTokens, read_budget
from app.api.problems import problem_of
from app.egress.budgets import ConversationRevealsUsedUpError, TenantBudgetUsedUpError, TenantRevealsUsedUpError
from tests.support.service import OPERATOR, Running, question, running
from tests.support.waiting import run_together

NOON = dt.datetime(2031, 5, 7, 12, tzinfo=dt.UTC)
BY_TOKENS = {"reasoner": "endpoint", "endpoint_url": "http://127.0.0.1:9/v1", "endpoint_model": "m"}


def test_what_is_reserved_counts_until_it_is_settled(engine: Engine) -> None:
    tokens = TenantTokens(engine, 100, lambda: NOON)
    account = tokens.account("t1")
    account.reserve(60, spent=0)
    assert tokens.used_today("t1") == 60
    # The first call took 20 of its 60.
    account.reserve(70, spent=20)
    assert tokens.used_today("t1") == 90
    account.settle(35)
    account.settle(35)
    assert tokens.used_today("t1") == 35


def test_what_does_not_fit_counts_nothing_and_tells_when_it_renews(engine: Engine) -> None:
    tokens = TenantTokens(engine, 100, lambda: NOON)
    tokens.account("t1").reserve(100, spent=0)
    account = tokens.account("t1")
    with pytest.raises(TenantBudgetUsedUpError) as caught:
        account.reserve(1, spent=0)
    assert caught.value.renews_in_s == 12 * 3600
    account.settle(0)
    told = read_budget(engine, Budgets(tenants=tokens), "t1")
    assert (told.used, told.limit, told.renews_at) == (100, 100, dt.datetime(2031, 5, 8, tzinfo=dt.UTC))
    tokens.account("t2").reserve(100, spent=0)


def test_a_question_counts_for_the_day_on_which_it_began(engine: Engine) -> None:
    clock = [dt.datetime(2031, 5, 7, 23, 59, 59, tzinfo=dt.UTC)]
    tokens = TenantTokens(engine, 100, lambda: clock[0])
    account = tokens.account("t1")
    account.reserve(90, spent=0)
    clock[0] += dt.timedelta(seconds=2)
    assert tokens.used_today("t1") == 0
    account.settle(80)
    assert tokens.used_today("t1") == 0
    clock[0] -= dt.timedelta(seconds=2)
    assert tokens.used_today("t1") == 80


def test_many_at_once_never_pass_the_limit(engine: Engine) -> None:
    tokens = TenantTokens(engine, 100, lambda: NOON)
    passed: list[int] = []

    def ask() -> None:
        try:
            tokens.account("t1").reserve(9, spent=0)
            passed.append(9)
        except TenantBudgetUsedUpError:
            pass

    run_together(*(ask for _ in range(16)))
    assert (len(passed), tokens.used_today("t1")) == (11, 99)


async def ask(service: Running, key: dict[str, str]) -> tuple[int, dict[str, object], dict[str, str]]:
    reply = await service.http.post("/chat", json=question(), headers=key)
    return reply.status_code, reply.json(), dict(reply.headers)


async def test_a_tenant_over_its_day_is_told_when_it_renews_and_nothing_is_sent(tmp_path: Path) -> None:
    async with running(tmp_path, **BY_TOKENS, tenant_tokens_per_day=60) as service:
        service.load()
        service.load("other")
        key, theirs = service.key("default", "clinic"), service.key("other", "clinic")
        # The scripted reasoner's replies are of up to 50 tokens, and its prompt of some; it tells of none taken.
        assert (await ask(service, key))[0] == 200
        service.services.store.budgets.tenants.account("default").settle(20)  # type: ignore[union-attr]
        status, told, headers = await ask(service, key)
        assert (status, told["code"]) == (429, "budget_used_up")
        assert 0 < int(headers["retry-after"]) <= 24 * 3600
        assert "GET /admin/budget" in str(told["hint"])
        assert len(service.reasoner.sent) == 1
        assert len(service.services.store.ledger.entries("default")) == 1
        assert (await ask(service, theirs))[0] == 200
        metrics = (await service.http.get("/metrics")).text
        assert 'arog_errors_total{code="budget_used_up"} 1.0' in metrics


async def test_a_question_that_a_strategy_does_not_end_itself_is_a_typed_error(tmp_path: Path) -> None:
    async with running(tmp_path, **BY_TOKENS, question_tokens=50) as service:
        service.load()
        status, told, _ = await ask(service, service.key("default", "clinic"))
        assert (status, told["code"], service.reasoner.sent) == (429, "budget_used_up", [])


async def test_an_admin_sees_the_tenants_day_and_only_the_operator_anothers(tmp_path: Path) -> None:
    async with running(tmp_path, **BY_TOKENS, tenant_tokens_per_day=1000, question_tokens=300) as service:
        service.services.store.budgets.tenants.account("other").settle(20)  # type: ignore[union-attr]
        admin = service.key("other", role="admin")
        own = (await service.http.get("/admin/budget", headers=admin)).json()
        assert (own["used"], own["limit"], own["per_question"]) == (20, 1000, 300)
        named = await service.http.get("/admin/budget?tenant=other", headers=OPERATOR)
        assert named.json() == own
        refused = await service.http.get("/admin/budget?tenant=default", headers=admin)
        assert (refused.status_code, refused.json()["code"]) == (403, "not_permitted")
        user = await service.http.get("/admin/budget", headers=service.key("other", "clinic"))
        assert user.status_code == 403


# --- what prompts show --------------------------------------------------------------------------------------


def facts(*numbers: int) -> frozenset[str]:
    return frozenset(f"Eq7f2k > relation {number}" for number in numbers)


def test_a_fact_counts_once_in_a_conversation_and_once_more_in_the_next(engine: Engine) -> None:
    budgets = RevealBudgets(engine, now=lambda: NOON)
    shown: set[str] = set()
    for numbers in ((1, 2), (1, 2, 3), (3,), ()):
        budgets.of("t1", shown).take(facts(*numbers))
    assert (len(shown), budgets.shown_today("t1")) == (3, 3)
    budgets.of("t1", set()).take(facts(1))
    assert (budgets.shown_today("t1"), budgets.shown_today("t2")) == (4, 0)
    assert not [word for word in shown if "relation" in word or "Eq7f2k" in word]


def test_a_conversation_shows_no_more_than_it_may(engine: Engine) -> None:
    budgets, shown = RevealBudgets(engine, conversation=3, now=lambda: NOON), set[str]()
    budgets.of("t1", shown).take(facts(1, 2))
    with pytest.raises(ConversationRevealsUsedUpError):
        budgets.of("t1", shown).take(facts(2, 3, 4))
    assert (len(shown), budgets.shown_today("t1")) == (2, 2)
    budgets.of("t1", shown).take(facts(2, 3))
    budgets.of("t1", set()).take(facts(4))


def test_a_day_shows_no_more_than_it_may_and_tells_when_it_renews(engine: Engine) -> None:
    clock = [NOON]
    budgets, shown = RevealBudgets(engine, tenant=3, now=lambda: clock[0]), set[str]()
    budgets.of("t1", set()).take(facts(1, 2))
    with pytest.raises(TenantRevealsUsedUpError) as caught:
        budgets.of("t1", shown).take(facts(1, 2))
    assert (caught.value.renews_in_s, shown, budgets.shown_today("t1")) == (12 * 3600, set(), 2)
    budgets.of("t2", set()).take(facts(1, 2, 3))
    clock[0] += dt.timedelta(hours=12)
    budgets.of("t1", shown).take(facts(1, 2))
    assert budgets.shown_today("t1") == 2


def test_many_at_once_do_not_take_a_day_over_what_it_may_show(engine: Engine) -> None:
    budgets, refused = RevealBudgets(engine, tenant=20, now=lambda: NOON), list[int]()

    def ask(number: int) -> None:
        try:
            budgets.of("t1", set()).take(facts(number, number + 1, number + 2))
        except TenantRevealsUsedUpError:
            refused.append(number)

    run_together(*(partial(ask, number) for number in range(10)))
    assert (budgets.shown_today("t1"), len(refused)) == (18, 4)


@pytest.mark.parametrize(
    ("error", "advice"),
    [(ConversationRevealsUsedUpError(""), "begin a new one"), (TenantRevealsUsedUpError(7200), "in 2 h 0 min")],
)
def test_who_is_refused_is_told_what_to_do(error: Exception, advice: str) -> None:
    told = problem_of(error)
    assert (told.status, told.code) == (429, "budget_used_up")
    assert advice in told.hint
