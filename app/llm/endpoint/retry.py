"""Retrying: which failures are worth another try, and how long to wait before it."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from typing import Literal

import stamina

from app.llm.reasoner import ReasonerError, ReasonerUnavailableError

State = Literal["closed", "open", "trying"]


class CircuitOpenError(ReasonerUnavailableError):
    """Nothing was sent, because the endpoint failed too often and rests."""


class CircuitBreaker:
    """Opens after `threshold` failures in a row for `rest_s` seconds; then one request tries while the others wait.

    ReasonerUnavailableError counts as a failure unless it is one of `harmless`. Any other result shows that the
    endpoint works.
    """

    def __init__(
        self,
        threshold: int = 5,
        rest_s: float = 15.0,
        harmless: tuple[type[ReasonerError], ...] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._threshold, self._rest_s, self._harmless, self._clock = threshold, rest_s, harmless, clock
        self._failures, self._reason = 0, ""
        self._rests_until = 0.0
        self._is_tried = False

    @property
    def state(self) -> State:
        if self._failures < self._threshold:
            return "closed"
        return "trying" if self._is_tried else "open"

    @property
    def lets_pass(self) -> bool:
        """True if a request would be sent now."""
        return self.state == "closed" or (self.state == "open" and self._clock() >= self._rests_until)

    def reset(self) -> None:
        """Forgets past failures, for example after a successful probe."""
        self._failures = 0

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Wraps one request and counts its failure.

        Raises CircuitOpenError without entering if the breaker is open.
        """
        if not self.lets_pass:
            raise self._open_error()
        tries = self.state == "open"
        self._is_tried = self._is_tried or tries
        try:
            yield
        except ReasonerUnavailableError as error:
            if not isinstance(error, self._harmless):
                self._fail(error.reason)
            raise
        except ReasonerError:
            self._failures = 0
            raise
        else:
            self._failures = 0
        finally:
            if tries:
                self._is_tried = False

    def _open_error(self) -> CircuitOpenError:
        error = CircuitOpenError("the endpoint failed too often and rests")
        error.reason = self._reason
        return error

    def _fail(self, reason: str) -> None:
        self._reason = reason
        self._failures += 1
        if self._failures >= self._threshold:
            self._rests_until = self._clock() + self._rest_s


FIRST_WAIT_S, LONGEST_WAIT_S, JITTER_S = 0.5, 2.0, 0.5


class EndpointRateLimitError(ReasonerUnavailableError):
    """The endpoint asks to come again later (429, or a Retry-After), after `retry_after_s` seconds if it says so."""

    def __init__(self, text: str, retry_after_s: float | None) -> None:
        super().__init__(text)
        self.retry_after_s = retry_after_s


class DeadlineExceededError(ReasonerUnavailableError):
    """The deadline is over, so no time is left for another try."""


def attempts(most: int, left_s: Callable[[], float]) -> AsyncIterator[stamina.Attempt]:
    """Yields up to `most` attempts, with growing random waits, or with the wait that the endpoint asks for.

    `left_s` returns the seconds that are left; an attempt that would come later is not made.
    """
    failed = itertools.count()
    return stamina.retry_context(
        on=lambda error: wait_before_retry(error, next(failed), left_s()), attempts=most, timeout=None
    )


def wait_before_retry(error: Exception, failed: int, left_s: float) -> float | Literal[False]:
    """Returns the seconds to wait after `failed` earlier failures; False if there should be no further try."""
    if not isinstance(error, ReasonerUnavailableError) or isinstance(error, CircuitOpenError | DeadlineExceededError):
        return False
    asked_s = error.retry_after_s if isinstance(error, EndpointRateLimitError) else None
    if asked_s is None:
        asked_s = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2**failed)
    # Jitter, so that requests which failed together do not all return together.
    wait_s = asked_s + random.uniform(0, JITTER_S)  # noqa: S311  # jitter, no secret  # nosec B311
    return wait_s if wait_s < left_s else False
