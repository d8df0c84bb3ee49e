"""Retries: what is worth one, and how long the endpoint asks to wait, in each form of Retry-After."""

from __future__ import annotations

import datetime as dt
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.llm.endpoint.circuit_breaker import CircuitOpenError
from app.llm.endpoint.retry import (
    FIRST_WAIT_S,
    JITTER_S,
    LONGEST_WAIT_S,
    DeadlineExceededError,
    EndpointRateLimitError,
    retry_after_s,
    wait_before_retry,
)
from app.llm.reasoner import ReasonerRefusedError, ReasonerUnavailableError, ReplyUnusableError

NOW = dt.datetime(2026, 3, 1, 12, 0, 0, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"retry-after": format_datetime(NOW + dt.timedelta(seconds=9), usegmt=True)}, 9.0),
        ({"retry-after": "Sun, 01 Mar 2026 12:00:20 -0000"}, 20.0),
        ({"retry-after": format_datetime(NOW - dt.timedelta(hours=1), usegmt=True)}, 0.0),
        ({}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after-ms": "soon", "retry-after": "7"}, 7.0),
    ],
)
def test_each_form_of_retry_after_is_read(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_s(headers, NOW) == seconds


@given(st.text(max_size=60))
def test_no_text_of_an_endpoint_makes_it_fail(text: str) -> None:
    seconds = retry_after_s({"retry-after": text, "retry-after-ms": text}, NOW)
    assert seconds is None or seconds >= 0


def test_what_the_endpoint_asks_for_is_kept_with_some_jitter() -> None:
    waits = [wait_before_retry(EndpointRateLimitError("429", 7.0), 0, left_s=60.0) for _ in range(50)]
    assert all(7.0 <= wait <= 7.0 + JITTER_S for wait in waits)
    assert len(set(waits)) > 1


def test_a_wait_that_would_pass_the_deadline_is_not_begun() -> None:
    assert wait_before_retry(EndpointRateLimitError("429", 7.0), 0, left_s=6.0) is False
    assert wait_before_retry(EndpointRateLimitError("429", 0.0), 0, left_s=60.0) is not False
    assert wait_before_retry(ReasonerUnavailableError("500"), 0, left_s=0.1) is False


def test_waits_grow_up_to_the_longest() -> None:
    for failed, usual_s in enumerate([FIRST_WAIT_S, FIRST_WAIT_S * 2, LONGEST_WAIT_S, LONGEST_WAIT_S]):
        wait_s = wait_before_retry(ReasonerUnavailableError("500"), failed, left_s=60.0)
        assert usual_s <= wait_s <= usual_s + JITTER_S


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
