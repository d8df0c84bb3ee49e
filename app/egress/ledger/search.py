"""Finds the requests in a tenant's ledger that concern something, by their conversation or by their stored text."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any

from sqlalchemy import Engine, Row, Select, select

from app.egress.ledger.chain import PURPOSE, reply_context, request_context
from app.egress.ledger.tables import ledger_entries, ledger_replies
from kg_store.storage.master_key import MasterKey

_BATCH_SIZE = 500


def requests_about(
    engine: Engine, master: MasterKey, tenant: str, conversations: Collection[str], holds: Callable[[bytes], bool]
) -> list[str]:
    """Returns the ids of requests that belong to these conversations, or whose payload or reply `holds` accepts.

    Raises MasterKeyError if a payload cannot be opened.
    """
    found: dict[str, None] = {}
    for row in _rows(engine, _REQUESTS, tenant):
        if row.conversation in conversations or holds(master.open(PURPOSE, request_context(row), row.sealed)):
            found[row.id] = None
    for row in _rows(engine, _REPLIES, tenant):
        if row.conversation in conversations or holds(master.open(PURPOSE, reply_context(row), row.sealed)):
            found[row.id] = None
    return list(found)


_IDS = [ledger_entries.c[name] for name in ("position", "id", "tenant", "caller", "answer", "conversation", "step")]
_REQUESTS = select(*_IDS, ledger_entries.c.digest, ledger_entries.c.sealed).where(ledger_entries.c.sealed.is_not(None))
_REPLIES = (
    select(*_IDS, ledger_entries.c.digest, ledger_replies.c.sealed)
    .join(ledger_replies, ledger_replies.c.entry == ledger_entries.c.id)
    .where(ledger_replies.c.sealed.is_not(None))
)


def _rows(engine: Engine, query: Select[Any], tenant: str) -> Iterator[Row[Any]]:
    """Rows in pages, so that a long ledger is not loaded into memory."""
    last = -1
    while True:
        page = query.where(ledger_entries.c.tenant == tenant, ledger_entries.c.position > last)
        with engine.connect() as connection:
            rows = connection.execute(page.order_by(ledger_entries.c.position).limit(_BATCH_SIZE)).all()
        if not rows:
            return
        yield from rows
        last = rows[-1].position
