"""Creates the first tables: graphs, ledger, accounts, conversations and jobs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


_TABLES = (
    "vault_entries",
    "jobs",
    "conversations",
    "tenant_reveals",
    "tenant_tokens",
    "devices",
    "api_keys",
    "ledger_signers",
    "ledger_checkpoints",
    "ledger_heads",
    "ledger_replies",
    "ledger_entries",
    "erasures",
    "forgotten_things",
    "graphs",
    "graph_versions",
)


def upgrade() -> None:
    make_graph_tables()
    make_ledger_tables()
    make_account_tables()
    make_work_tables()


def make_graph_tables() -> None:
    """Creates the tables of graphs, their versions and vault, and of finished and unfinished erasures."""
    op.create_table(
        "graph_versions",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("graph_id", sa.String(length=32), nullable=False),
        sa.Column("folder_id", sa.String(length=32), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("loaded_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("sealed_info", sa.LargeBinary(), nullable=True),
        sa.Column("sealed_policy", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_graph_versions")),
    )
    op.create_index(op.f("ix_graph_versions_graph_id"), "graph_versions", ["graph_id"], unique=False)
    op.create_table(
        "graphs",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("tenant", sa.String(length=128), nullable=False),
        sa.Column("name", sa.String(length=128), nullable=False),
        sa.Column("current_version", sa.String(length=32), nullable=True),
        sa.Column("sealed_mid_key", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_graphs")),
        sa.UniqueConstraint("tenant", "name", name=op.f("uq_graphs_tenant")),
    )
    op.create_table(
        "vault_entries",
        sa.Column("version_id", sa.String(length=32), nullable=False),
        sa.Column("mid", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["version_id"], ["graph_versions.id"], name=op.f("fk_vault_entries_version_id")),
        sa.PrimaryKeyConstraint("version_id", "mid", name=op.f("pk_vault_entries")),
    )
    op.create_table(
        "forgotten_things",
        sa.Column("graph_id", sa.String(length=32), nullable=False),
        sa.Column("mid", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("erasure", sa.String(length=32), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("graph_id", "mid", name="pk_forgotten_things"),
    )
    op.create_table(
        "erasures",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("graph_id", sa.String(length=32), nullable=False),
        sa.Column("begun_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_erasures"),
    )
    op.create_index("ix_erasures_graph_id", "erasures", ["graph_id"], unique=False)


def make_ledger_tables() -> None:
    """Creates the ledger's tables: requests and replies, the end of each tenant's chain, checkpoints, signing keys."""
    op.create_table(
        "ledger_entries",
        sa.Column("position", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("tenant", sa.String(length=63), nullable=False),
        sa.Column("caller", sa.String(length=32), nullable=False),
        sa.Column("answer", sa.String(length=64), nullable=False),
        sa.Column("conversation", sa.String(length=64), nullable=False),
        sa.Column("step", sa.String(length=32), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("verdict", sa.String(length=16), nullable=False),
        sa.Column("hits", sa.Integer(), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=True),
        sa.Column("number", sa.Integer(), nullable=True),
        sa.Column("link", sa.String(length=64), nullable=True),
        sa.PrimaryKeyConstraint("position"),
        sa.UniqueConstraint("id"),
    )
    op.create_index("ix_ledger_entries_answer", "ledger_entries", ["tenant", "answer"], unique=False)
    op.create_index("ix_ledger_entries_at", "ledger_entries", ["at"], unique=False)
    op.create_index("ix_ledger_entries_owner", "ledger_entries", ["tenant", "caller", "position"], unique=False)
    op.create_index("uq_ledger_entries_number", "ledger_entries", ["tenant", "number"], unique=True)
    op.create_table(
        "ledger_replies",
        sa.Column("entry", sa.String(length=32), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("outcome", sa.String(length=16), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=True),
        sa.Column("tenant", sa.String(length=63), nullable=True),
        sa.Column("digest", sa.String(length=64), nullable=True),
        sa.Column("number", sa.Integer(), nullable=True),
        sa.Column("link", sa.String(length=64), nullable=True),
        sa.PrimaryKeyConstraint("entry"),
    )
    op.create_index("ix_ledger_replies_at", "ledger_replies", ["at"], unique=False)
    op.create_index("uq_ledger_replies_number", "ledger_replies", ["tenant", "number"], unique=True)
    op.create_table(
        "ledger_heads",
        sa.Column("tenant", sa.String(length=63), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("link", sa.String(length=64), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("tenant"),
    )
    op.create_table(
        "ledger_checkpoints",
        sa.Column("position", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("tenant", sa.String(length=63), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("signature", sa.String(length=128), nullable=False),
        sa.PrimaryKeyConstraint("position"),
    )
    op.create_index("ix_ledger_checkpoints_tenant", "ledger_checkpoints", ["tenant", "position"], unique=False)
    op.create_table(
        "ledger_signers",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )


def make_account_tables() -> None:
    """Creates the tables of API keys, devices, and each tenant's daily tokens and facts."""
    op.create_table(
        "api_keys",
        sa.Column("key_id", sa.String(length=32), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("tenant", sa.String(length=63), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("grants", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("label", sa.String(length=80), server_default="", nullable=False),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("key_id"),
        sa.UniqueConstraint("digest"),
    )
    op.create_index("ix_api_keys_tenant", "api_keys", ["tenant"], unique=False)
    op.create_table(
        "devices",
        sa.Column("tenant", sa.String(length=63), nullable=False),
        sa.Column("key_id", sa.String(length=32), nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("suite", sa.String(length=64), nullable=False),
        sa.Column("registered_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("tenant", "key_id", "fingerprint"),
    )
    op.create_table(
        "tenant_tokens",
        sa.Column("tenant", sa.String(length=63), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("tokens", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "day"),
    )
    op.create_table(
        "tenant_reveals",
        sa.Column("tenant", sa.String(length=63), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("reveals", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "day"),
    )


def make_work_tables() -> None:
    """Creates the tables of conversations and jobs."""
    op.create_table(
        "conversations",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("tenant", sa.String(length=63), nullable=False),
        sa.Column("key_id", sa.String(length=32), nullable=False),
        sa.Column("graph", sa.String(length=63), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_conversations_expires_at", "conversations", ["expires_at"], unique=False)
    op.create_index("ix_conversations_graph", "conversations", ["tenant", "graph"], unique=False)
    op.create_table(
        "jobs",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("tenant", sa.String(length=63), nullable=False),
        sa.Column("graph", sa.String(length=63), nullable=False),
        sa.Column("home", sa.String(length=64), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("step", sa.String(length=64), nullable=False),
        sa.Column("percent", sa.Float(), nullable=False),
        sa.Column("result", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_jobs_tenant", "jobs", ["tenant"], unique=False)


def downgrade() -> None:
    for table in _TABLES:
        op.drop_table(table)
