"""The ledger's tables: requests, replies, the head of each tenant's chain, and signed checkpoints."""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    Column,
    DateTime,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
)

metadata: Final = MetaData()

# A row without `number` or `link` was added from outside: the check tells of it.
ledger_entries: Final = Table(
    "ledger_entries",
    metadata,
    Column("position", Integer, primary_key=True, autoincrement=True),
    Column("id", String(32), nullable=False, unique=True),
    Column("at", DateTime(timezone=True), nullable=False),
    Column("tenant", String(63), nullable=False),
    Column("caller", String(32), nullable=False),
    Column("answer", String(64), nullable=False),
    Column("conversation", String(64), nullable=False),
    Column("step", String(32), nullable=False),
    Column("size", Integer, nullable=False),
    Column("digest", String(64), nullable=False),
    Column("verdict", String(16), nullable=False),
    Column("hits", Integer, nullable=False),
    Column("sealed", LargeBinary),
    Column("number", Integer),
    Column("link", String(64)),
    Index("ix_ledger_entries_owner", "tenant", "caller", "position"),
    Index("ix_ledger_entries_answer", "tenant", "answer"),
    Index("ix_ledger_entries_at", "at"),
    Index("uq_ledger_entries_number", "tenant", "number", unique=True),
)

ledger_replies: Final = Table(
    "ledger_replies",
    metadata,
    Column("entry", String(32), primary_key=True),
    Column("at", DateTime(timezone=True), nullable=False),
    Column("outcome", String(16), nullable=False),
    Column("size", Integer, nullable=False),
    Column("sealed", LargeBinary),
    Column("tenant", String(63)),
    Column("digest", String(64)),
    Column("number", Integer),
    Column("link", String(64)),
    Index("ix_ledger_replies_at", "at"),
    Index("uq_ledger_replies_number", "tenant", "number", unique=True),
)

# The end of each tenant's chain; `sealed` is a seal over nothing, bound to tenant, number and link.
ledger_heads: Final = Table(
    "ledger_heads",
    metadata,
    Column("tenant", String(63), primary_key=True),
    Column("number", Integer, nullable=False),
    Column("link", String(64), nullable=False),
    Column("sealed", LargeBinary, nullable=False),
)

ledger_checkpoints: Final = Table(
    "ledger_checkpoints",
    metadata,
    Column("position", Integer, primary_key=True, autoincrement=True),
    Column("tenant", String(63), nullable=False),
    Column("number", Integer, nullable=False),
    Column("body", Text, nullable=False),
    Column("signature", String(128), nullable=False),
    Index("ix_ledger_checkpoints_tenant", "tenant", "position"),
)

# One row: the key that signs checkpoints, sealed, so that it outlives rotations of the master key.
ledger_signers: Final = Table(
    "ledger_signers",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("sealed", LargeBinary, nullable=False),
)
