from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx2
import pytest

from client_sdk.errors import (
    ArogError,
    BadAnswerError,
    NotReadyError,
    RateLimitedError,
    RequestTimeoutError,
    UnreachableError,
)
from client_sdk.protocol import LedgerPage
from client_sdk.transport.flow import Call, Flow, Pause, Reply, RetryPolicy, Send, exchange

OK = Reply(200, b'{"entries": []}')
POST = Call("POST", "/chat", b"{}")
GET = Call("GET", "/ledger", repeatable=True)
CALLS = (POST, GET)
UNREACHED = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)
BROKEN = (httpx2.ReadError, httpx2.WriteError, httpx2.RemoteProtocolError)

Happening = Reply | httpx2.TransportError | Callable[[], Reply]


class Played:
    """Runs a flow with what happens at each send; a pause moves the clock on."""

    def __init__(self, call: Call, happenings: list[Happening], send_s: float = 0.0, **patience: float) -> None:
        self.now, self.sends, self.pauses = 1000.0, 0, []
        self.result: LedgerPage | ArogError
        flow = exchange(call, LedgerPage, RetryPolicy(**{"timeout_s": 100.0, **patience}), lambda: self.now)
        try:
            self.result = self._play(flow, iter(happenings), send_s)
        except ArogError as error:
            self.result = error

    def _play(self, flow: Flow[LedgerPage], happenings, send_s: float) -> LedgerPage:
        try:
            step = next(flow)
            while True:
                if isinstance(step, Pause):
                    self.now += step.seconds
                    self.pauses.append(step.seconds)
                    step = flow.send(None)
                    continue
                assert isinstance(step, Send)
                assert step.deadline > self.now
                self.sends, self.now = self.sends + 1, self.now + send_s
                happened = next(happenings)
                step = flow.throw(happened) if isinstance(happened, Exception) else flow.send(happened)
        except StopIteration as done:
            return done.value


def busy(retry_after: str | None, status: int = 429) -> Reply:
    return Reply(status, b"", retry_after)


# The call, what happens, the most that a user waits; the kind of its end, how often it is sent, and the pauses.
ENDS: list[tuple[Call, list[Happening], dict[str, float], type, int, list[float]]] = [
    # What never reached the service is sent again once.
    *((call, [kind("x"), OK], {}, LedgerPage, 2, [0.2]) for call in (POST, GET) for kind in UNREACHED),
    *(
        (call, [kind("x"), kind("x"), OK], {}, UnreachableError, 2, [0.2])
        for call in (POST, GET)
        for kind in UNREACHED
    ),
    # A question whose connection broke is not; a repeatable call is.
    *((POST, [kind("x"), OK], {}, UnreachableError, 1, []) for kind in BROKEN),
    (GET, [httpx2.ReadError("x"), OK], {}, LedgerPage, 2, [0.2]),
    (POST, [httpx2.ReadTimeout("x"), OK], {}, RequestTimeoutError, 1, []),
    # A wait that the service asks for is waited for, where it ends before the deadline.
    *((POST, [busy("7", status), busy("0", status), OK], {}, LedgerPage, 3, [7.0, 0.5]) for status in (429, 503)),
    (POST, [busy("100"), OK], {}, RateLimitedError, 1, []),
    (POST, [httpx2.ConnectTimeout("x"), OK], {"timeout_s": 10, "send_s": 10}, UnreachableError, 1, []),
    # Without a usable one nothing is repeated.
    *((POST, [busy(value), OK], {}, RateLimitedError, 1, []) for value in (None, "soon", "nan", "inf", "", "Thu, 99")),
    # Pauses between connections double up to five seconds.
    (
        POST,
        [httpx2.ConnectError("x")] * 99,
        {"timeout_s": 1e9, "connect_retries": 7},
        UnreachableError,
        8,
        [0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0],
    ),
]


@pytest.mark.parametrize(("call", "happenings", "patience", "end", "sends", "pauses"), ENDS)
def test_a_call_is_sent_again_only_where_that_is_safe_and_in_time(
    call: Call, happenings: list[Happening], patience: dict[str, float], end: type, sends: int, pauses: list[float]
) -> None:
    played = Played(call, happenings, **patience)
    assert (type(played.result), played.sends, played.pauses) == (end, sends, pauses)


def test_retry_after_as_a_date_is_waited_for() -> None:
    when = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    (pause,) = Played(POST, [busy(when), OK]).pauses
    assert 25 < pause <= 30


def test_all_sends_and_waits_together_stay_within_the_deadline() -> None:
    played = Played(POST, [busy("30", 503)] * 9, timeout_s=100, send_s=10)
    assert isinstance(played.result, NotReadyError)
    assert played.now <= 1100


def test_an_endless_retry_after_ends() -> None:
    assert Played(POST, [busy("0")] * 99, timeout_s=1e9).sends == 6


@pytest.mark.parametrize("retries", [0, 1, 9])
def test_retries_bound_how_often_a_call_is_sent_again(retries: int) -> None:
    assert Played(POST, [busy("0")] * 99, timeout_s=1e9, retries=retries).sends == 1 + retries
    refused = Played(POST, [httpx2.ConnectError("x")] * 99, timeout_s=1e9, connect_retries=retries)
    assert isinstance(refused.result, UnreachableError)
    assert refused.sends == 1 + retries


def test_no_number_of_retries_sends_a_question_again_that_may_have_been_taken() -> None:
    many = {"retries": 9, "connect_retries": 9}
    for happening in (httpx2.ReadError("x"), httpx2.ReadTimeout("x"), busy("1", 500), busy("1", 502), busy(None)):
        assert Played(POST, [happening, OK], **many).sends == 1


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"entries": [{"id": "Anna Keller"}]}', b"\xff"])
def test_a_reply_of_another_form_is_an_error_that_does_not_quote_it(body: bytes) -> None:
    played = Played(POST, [Reply(200, body)])
    assert isinstance(played.result, BadAnswerError)
    assert "Anna" not in str(played.result)


def test_steps_show_no_body() -> None:
    assert "Anna" not in repr(Send(Call("POST", "/chat", b"Anna"), 1.0, 1.0))
    assert "Anna" not in repr(Reply(200, b"Anna"))
