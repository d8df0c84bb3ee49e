"""Breaker: an endpoint that fails again and again is let rest, so that questions don't wait for it in vain.

Written here because the libraries at hand let everything through at once when the rest is over, and count a caller
who goes away as a failure.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

from app.llm.reasoner import ReasonerError, ReasonerUnavailableError

State = Literal["closed", "open", "trying"]


class CircuitOpenError(ReasonerUnavailableError):
    """Nothing was sent: the endpoint failed too often, and rests."""


class CircuitBreaker:
    """Opens after `threshold` failures in a row, for `rest_s` seconds; then one request tries, and the rest wait.

    ReasonerUnavailableError is a failure, unless it is one of `harmless`. An answer of any other kind shows that the
    endpoint lives.
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
        """True where a request that came now would be sent."""
        return self.state == "closed" or (self.state == "open" and self._clock() >= self._rests_until)

    def reset(self) -> None:
        """Forgets what failed, as when somebody has seen the endpoint answer."""
        self._failures = 0

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Around one request. Raises CircuitOpenError without entering."""
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
