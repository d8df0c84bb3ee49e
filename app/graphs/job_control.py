"""The gate of a job: it waits here for its owner's approval, and can be stopped here."""

from __future__ import annotations

import threading
from typing import Final

from client_sdk.protocol import PrivacySummary

WAITS_AT_MOST_S: Final = 600.0


class JobStoppedError(Exception):
    """The owner stopped the job, or did not approve its version in time."""


class NotWaitingError(Exception):
    """The job is not waiting for approval here."""


class JobControl:
    """The gate of one job. Thread-safe.

    `holds`: the job waits before its version goes live, and the owner is shown a privacy summary meanwhile.
    """

    def __init__(self, holds: bool = False, waits_at_most_s: float = WAITS_AT_MOST_S) -> None:
        self._holds, self._waits_at_most_s = holds, waits_at_most_s
        self._said, self._lock = threading.Event(), threading.Lock()
        self._told: PrivacySummary | None = None
        self._stopped = False

    @property
    def awaited_summary(self) -> PrivacySummary | None:
        """The privacy summary that the owner was shown, while the job waits for approval."""
        with self._lock:
            return None if self._said.is_set() else self._told

    def wait(self, told: PrivacySummary) -> None:
        """Returns once the version may go live. Raises JobStoppedError."""
        if not self._holds:
            return
        with self._lock:
            self._told = told
        if not self._said.wait(self._waits_at_most_s):
            self.stop()
        self.raise_if_cancelled()

    def approve(self) -> None:
        """Lets the version go live. Raises NotWaitingError."""
        with self._lock:
            if self._told is None or self._said.is_set():
                raise NotWaitingError
            self._said.set()

    def stop(self) -> None:
        """Ends the job at its next step; one that has ended stays as it is."""
        with self._lock:
            self._stopped = True
            self._said.set()

    def raise_if_cancelled(self) -> None:
        """Raises JobStoppedError if the job was stopped."""
        if self._stopped:
            raise JobStoppedError
