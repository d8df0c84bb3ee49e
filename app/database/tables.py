"""The service's own tables: keys, devices, conversations, cases, stated facts, characters, jobs, counts and the like.

They hold ids, hashes, times and sealed bytes.
"""

from __future__ import annotations

import datetime as dt

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Date,
    DateTime,
    Dialect,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    TypeDecorator,
    UniqueConstraint,
    false,
)


class UtcTime(TypeDecorator[dt.datetime]):
    """A column type that stores aware times as UTC and returns aware times, because SQLite drops the time zone."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: dt.datetime | None, _dialect: Dialect) -> dt.datetime | None:
        return None if value is None else value.astimezone(dt.UTC)

    def process_result_value(self, value: dt.datetime | None, _dialect: Dialect) -> dt.datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=dt.UTC) if value.tzinfo is None else value.astimezone(dt.UTC)


metadata = MetaData()

api_keys = Table(
    "api_keys",
    metadata,
    Column("key_id", String(32), primary_key=True),
    Column("digest", String(64), nullable=False, unique=True),
    Column("tenant", String(63), nullable=False),
    Column("role", String(16), nullable=False),
    Column("grants", JSON, nullable=False),
    Column("created_at", UtcTime, nullable=False),
    Column("expires_at", UtcTime),
    Column("revoked_at", UtcTime),
    Column("label", String(80), nullable=False, server_default=""),
    Column("last_used_at", UtcTime),
    Index("ix_api_keys_tenant", "tenant"),
)

# The secret, one for the whole service, behind the digests by which persons who sign in are found.
person_secret = Table(
    "person_secret",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("sealed", LargeBinary, nullable=False),
)

devices = Table(
    "devices",
    metadata,
    Column("tenant", String(63), primary_key=True),
    Column("key_id", String(32), primary_key=True),
    Column("fingerprint", String(64), primary_key=True),
    Column("suite", String(64), nullable=False),
    Column("registered_at", UtcTime, nullable=False),
    Column("revoked_at", UtcTime),
)

conversations = Table(
    "conversations",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("tenant", String(63), nullable=False),
    Column("key_id", String(32), nullable=False),
    Column("graph", String(63), nullable=False),
    Column("version", Integer, nullable=False),
    Column("sealed", LargeBinary, nullable=False),
    Column("expires_at", UtcTime, nullable=False),
    Index("ix_conversations_expires_at", "expires_at"),
    Index("ix_conversations_graph", "tenant", "graph"),
)

jobs = Table(
    "jobs",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("tenant", String(63), nullable=False),
    Column("graph", String(63), nullable=False),
    Column("home", String(64), nullable=False),
    Column("state", String(16), nullable=False),
    Column("step", String(64), nullable=False),
    Column("percent", Float, nullable=False),
    Column("result", JSON, nullable=False),
    Column("created_at", UtcTime, nullable=False),
    Column("finished_at", UtcTime),
    # What the owner told the process that runs the job: "", "approve" or "stop".
    Column("wish", String(8), nullable=False, server_default=""),
    Index("ix_jobs_tenant", "tenant"),
)

tenant_tokens = Table(
    "tenant_tokens",
    metadata,
    Column("tenant", String(63), primary_key=True),
    Column("day", Date, primary_key=True),
    Column("tokens", BigInteger, nullable=False),
)

tenant_reveals = Table(
    "tenant_reveals",
    metadata,
    Column("tenant", String(63), primary_key=True),
    Column("day", Date, primary_key=True),
    Column("reveals", BigInteger, nullable=False),
)

names_read = Table(
    "names_read",
    metadata,
    Column("tenant", String(63), primary_key=True),
    Column("graph", String(63), primary_key=True),
    Column("key_id", String(32), primary_key=True),
    Column("day", Date, primary_key=True),
    Column("person", String(64), primary_key=True),
    Column("digest", String(32), primary_key=True),
    Column("at", UtcTime),
    Column("is_fact", Boolean, nullable=False, server_default=false()),
    Index("ix_names_read_digest", "tenant", "graph", "digest"),
)

cases = Table(
    "cases",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("tenant", String(63), nullable=False),
    Column("graph", String(63), nullable=False),
    Column("key_id", String(32), nullable=False),
    Column("answer", String(32), nullable=False),
    Column("made_at", UtcTime, nullable=False),
    Column("approved_at", UtcTime),
    Column("used", Integer, nullable=False),
    Column("sealed", LargeBinary, nullable=False),
    UniqueConstraint("tenant", "graph", "key_id", "answer", name="uq_cases_answer"),
    Index("ix_cases_graph", "tenant", "graph"),
)

stated_facts = Table(
    "stated_facts",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("tenant", String(63), nullable=False),
    Column("graph", String(63), nullable=False),
    Column("key_id", String(32), nullable=False),
    # A keyed digest of the subject and owner; empty for a fact that no relation of the graph says.
    Column("subject", String(32), nullable=False),
    Column("made_at", UtcTime, nullable=False),
    Column("sealed", LargeBinary, nullable=False),
    Index("ix_stated_facts_owner", "tenant", "graph", "key_id", "subject"),
    Index("ix_stated_facts_newest", "tenant", "graph", "key_id", "made_at"),
)

characters = Table(
    "characters",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("tenant", String(63), nullable=False),
    Column("made_at", UtcTime, nullable=False),
    Column("sealed", LargeBinary, nullable=False),
    Index("ix_characters_tenant", "tenant"),
)

case_effects = Table(
    "case_effects",
    metadata,
    Column("tenant", String(63), primary_key=True),
    Column("graph", String(63), primary_key=True),
    Column("leaned", Integer, nullable=False),
    Column("right", Integer, nullable=False),
    Column("wrong", Integer, nullable=False),
)
