"""Breaker: when an endpoint is let rest, who tries it afterwards, and what is no failure."""

from __future__ import annotations

import asyncio

import pytest

from app.llm.endpoint.circuit_breaker import CircuitBreaker, CircuitOpenError
from app.llm.endpoint.retry import EndpointRateLimitError
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


def test_it_opens_after_failures_in_a_row_alone(breaker: CircuitBreaker) -> None:
    for error in (ReasonerUnavailableError("x"), ReasonerUnavailableError("x"), None, ReasonerUnavailableError("x")):
        meet(breaker, error)
    assert (breaker.state, breaker.lets_pass) == ("closed", True)
    opened(breaker)
    assert (breaker.state, breaker.lets_pass) == ("open", False)
    with pytest.raises(CircuitOpenError):
        meet(breaker)


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
