"""Deletes what has been kept long enough: conversations, payloads of the ledger, and who read which names."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from app.accounts.names_read import NamesRead
from app.chat.conversations import ConversationStore
from app.egress.ledger.retention import LedgerUpkeep
from kg_store.storage.master_key import MasterKey


@dataclass(frozen=True, slots=True)
class RetentionDays:
    """Days that payloads of the ledger, and rows of who read which names, are kept."""

    ledger: float
    names_read: float


def purge_expired(
    master: MasterKey,
    conversations: ConversationStore,
    upkeep: LedgerUpkeep,
    names_read: NamesRead,
    days: RetentionDays,
) -> int:
    """Deletes what has expired and returns how much; signs the ledgers that have grown."""
    master.refresh()
    now = dt.datetime.now(dt.UTC)
    purged = conversations.purge() + upkeep.forget_payloads(now - dt.timedelta(days=days.ledger))
    purged += names_read.purge((now - dt.timedelta(days=days.names_read)).date())
    upkeep.checkpoint_all()
    return purged
