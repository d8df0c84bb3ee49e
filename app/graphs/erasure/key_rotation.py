"""Rotation of the master key: seals again what older keys have sealed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from sqlalchemy import Engine, select

from app.chat.conversations import PURPOSE as CONVERSATION
from app.database.tables import cases, conversations
from app.egress.ledger.chain import (
    HEAD_PURPOSE,
    ledger_entries,
    ledger_heads,
    ledger_replies,
    ledger_signers,
    reply_context,
    request_context,
)
from app.egress.ledger.chain import PURPOSE as LEDGER
from app.egress.ledger.checkpoints import SIGNER_PURPOSE, signer_context
from app.memory.case_store import PURPOSE as CASE
from kg_store.storage.data_folder import DataFolder
from kg_store.storage.master_key import MasterKey, bind
from kg_store.storage.reencryption import (
    SealedColumn,
    reseal,
    reseal_files,
    store_columns,
    versions_of,
    versions_of_files,
)

_OF_REQUEST: Final = ("id", "tenant", "caller", "answer", "conversation", "step")


def sealed_columns() -> list[SealedColumn]:
    """Every column of the database that holds sealed bytes."""
    said = select(
        ledger_replies.c.entry, ledger_replies.c.sealed, *(ledger_entries.c[name] for name in _OF_REQUEST)
    ).join(ledger_entries, ledger_entries.c.id == ledger_replies.c.entry)
    return [
        *store_columns(),
        SealedColumn(
            conversations,
            conversations.c.sealed,
            select(conversations),
            CONVERSATION,
            lambda row: bind(row.tenant, row.key_id, row.graph, row.id),
        ),
        SealedColumn(
            cases, cases.c.sealed, select(cases), CASE, lambda row: bind(row.tenant, row.key_id, row.graph, row.id)
        ),
        SealedColumn(ledger_entries, ledger_entries.c.sealed, select(ledger_entries), LEDGER, request_context),
        SealedColumn(ledger_replies, ledger_replies.c.sealed, said, LEDGER, reply_context),
        SealedColumn(
            ledger_heads,
            ledger_heads.c.sealed,
            select(ledger_heads),
            HEAD_PURPOSE,
            lambda row: bind(row.tenant, str(row.number), row.link),
            held=("number", "link"),
        ),
        SealedColumn(
            ledger_signers,
            ledger_signers.c.sealed,
            select(ledger_signers),
            SIGNER_PURPOSE,
            lambda _row: signer_context(),
        ),
    ]


def reseal_all(engine: Engine, master: MasterKey, folder: DataFolder) -> Iterator[tuple[str, int]]:
    """Seals again everything that an older key has sealed; yields the kind and the number so far.

    It may be killed and started again at any time. Raises MasterKeyError if something cannot be opened.
    """
    for where in sealed_columns():
        for done in reseal(engine, master, where):
            yield where.table.name, done
    yield "files", reseal_files(engine, master, folder)


def sealed_by(engine: Engine, folder: DataFolder) -> Counter[int]:
    """Returns how many rows and files of this data folder each version of the master key has sealed."""
    return sum((versions_of(engine, where) for where in sealed_columns()), versions_of_files(folder))
