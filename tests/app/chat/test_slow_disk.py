"""A slow disk holds up one question and not the event loop: whatever waits for the database waits in a thread."""

from __future__ import annotations

import asyncio
import itertools
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Engine, event

from app.accounts.quotas import Budgets, RevealBudgets, TenantTokens
from app.chat.question_run import ChatOptions
from app.egress.disclosure import Disclosure, Profile
from app.llm.embeddings.embedder import Embedder
from app.llm.endpoint.prompted_reasoner import PromptedReasoner
from app.wiring.store import ServiceContext
from tests.support.house import DOCTOR_OF, House, clinic_store, drafting, sets_house
from tests.support.processes.model_server import ModelServer

STATEMENT_S = 0.3
TICK_S = 0.01
MAX_BLOCKED_S = 1.0


@pytest.fixture
def store(embedder: Embedder, tmp_path: Path) -> Iterator[ServiceContext]:
    with clinic_store(tmp_path, embedder) as store:
        yield store


@pytest.fixture
def house(store: ServiceContext, embedder: Embedder, model: PromptedReasoner) -> House:
    """A service that uses the database for all that it may: conversation, ledger, both budgets of a day."""
    budgets = Budgets(100_000, TenantTokens(store.engine, 1_000_000), RevealBudgets(store.engine, 500, 5_000))
    options = ChatOptions(budgets=budgets, profile=Profile.KIND, disclosure=Disclosure())
    return sets_house(store, embedder, options, model)


@contextmanager
def slow(engine: Engine) -> Iterator[list[str]]:
    """Every statement takes its time; which threads waited for one."""
    waited: list[str] = []

    def wait(*_of_the_statement: object) -> None:
        waited.append(threading.current_thread().name)
        time.sleep(STATEMENT_S)

    event.listen(engine, "before_cursor_execute", wait)
    try:
        yield waited
    finally:
        event.remove(engine, "before_cursor_execute", wait)


@asynccontextmanager
async def ticking() -> AsyncIterator[list[float]]:
    """When the event loop came round to a task that only wants to be called often."""
    ticks = [time.perf_counter()]

    async def tick() -> None:
        while True:
            await asyncio.sleep(TICK_S)
            ticks.append(time.perf_counter())

    ticker = asyncio.create_task(tick())
    try:
        yield ticks
    finally:
        ticker.cancel()
        await asyncio.gather(ticker, return_exceptions=True)


async def test_no_statement_of_a_question_runs_on_the_event_loop(
    house: House, store: ServiceContext, server: ModelServer
) -> None:
    server.replies = drafting("{treated by}")
    # What is made once for a graph is there.
    await house.ask(DOCTOR_OF)
    with slow(store.engine) as waited:
        async with ticking() as ticks:
            assert (await house.ask(DOCTOR_OF)).names == ["Ottoline Brackwater"]
            assert (await house.ask("Why?")).answered
    took = ticks[-1] - ticks[0]
    assert threading.main_thread().name not in waited
    # Of the two days' budgets, the conversation, two requests to the model and what came back.
    assert len(waited) >= 10
    assert took > len(waited) * STATEMENT_S
    # On a loaded machine a tick may come late, but never by all that the statements took.
    assert max(later - earlier for earlier, later in itertools.pairwise(ticks)) < MAX_BLOCKED_S
