"""Work in one thread: what it hands to threads runs where it is, and it ends when it is cancelled."""

from __future__ import annotations

import asyncio
import threading

import pytest

from app.chat.question_thread import in_one_thread, told_in_loop


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
