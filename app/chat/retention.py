"""Deletes what has been kept long enough: conversations, and the payloads of the ledger."""

from __future__ import annotations

import datetime as dt

from app.chat.conversations import ConversationStore
from app.egress.ledger.retention import LedgerUpkeep
from kg_store.storage.master_key import MasterKey


def purge_expired(
    master: MasterKey, conversations: ConversationStore, upkeep: LedgerUpkeep, ledger_days: float
) -> int:
    """Deletes what has expired and returns how much; signs the ledgers that have grown."""
    master.refresh()
    border = dt.datetime.now(dt.UTC) - dt.timedelta(days=ledger_days)
    purged = conversations.purge() + upkeep.forget_payloads(border)
    upkeep.checkpoint_all()
    return purged
