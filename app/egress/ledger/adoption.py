"""Rows of before there were chains become the beginning of their tenant's chain."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, Row, Table, bindparam, select, update

from app.egress.ledger.chain import REPLY, REQUEST, Adopt, ChainHead, linked
from app.egress.ledger.sealing import PURPOSE, reply_context
from app.egress.ledger.tables import ledger_entries, ledger_replies
from kg_store.storage.master_key import MasterKey


def adopting(master: MasterKey) -> Adopt:
    """Chains a tenant's requests, then its replies, in the order in which they were added."""

    def adopt(connection: Connection, tenant: str, head: ChainHead) -> ChainHead:
        ours = (ledger_entries.c.tenant == tenant) & ledger_entries.c.number.is_(None)
        query = select(ledger_entries).where(ours).order_by(ledger_entries.c.position)
        requests = [dict(row._mapping) for row in connection.execute(query)]
        head = linked(tenant, head, REQUEST, requests)
        _keep(connection, ledger_entries, "id", requests, ("number", "link"))
        replies = _replies(connection, tenant, master)
        head = linked(tenant, head, REPLY, replies)
        _keep(connection, ledger_replies, "entry", replies, ("number", "link", "tenant", "digest"))
        return head

    return adopt


def _replies(connection: Connection, tenant: str, master: MasterKey) -> list[dict[str, Any]]:
    """With the digest of what each says; without one where it is forgotten."""
    of_tenant = (ledger_entries.c.tenant == tenant) & ledger_replies.c.number.is_(None)
    # Each reply's own columns, then those that its seal is bound to.
    bound = (ledger_entries.c[name] for name in ("id", "caller", "answer", "conversation", "step"))
    query = (
        select(
            ledger_replies.c.entry, ledger_replies.c.at, ledger_replies.c.outcome, ledger_replies.c.size,
            ledger_replies.c.sealed, ledger_entries.c.tenant, ledger_entries.c.digest, *bound,
        )
        .join(ledger_entries, ledger_entries.c.id == ledger_replies.c.entry)
        .where(of_tenant)
        .order_by(ledger_entries.c.position)
    )  # fmt: skip
    return [dict(row._mapping) | {"digest": _digest(row, master)} for row in connection.execute(query)]


def _digest(row: Row[Any], master: MasterKey) -> str:
    if row.sealed is None:
        return ""
    return sha256(master.open(PURPOSE, reply_context(row), row.sealed)).hexdigest()


def _keep(
    connection: Connection, table: Table, key: str, rows: list[dict[str, Any]], columns: tuple[str, ...]
) -> None:
    if rows:
        changed = (
            update(table).where(table.c[key] == bindparam("same")).values({c: bindparam(f"new_{c}") for c in columns})
        )
        values = [{"same": row[key]} | {f"new_{column}": row[column] for column in columns} for row in rows]
        connection.execute(changed, values)
