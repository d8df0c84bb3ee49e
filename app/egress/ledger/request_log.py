"""The interface of the log for requests to a reasoner, and a log that keeps nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from app.egress.ledger.ledger import LedgerEntry, LedgerReply


class RequestLog(Protocol):
    """Records each request before it is sent, and the replies."""

    def record(self, entry: LedgerEntry) -> str:
        """Adds an entry and returns its id. Raises LedgerUnavailableError; then nothing may be sent."""
        ...

    def record_replies(self, replies: Sequence[LedgerReply]) -> None:
        """Adds replies. Raises LedgerUnavailableError."""
        ...


class InHouseLog:
    """A log that keeps nothing, for questions that the service asks itself.

    Condition: the reasoner is inside the service, so nothing leaves.
    """

    def record(self, entry: LedgerEntry) -> str:
        return entry.id

    def record_replies(self, replies: Sequence[LedgerReply]) -> None:
        """Keeps nothing."""
