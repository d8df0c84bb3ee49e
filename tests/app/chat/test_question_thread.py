"""Work in one thread: what it hands to threads runs where it is, and it ends when it is cancelled."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from app.chat.question_thread import in_one_thread, in_service_loop, told_in_loop


async def thread_of_a_call() -> int:
    return await asyncio.to_thread(threading.get_ident)


async def test_all_that_the_work_hands_to_threads_runs_in_one_that_is_not_the_callers() -> None:
    async def work() -> set[int]:
        nested = await in_one_thread(thread_of_a_call)
        return {threading.get_ident(), await thread_of_a_call(), await thread_of_a_call(), nested}

    threads = await in_one_thread(work)
    assert len(threads) == 1
    assert threading.get_ident() not in threads


async def test_an_error_of_the_work_or_of_what_it_calls_is_raised() -> None:
    def fails() -> None:
        raise ValueError("of a call")

    async def work() -> None:
        await asyncio.to_thread(fails)

    with pytest.raises(ValueError, match="of a call"):
        await in_one_thread(work)


async def test_cancelled_work_ends_at_its_next_await_and_before_the_cancellation_is_raised() -> None:
    begun, goes_on, after = threading.Event(), threading.Event(), list[str]()

    def waits() -> None:
        begun.set()
        goes_on.wait(10)
        after.append("the call")

    async def work() -> None:
        await asyncio.to_thread(waits)
        after.append("what follows")

    running = asyncio.create_task(in_one_thread(work))
    await asyncio.to_thread(begun.wait, 10)
    running.cancel()
    await asyncio.sleep(0)
    assert not running.done()
    goes_on.set()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert after == ["the call"]


async def test_progress_is_told_in_the_callers_loop_in_order_before_the_work_is_done() -> None:
    told = list[tuple[int, int]]()
    tell = told_in_loop(lambda number: told.append((number, threading.get_ident())))

    async def work() -> None:
        for number in range(3):
            tell(number)
            await thread_of_a_call()

    await in_one_thread(work)
    tell(3)
    assert told == [(number, threading.get_ident()) for number in range(4)]


async def test_a_call_for_the_services_loop_runs_there_and_gives_its_result_or_error_to_the_work() -> None:
    async def outside(number: int) -> tuple[int, int]:
        if number < 0:
            raise ValueError("of a call outside")
        return number, threading.get_ident()

    async def work() -> tuple[int, int]:
        with pytest.raises(ValueError, match="of a call outside"):
            await in_service_loop(lambda: outside(-1))
        return await in_service_loop(lambda: outside(1))

    assert await in_one_thread(work) == (1, threading.get_ident())
    assert await in_service_loop(lambda: outside(2)) == (2, threading.get_ident())


async def test_work_that_waits_for_the_services_loop_holds_no_thread() -> None:
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
    all_wait, waiting = asyncio.Event(), list[int]()

    async def outside(number: int) -> int:
        waiting.append(number)
        if len(waiting) == 3:
            all_wait.set()
        await all_wait.wait()
        return number

    async def work(number: int) -> int:
        return await in_service_loop(lambda: outside(number)) + await asyncio.to_thread(lambda: number)

    # With one thread, all three wait at once only if none of them keeps it.
    found = await asyncio.wait_for(asyncio.gather(*(in_one_thread(partial(work, each)) for each in range(3))), 10)
    assert found == [0, 2, 4]


async def test_work_that_is_cancelled_while_it_waits_ends_its_blocks_first() -> None:
    waits, after = asyncio.Event(), list[str]()

    async def outside() -> None:
        waits.set()
        await asyncio.Event().wait()

    async def work() -> None:
        try:
            await in_service_loop(outside)
        finally:
            await asyncio.to_thread(after.append, "recorded")

    running = asyncio.create_task(in_one_thread(work))
    await waits.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert after == ["recorded"]
