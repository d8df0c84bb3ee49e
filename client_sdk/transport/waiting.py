"""Tells that a question waits, because the service said when to come back."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from client_sdk.transport.flow import Pause

_log = logging.getLogger("client_sdk")


@dataclass(frozen=True, slots=True)
class Wait:
    """A pause before a question is sent again. `code` and `reason` are the service's (`rate_limited`, `not_ready`)."""

    seconds: float
    code: str
    reason: str

    def __str__(self) -> str:
        """One sentence; it holds nothing of the question."""
        reason = self.reason if self.reason.endswith((".", "!", "?")) else f"{self.reason}."
        return f"{reason} Asking again in {self.seconds:.0f} s."


OnWait = Callable[[Wait], None]


def log_wait(wait: Wait) -> None:
    """The default: a warning of the logger `client_sdk`."""
    _log.warning("%s", wait)


def tell_wait(pause: Pause, on_wait: OnWait) -> None:
    """Tells `on_wait` of a pause that the service asked for; short ones after a broken connection are not told."""
    if pause.because is not None:
        on_wait(Wait(pause.seconds, pause.because.code, str(pause.because)))
