"""The log that requests to a reasoner go to: the ledger's side of it, and one that keeps nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from app.egress.ledger.ledger import LedgerEntry, LedgerReply


class RequestLog(Protocol):
    """Takes each request before it is sent, and what was replied."""

    def record(self, entry: LedgerEntry) -> str:
        """Adds an entry; its id. Raises LedgerUnavailableError, and then nothing may be sent."""
        ...

    def record_replies(self, replies: Sequence[LedgerReply]) -> None:
        """Raises LedgerUnavailableError."""
        ...


class InHouseLog:
    """For what the service asks itself, on nobody's behalf: it keeps nothing.

    Condition: the reasoner is inside the service, so that nothing leaves.
    """

    def record(self, entry: LedgerEntry) -> str:
        return entry.id

    def record_replies(self, replies: Sequence[LedgerReply]) -> None:
        """Nothing."""
