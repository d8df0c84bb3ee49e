"""The part of the ledger that a key may read."""

from __future__ import annotations

from sqlalchemy import Engine, select

from app.accounts.api_keys import Caller
from app.database.tables import api_keys, conversations
from app.egress.ledger.ledger import Ledger, LedgerEntry
from client_sdk.protocol import LedgerPage, LedgerRow


def read_ledger_page(ledger: Ledger, engine: Engine, caller: Caller, answer_id: str | None, limit: int) -> LedgerPage:
    """Returns the caller's own entries, newest first; for an admin those of the whole tenant.

    Promise: a caller who sees only part of a graph gets no payload, because the words replaced in a question reveal
    which names the graph has, including hidden ones.
    """
    key_id = None if caller.is_admin else caller.key_id
    entries = ledger.entries(caller.tenant, key_id, answer_id, limit)
    graphs, labels = _graphs_of(engine, entries), _labels_of(engine, entries)
    return LedgerPage(
        entries=[
            _row(entry, not caller.is_restricted, graphs.get(entry.conversation), labels.get(entry.caller, ""))
            for entry in entries
        ]
    )


def _graphs_of(engine: Engine, entries: list[LedgerEntry]) -> dict[str, str]:
    ids = {entry.conversation for entry in entries}
    query = select(conversations.c.id, conversations.c.graph).where(conversations.c.id.in_(ids))
    with engine.connect() as connection:
        return {row.id: row.graph for row in connection.execute(query)}


def _labels_of(engine: Engine, entries: list[LedgerEntry]) -> dict[str, str]:
    ids = {entry.caller for entry in entries}
    query = select(api_keys.c.key_id, api_keys.c.label).where(api_keys.c.key_id.in_(ids))
    with engine.connect() as connection:
        return {row.key_id: row.label for row in connection.execute(query)}


def _row(entry: LedgerEntry, with_payload: bool, graph: str | None, asker: str) -> LedgerRow:
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
        key_id=entry.caller,
        asker=asker,
        graph=graph,
    )
