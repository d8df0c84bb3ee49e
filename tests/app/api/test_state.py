"""Pace: replies to questions leave at ticks, whatever came of them; what they tell of time is in ticks, too."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field

import pytest

from app.api.state import TOTAL, ResponseTiming, state_of
from app.egress.guard import BlockedError
from client_sdk.protocol import ChatAnswer, Message, Usage
from tests.support.service import Running, question


@dataclass
class Clock:
    """Time that passes where somebody sleeps, and where a test says so."""

    at: float = 10.0
    slept: list[float] = field(default_factory=list)

    def now(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        assert seconds >= 0
        self.at += seconds
        self.slept.append(round(seconds, 6))
        await asyncio.sleep(0)

    def pace(self, step_s: float = 0.1) -> ResponseTiming:
        return ResponseTiming(step_s, self.now, self.sleep)


@pytest.mark.parametrize(
    ("worked", "waits"), [(0.0, 0.1), (0.03, 0.07), (0.0999, 0.0001), (0.1, 0.0), (0.13, 0.07), (1.01, 0.09)]
)
async def test_a_reply_waits_for_the_next_whole_step(worked: float, waits: float) -> None:
    clock = Clock()

    async def work() -> str:
        clock.at += worked
        return "done"

    assert await clock.pace().kept(work()) == "done"
    assert clock.slept == [pytest.approx(waits, abs=1e-6)]


async def test_a_failure_waits_as_an_answer_does_and_a_step_of_nothing_is_no_pace() -> None:
    clock = Clock()

    async def fail() -> None:
        clock.at += 0.02
        raise BlockedError(1)

    with pytest.raises(BlockedError):
        await clock.pace().kept(fail())
    assert clock.slept == [0.08]
    with pytest.raises(BlockedError):
        await clock.pace(0.0).kept(fail())
    assert clock.slept == [0.08]


async def test_who_hangs_up_waits_for_nothing() -> None:
    clock = Clock()
    work = asyncio.create_task(clock.pace().kept(asyncio.Event().wait()))
    await asyncio.sleep(0)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert clock.slept == []


@pytest.mark.parametrize(
    ("spent", "told"), [({}, 100), ({"linking": 3.1, "reasoning": 90.2}, 100), ({"x": 101}, 200), ({"x": 299}, 300)]
)
def test_what_a_reply_tells_of_time_is_its_sum_in_steps(spent: dict[str, float], told: float) -> None:
    answer = ChatAnswer(
        id="a", conversation="c", graph="g", message=Message(role="assistant", content="No."), answered=False,
        entities=[], evidence=[], grounded=True, ambiguous=[], usage=Usage(calls=2, milliseconds=spent),
    )  # fmt: skip
    assert Clock().pace().in_steps(answer).usage == Usage(calls=2, milliseconds={TOTAL: told})
    assert Clock().pace(0).in_steps(answer) == answer


async def test_every_reply_to_a_question_keeps_the_pace(service: Running) -> None:
    clock, headers = Clock(), service.key("default", "clinic")
    state_of(service.app).pace = clock.pace()
    for body, status in (
        (question(), 200),
        (question("Who is Nobody Known treated by?"), 200),
        (question(conversation="unknown"), 404),
    ):
        reply = await service.http.post("/chat", json=body, headers=headers)
        assert reply.status_code == status
        if status == 200:
            assert set(reply.json()["usage"]["milliseconds"]) == {TOTAL}
    assert clock.slept == [0.1] * 3

    def block() -> None:
        raise BlockedError(1)

    service.reasoner.before = block
    assert (await service.http.post("/chat", json=question(), headers=headers)).status_code == 500
    assert clock.slept == [0.1] * 4


async def test_the_events_of_a_stream_leave_at_ticks(service: Running) -> None:
    clock, headers = Clock(), service.key("default", "clinic")
    state_of(service.app).pace = clock.pace()
    reply = await service.http.post("/chat", json=question(stream=True), headers=headers)
    assert reply.status_code == 200
    assert "event: answer" in reply.text
    assert re.search(r'"milliseconds":\{"total":[1-9]\d*00\.0\}', reply.text)
    assert clock.slept
    # Time stands still but for the waits, so each of them ends at a whole step.
    assert all(waited in (0.0, 0.1) for waited in clock.slept)
