"""The part of the ledger that a key may read."""

from __future__ import annotations

from app.accounts.api_keys import Caller
from app.egress.ledger.ledger import Ledger, LedgerEntry
from client_sdk.protocol import LedgerPage, LedgerRow


def read_ledger_page(ledger: Ledger, caller: Caller, answer_id: str | None, limit: int) -> LedgerPage:
    """The caller's own entries, newest first; an admin's are the whole tenant's.

    Promise: a caller who sees a part of a graph gets no payload. What was replaced in a question tells which names
    the graph has, those too that are withheld.
    """
    key_id = None if caller.is_admin else caller.key_id
    entries = ledger.entries(caller.tenant, key_id, answer_id, limit)
    return LedgerPage(entries=[_row(entry, with_payload=not caller.is_restricted) for entry in entries])


def _row(entry: LedgerEntry, with_payload: bool) -> LedgerRow:
    shown = with_payload and entry.payload is not None
    return LedgerRow(
        id=entry.id,
        at=entry.at,
        answer=entry.answer,
        conversation=entry.conversation,
        step=entry.step,
        size=entry.size,
        digest=entry.digest,
        verdict=entry.verdict,
        payload=(entry.payload or b"").decode("utf-8", "replace") if shown else None,
    )
