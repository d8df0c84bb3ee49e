"""Retries: what is worth one, how long the endpoint asks to wait, and why no connection came about."""

from __future__ import annotations

import asyncio
import datetime as dt
import errno
import socket
import ssl
from email.utils import format_datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.llm.endpoint.model_endpoint import (
    JITTER_S,
    CircuitBreaker,
    CircuitOpenError,
    DeadlineExceededError,
    EndpointRateLimitError,
    wait_before_retry,
)
from app.llm.endpoint.transport import connection_reason, wait_asked_s
from app.llm.reasoner import ReasonerRefusedError, ReasonerUnavailableError, ReplyUnusableError


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breaker(clock: Clock) -> CircuitBreaker:
    return CircuitBreaker(threshold=3, rest_s=10.0, harmless=(EndpointRateLimitError,), clock=clock)


def meet(breaker: CircuitBreaker, error: BaseException | None = None) -> None:
    """One request that ends in `error`."""
    if error is None:
        with breaker.watch():
            return
    with pytest.raises(type(error)), breaker.watch():
        raise error


def opened(breaker: CircuitBreaker) -> CircuitBreaker:
    for _ in range(3):
        meet(breaker, ReasonerUnavailableError("x"))
    return breaker


@pytest.mark.parametrize(
    "error",
    [
        ReasonerRefusedError("401"),
        ReplyUnusableError("x"),
        EndpointRateLimitError("429", None),
        asyncio.CancelledError(),
    ],
)
def test_what_shows_no_broken_endpoint_does_not_open_it(breaker: CircuitBreaker, error: BaseException) -> None:
    for _ in range(9):
        meet(breaker, error)
    assert breaker.lets_pass


def test_after_the_rest_one_request_tries_and_the_others_wait(breaker: CircuitBreaker, clock: Clock) -> None:
    opened(breaker)
    clock.now = 10.0
    with breaker.watch():
        assert (breaker.state, breaker.lets_pass) == ("trying", False)
        with pytest.raises(CircuitOpenError):
            meet(breaker)
    assert breaker.state == "closed"


def test_a_try_that_fails_makes_it_rest_again(breaker: CircuitBreaker, clock: Clock) -> None:
    opened(breaker)
    clock.now = 10.0
    meet(breaker, ReasonerUnavailableError("x"))
    assert not breaker.lets_pass
    clock.now = 20.0
    assert breaker.lets_pass


def test_a_try_whose_caller_goes_away_leaves_the_try_to_the_next(breaker: CircuitBreaker, clock: Clock) -> None:
    opened(breaker)
    clock.now = 10.0
    meet(breaker, asyncio.CancelledError())
    assert breaker.lets_pass
    meet(breaker)
    assert breaker.state == "closed"


NOW = dt.datetime(2026, 3, 1, 12, 0, 0, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"retry-after": format_datetime(NOW + dt.timedelta(seconds=9), usegmt=True)}, 9.0),
        ({"retry-after": "Sun, 01 Mar 2026 12:00:20 -0000"}, 20.0),
        ({"retry-after": format_datetime(NOW - dt.timedelta(hours=1), usegmt=True)}, 0.0),
        ({}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "inf"}, None),
    ],
)
def test_each_form_of_retry_after_is_read(headers: dict[str, str], seconds: float | None) -> None:
    assert wait_asked_s(headers, NOW) == seconds


@given(st.text(max_size=60))
def test_no_text_of_an_endpoint_makes_it_fail(text: str) -> None:
    seconds = wait_asked_s({"retry-after": text, "retry-after-ms": text}, NOW)
    assert seconds is None or seconds >= 0


def test_what_the_endpoint_asks_for_is_kept_with_some_jitter() -> None:
    waits = [wait_before_retry(EndpointRateLimitError("429", 7.0), 0, left_s=60.0) for _ in range(50)]
    assert all(7.0 <= wait <= 7.0 + JITTER_S for wait in waits)
    assert len(set(waits)) > 1


def test_a_wait_that_would_pass_the_deadline_is_not_begun() -> None:
    assert wait_before_retry(EndpointRateLimitError("429", 7.0), 0, left_s=6.0) is False
    assert wait_before_retry(EndpointRateLimitError("429", 0.0), 0, left_s=60.0) is not False
    assert wait_before_retry(ReasonerUnavailableError("500"), 0, left_s=0.1) is False


@pytest.mark.parametrize(
    "error",
    [
        ReasonerRefusedError("401"),
        ReplyUnusableError("x"),
        CircuitOpenError("x"),
        DeadlineExceededError("x"),
        OSError(),
    ],
)
def test_what_another_try_does_not_mend_is_not_tried_again(error: Exception) -> None:
    assert wait_before_retry(error, 0, left_s=60.0) is False


def chained(*errors: BaseException) -> BaseException:
    for error, cause in pairwise(errors):
        error.__cause__ = cause
    return errors[0]


@pytest.mark.parametrize(
    ("cause", "reason"),
    [
        (ConnectionRefusedError(errno.ECONNREFUSED, "127.0.0.1:9"), "connection refused"),
        (socket.gaierror(-2, "box.internal"), "its host name is not known"),
        (ssl.SSLCertVerificationError("box.internal"), "its certificate is not trusted"),
        (OSError(errno.EHOSTUNREACH, "box.internal"), "there is no route to its host"),
        (
            ExceptionGroup("all", [OSError("x"), ConnectionRefusedError(errno.ECONNREFUSED, "::1")]),
            "connection refused",
        ),
        (OSError("box.internal"), ""),
    ],
)
def test_the_reason_is_that_of_the_deepest_cause_and_holds_no_address(cause: BaseException, reason: str) -> None:
    assert connection_reason(chained(RuntimeError("a"), OSError("b"), cause)) == reason
